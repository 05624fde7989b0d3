/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is small and lies on a page of the heap that is not here: every call by
 * which a program asks the system for times, limits, processors, masks,
 * messages and attributes, or starts another program.
 */
#include "config.h"

#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

/* Each call has pages of its own that are at home elsewhere, with what their
 * homes have written there, and so far apart that a fault on one does not
 * bring another. */
enum { PAGES = 64, APART = 16 };
static const char line[] = "exit 0";
static const char path[] = "/tmp/."; /* no other way leads to this name */
static char      *slots;
static int        slots_used;

static void
slots_new(void)
{
    slots = hearth_alloc((size_t)ranks * PAGES * APART * page_bytes(), 1,
                         hearth_cyclic((size_t)PAGES * APART));
    slots_used = 0;
    for (int i = 0; i < PAGES; i++) {
        char *p = slots + ((size_t)(me * PAGES + i) * APART) * page_bytes();

        memcpy(p, line, sizeof line);
        memcpy(p + 64, path, sizeof path);
    }
    barrier();
}

/* Zeros. */
static void *
absent(void)
{
    int of = (me + 1) % ranks;

    return slots +
           ((size_t)(of * PAGES + slots_used++ % PAGES) * APART) *
               page_bytes() +
           256;
}

static char *
absent_line(void)
{
    return (char *)absent() - 256;
}

static char *
absent_path(void)
{
    return (char *)absent() - 192;
}

/* What each call is for is not of interest here: that it is done, is. */
#define DONE(call) expect_eq(call, 0)

static void
clocks_are_told(void)
{
    struct timespec here, *there = absent();
    timer_t         timer;
    int             fd = timerfd_create(CLOCK_MONOTONIC, 0);

    DONE(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, there));
    DONE(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &here));
    expect(there->tv_nsec > 0 && there->tv_sec <= here.tv_sec);
    DONE(clock_getres(CLOCK_THREAD_CPUTIME_ID, absent()));
    DONE(clock_nanosleep(CLOCK_MONOTONIC, 0, absent(), absent()));
    DONE(nanosleep(absent(), absent()));
    DONE(gettimeofday(absent(), NULL));
    expect(time(absent()) > 0);
    expect(times(absent()) != (clock_t)-1);
    DONE(getitimer(ITIMER_REAL, absent()));
    DONE(setitimer(ITIMER_VIRTUAL, absent(), absent()));
    DONE(timer_create(CLOCK_MONOTONIC,
                      &(struct sigevent){ .sigev_notify = SIGEV_NONE },
                      &timer));
    DONE(timer_gettime(timer, absent()));
    DONE(timer_settime(timer, 0, absent(), absent()));
    DONE(timer_delete(timer));
    DONE(timerfd_settime(fd, 0, absent(), absent()));
    DONE(timerfd_gettime(fd, absent()));
    close(fd);
}

static void
processors_are_told(void)
{
    cpu_set_t      here, *there = absent();
    struct rlimit *limit = absent();

    DONE(sched_getaffinity(0, sizeof *there, there));
    DONE(sched_getaffinity(0, sizeof here, &here));
    expect(CPU_EQUAL(&here, there));
    DONE(pthread_getaffinity_np(pthread_self(), sizeof here, absent()));
    DONE(sched_getparam(0, absent()));
    DONE(sched_rr_get_interval(0, absent()));
    DONE(getrlimit(RLIMIT_NOFILE, limit));
    DONE(setrlimit(RLIMIT_NOFILE, limit));
    DONE(pthread_setschedparam(pthread_self(), SCHED_OTHER, absent()));
    DONE(prlimit(0, RLIMIT_NOFILE, NULL, absent()));
    DONE(sysinfo(absent()));
    DONE(getrusage(RUSAGE_SELF, absent()));
    DONE(getresuid(absent(), absent(), absent()));
    expect(getgroups(60, absent()) >= 0);
    DONE(pthread_getname_np(pthread_self(), absent(), 16));
    DONE(mincore(slots, page_bytes(), absent()));
}

/* Masks that are empty, and one that is filled. */
static void
signals_are_told(void)
{
    sigset_t        *set = absent();
    struct timespec *none = absent();

    DONE(sigprocmask(SIG_BLOCK, absent(), set));
    expect_eq(sigismember(set, SIGUSR2), 0);
    DONE(pthread_sigmask(SIG_BLOCK, absent(), absent()));
    sigemptyset(set);
    sigaddset(set, SIGUSR2);
    DONE(pthread_sigmask(SIG_BLOCK, set, NULL));
    DONE(raise(SIGUSR2));
    DONE(sigpending(absent()));
    expect_eq(sigtimedwait(set, absent(), none), SIGUSR2);
    DONE(raise(SIGUSR2));
    DONE(sigwait(set, absent()));
    DONE(sigprocmask(SIG_UNBLOCK, set, NULL));
    DONE(sigaltstack(NULL, absent()));
}

static void
messages_come(void)
{
    int       id = msgget(IPC_PRIVATE, 0600);
    long     *give = absent(), *take = absent();
    int       sem = semget(IPC_PRIVATE, 2, 0600);
    int       fd = eventfd(7, 0);
    uint64_t *count = absent();

    DONE(eventfd_read(fd, count));
    expect_eq(*count, 7);
    close(fd);

    *give = 7;
    give[1] = 42;
    DONE(msgsnd(id, give, sizeof(long), 0));
    expect_eq(msgrcv(id, take, sizeof(long), 7, 0), sizeof(long));
    expect_eq(take[1], 42);
    DONE(msgctl(id, IPC_STAT, absent()));
    DONE(msgctl(id, IPC_RMID, NULL));
    DONE(semctl(sem, 0, SETALL, absent()));
    DONE(semctl(sem, 0, GETALL, absent()));
    DONE(semop(sem, absent(), 1));
    DONE(semctl(sem, 0, IPC_RMID));
}

static void
children_are_waited_for(void)
{
    pid_t *pid = absent();
    char **words = absent();
    int   *status = absent();
    FILE  *f;

    DONE(system(absent_line()));
    f = popen(absent_line(), "r");
    expect(f != NULL);
    if (f != NULL)
        DONE(pclose(f));
    words[0] = "sh";
    words[1] = "-c";
    words[2] = absent_line();
    words[3] = NULL;
    DONE(posix_spawn(pid, "/bin/sh", NULL, NULL, words, absent()));
    expect_eq(wait4(*pid, status, 0, absent()), *pid);
    expect_eq(*status, 0);
    DONE(posix_spawn(pid, "/bin/sh", absent(), NULL, words, NULL));
    DONE(waitid(P_PID, (id_t)*pid, absent(), WEXITED));
#if __GLIBC__ == 2 && __GLIBC_MINOR__ >= 39
    DONE(pidfd_spawn(status, "/bin/sh", absent(), NULL, words, absent()));
    DONE(waitid(P_PIDFD, (id_t)*status, absent(), WEXITED));
#endif
}

/* Of the C library from glibc 2.36 on, and of libhearth. */
void random_fill(void *p, size_t n) __asm__("arc4random_buf");

static void
random_bytes_are_told(void)
{
    enum { BYTES = 600 };
    static const char none[8];
    char             *there = absent();

    random_fill(there, BYTES);
    expect(memcmp(there, none, sizeof none) != 0);
    expect(memcmp(there + BYTES - sizeof none, none, sizeof none) != 0);
    expect_eq(there[BYTES], 0);
}

/* Of a folder that is not there tempnam() tells another one. */
static void
names_are_told(void)
{
    char *name = tempnam(absent_path(), "h");

    expect(ftok(absent_path(), 1) != -1);
    expect(getenv("TMPDIR") != NULL ||
           (name != NULL && strncmp(name, path, sizeof path - 1) == 0));
    free(name);
}

static void
attributes_are_told(void)
{
    struct timespec *when = absent();
    char             name[] = "/tmp/hearth-small.XXXXXX";
    char            *made = absent();
    int              fd;

    memcpy(made, name, sizeof name);
    fd = mkstemp(made);
    expect(fd >= 0);
    DONE(futimens(fd, when));
    DONE(utimensat(AT_FDCWD, made, absent(), 0));
    DONE(statvfs(absent_path(), absent()));
    DONE(fstatvfs(fd, absent()));
    DONE(faccessat(AT_FDCWD, absent_path(), F_OK, 0));
    expect(pathconf(absent_path(), _PC_NAME_MAX) > 0);
    errno = 0;
    expect(listxattr(absent_path(), absent(), 64) >= 0 || errno != EFAULT);
    DONE(chmod(made, 0600));
    DONE(unlinkat(AT_FDCWD, made, 0));
    close(fd);
}

START_TEST(small_structures_of_the_heap_are_brought_for_the_system)
{
    static void (*const all[])(void) = {
        clocks_are_told, processors_are_told,     signals_are_told,
        messages_come,   children_are_waited_for, random_bytes_are_told,
        names_are_told,  attributes_are_told
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slots_new();
        all[i]();
        barrier();
        hearth_free(slots);
    }
    all_expected();
}
END_TEST

/* The names of setvbuf(): a line that is longer than the buffer of the heap
 * that they were given comes out whole. */
START_TEST(a_stream_takes_no_buffer_of_the_heap_by_another_name)
{
    char *p =
        hearth_alloc((size_t)ranks * 4 * page_bytes(), 1, hearth_cyclic(1));
    FILE *f[2] = { tmpfile(), tmpfile() };

    setbuf(f[0], p + page_bytes());
    setbuffer(f[1], p + page_bytes(), page_bytes());
    for (int i = 0; i < 2; i++) {
        int n = 0;

        fprintf(f[i], "%d", 7);
        expect_eq(p[page_bytes()], 0);
        rewind(f[i]);
        expect(fscanf(f[i], "%d", &n) == 1 && n == 7);
        fclose(f[i]);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

void
system_small(TCase *tc)
{
    tcase_add_test(tc,
                   small_structures_of_the_heap_are_brought_for_the_system);
    tcase_add_test(tc, a_stream_takes_no_buffer_of_the_heap_by_another_name);
}
