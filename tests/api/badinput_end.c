/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ranks that go away.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "badinput.h"

void
badinput_stop(unsigned after, unsigned ms)
{
    pid_t self = getpid();

    if (fork() == 0) {
        usleep(after * 1000);
        if (after > 0)
            kill(self, SIGSTOP);
        usleep(ms * 1000);
        kill(self, SIGCONT);
        _exit(0);
    }
    if (after == 0)
        kill(self, SIGSTOP);
}

/* How long others take from now on is the age of a file. */
static void
went_note(void)
{
    const char *file = getenv("BADINPUT_WENT");

    if (file != NULL)
        close(open(file, O_CREAT | O_WRONLY | O_TRUNC, 0600));
}

void
badinput_go_away(void)
{
    const char *how = getenv("MPI_TEST_END");

    went_note();
    if (how != NULL && strcmp(how, "leave") == 0)
        syscall(SYS_exit_group, 0); /* past Hearth, which knows _exit() */
    if (how != NULL && strcmp(how, "awhile") == 0) {
        badinput_stop(0, 4000);
        return;
    }
    kill(getpid(),
         how != NULL && strcmp(how, "stop") == 0 ? SIGSTOP : SIGKILL);
    sleep(1000);
}

static void
ends_at_barrier(void)
{
    hearth_barrier();
    if (me == last)
        badinput_go_away();
    hearth_barrier();
}

/* Until something else ends the job; rank 0 says that all have begun. */
static void
ends_never(void)
{
    hearth_barrier();
    if (me == 0)
        printf("all have begun\n");
    fflush(stdout);
    for (;;) {
        hearth_barrier();
        usleep(1000);
    }
}

static void
ends_with_lock(void)
{
    if (me == last)
        hearth_lock(9);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last)
        badinput_go_away();
    else
        hearth_lock(9);
    hearth_unlock(9);
}

static void
ends_before_flag(void)
{
    hearth_barrier();
    if (me == last)
        badinput_go_away();
    if (me == last)
        hearth_flag_set(3);
    hearth_flag_wait(3);
}

static void
ends_before_fetch(void)
{
    int *p = hearth_alloc(1, sizeof *p, hearth_on(last));

    hearth_barrier();
    if (me == last)
        badinput_go_away();
    usleep(100000);
    if (*(volatile int *)p != 0)
        exit(1);
    hearth_barrier();
}

/* Nobody asks for anything until long after. */
static void
ends_while_others_compute(void)
{
    hearth_barrier();
    if (me == last)
        badinput_go_away();
    for (double end = MPI_Wtime() + 3; MPI_Wtime() < end;)
        continue;
    hearth_barrier();
}

/* A child has the output closed, for which the launcher would wait. */
static void
child_make(unsigned seconds)
{
    if (fork() == 0) {
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        sleep(seconds);
        _exit(0);
    }
}

/* Somebody else has the rank's files open still. */
static void
ends_with_child(void)
{
    hearth_barrier();
    if (me == last) {
        child_make(20);
        badinput_go_away();
    }
    hearth_barrier();
}

static void
children_live_on(void)
{
    child_make(3);
    hearth_barrier();
}

/* Their exit handlers are those of the rank. */
static void
children_exit(void)
{
    pid_t child = fork();
    int   status;

    if (child == 0)
        exit(7);
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
        exit(1);
    sleep(1);
    hearth_barrier();
}

/* A rank goes away, the others wait for it, in each of the ways to wait. */
static void
dies_killed_at_barrier(void)
{
    if (me == last)
        kill(getpid(), SIGKILL);
    hearth_barrier();
}

static void
dies_killed_with_lock(void)
{
    if (me == last)
        hearth_lock(9);
    hearth_barrier();
    if (me == last)
        kill(getpid(), SIGKILL);
    hearth_lock(9);
}

/* Two ranks of a node take each other's copies all the time. */
static void
dies_killed_lending(void)
{
    enum { PAGES = 512, ROUNDS = 100 };
    const size_t   each = page_bytes();
    volatile char *p = hearth_alloc(PAGES, each, hearth_on(0));

    for (int round = 0;; round++) {
        hearth_acquire((const void *)(uintptr_t)p, PAGES * each);
        for (int i = 0; i < PAGES; i++)
            (void)p[(size_t)(me == last ? i : PAGES - 1 - i) * each];
        if (me == last && round == ROUNDS)
            kill(getpid(), SIGKILL);
    }
}

/* The last rank stops while another waits for its page. */
static void *
wake(void *process)
{
    const pid_t *pid = process;
    const char  *stop = getenv("MPI_TEST_STOP"); /* seconds */

    sleep(stop != NULL ? (unsigned)atoi(stop) : 2);
    kill(*pid, SIGCONT);
    return NULL;
}

static void
stop_last(bool again)
{
    int      *p = hearth_alloc(1, sizeof *p, hearth_on(last));
    pid_t     pid = getpid();
    pthread_t waker;

    MPI_Bcast(&pid, sizeof pid, MPI_BYTE, last, MPI_COMM_WORLD);
    hearth_barrier();
    if (me == 0 && again)
        pthread_create(&waker, NULL, wake, &pid);
    if (me == last)
        kill(pid, SIGSTOP);
    else
        usleep(300000);
    if (*(volatile int *)p != 0)
        exit(1);
    if (me == 0 && again)
        pthread_join(waker, NULL);
    hearth_barrier();
}

static void
stopped(void)
{
    stop_last(false);
}

static void
stopped_awhile(void)
{
    stop_last(true);
}

/* Rank 0 releases what it has written at the last rank, which stops meanwhile:
 * many short runs, which only that rank can store. */
static void
stopped_with_letters(void)
{
    enum { WORDS = 16 * 512 };
    int64_t  *p = hearth_alloc(WORDS, sizeof *p, hearth_on(last));
    pid_t     pid = getpid();
    pthread_t waker;

    MPI_Bcast(&pid, sizeof pid, MPI_BYTE, last, MPI_COMM_WORLD);
    hearth_barrier();
    for (int i = 0; me == 0 && i < WORDS; i += 2)
        p[i] = i + 1;
    hearth_barrier();
    for (int i = 0; me == 0 && i < WORDS; i += 2)
        p[i] = i + 2;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last)
        kill(pid, SIGSTOP);
    usleep(300000);
    if (me == 0) {
        pthread_create(&waker, NULL, wake, &pid);
        hearth_release(p, WORDS * sizeof *p);
        pthread_join(waker, NULL);
    }
    hearth_barrier();
    for (int i = 0; i < WORDS; i += 2)
        if (p[i] != i + 2)
            exit(1);
    hearth_barrier();
}

static void
dies_by_exit(void)
{
    if (me == last)
        exit(0);
    hearth_flag_wait(1);
}

/* A pointer in the heap to memory of the rank that stored it. */
static void
dies_of_private_pointer(void)
{
    char **there = hearth_alloc(sizeof *there, 1, hearth_on(0));

    if (me == 0)
        *there = (char *)0x600000001000; /* where nothing lies */
    hearth_barrier();
    if (me == last)
        **there = 1;
    hearth_barrier();
}

/* The same where the other rank has something of its own, which it may not
 * write. */
static void
dies_of_forbidden_pointer(void)
{
    char **there = hearth_alloc(sizeof *there, 1, hearth_on(0));
    char  *at = (char *)0x600000001000;

    if (me == 0)
        *there = at;
    if (me == last &&
        mmap(at, (size_t)sysconf(_SC_PAGESIZE), PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at)
        exit(0); /* which the test sees */
    hearth_barrier();
    if (me == last)
        **there = 1;
    hearth_barrier();
}

static void
dies_by_exit_everywhere(void)
{
    exit(0);
}

static void
dies_by_exit_quietly(void)
{
    if (me == last)
        _exit(0);
    hearth_barrier();
}

/* As another program ends, whose status is 0. */
static void
dies_by_exec(void)
{
    if (me == last)
        execl("/bin/true", "true", (char *)NULL);
    hearth_barrier();
}

static void
dies_by_exec_everywhere(void)
{
    char *words[] = { "true", NULL };

    execvp("true", words);
}

static void
dies_by_exit_of_daemon(void)
{
    if (me == last && daemon(1, 1) != 0)
        exit(1);
    hearth_barrier();
}

static void
dies_by_quick_exit(void)
{
    if (me == last)
        quick_exit(0);
    hearth_barrier();
}

/* ---- children may ---- */

/* The C library has it for all, and its header for GNU's programs. */
int execvpe(const char *, char *const *, char *const *);

static void
child_execs(int how)
{
    char *const words[] = { "sh", "-c", "test $X = 7 && exit 7", NULL };
    char *const env[] = { "X=7", NULL };

    setenv("X", "7", 1);
    if (how == 0)
        execl("/bin/sh", words[0], words[1], words[2], (char *)NULL);
    if (how == 1)
        execlp("sh", words[0], words[1], words[2], (char *)NULL);
    if (how == 2)
        execv("/bin/sh", words);
    if (how == 3)
        execvp("sh", words);
    unsetenv("X");
    if (how == 4)
        execle("/bin/sh", words[0], words[1], words[2], (char *)NULL, env);
    if (how == 5)
        execve("/bin/sh", words, env);
    if (how == 6)
        execvpe("sh", words, env);
    if (how == 7)
        fexecve(open("/bin/sh", O_RDONLY), words, env);
}

static void
children_exec(void)
{
    enum { HOWS = 8 };
    char *const words[] = { "sh", "-c", "exit 7", NULL };
    int         status = 0;
    pid_t       child;

    for (int how = 0; how <= HOWS; how++) {
        child = how < HOWS ? fork() : -1;
        if (child == 0) {
            child_execs(how);
            _exit(1);
        }
        if (how == HOWS &&
            posix_spawn(&child, "/bin/sh", NULL, NULL, words, NULL) != 0)
            exit(1);
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
            WEXITSTATUS(status) != 7)
            exit(2 + how);
    }
    if (system("exit 7") != 7 << 8)
        exit(1);
}

const struct badinput badinput_ends[] = {
    BADINPUT(ends_at_barrier),
    BADINPUT(ends_never),
    BADINPUT(ends_with_lock),
    BADINPUT(ends_before_flag),
    BADINPUT(ends_before_fetch),
    BADINPUT(ends_while_others_compute),
    BADINPUT(ends_with_child),
    BADINPUT(children_live_on),
    BADINPUT(children_exit),
    BADINPUT(dies_killed_at_barrier),
    BADINPUT(dies_killed_with_lock),
    BADINPUT(dies_killed_lending),
    BADINPUT(stopped),
    BADINPUT(stopped_awhile),
    BADINPUT(stopped_with_letters),
    BADINPUT(dies_by_exit),
    BADINPUT(dies_by_exit_everywhere),
    BADINPUT(dies_of_private_pointer),
    BADINPUT(dies_of_forbidden_pointer),
    BADINPUT(dies_by_exit_quietly),
    BADINPUT(dies_by_exec),
    BADINPUT(dies_by_exec_everywhere),
    BADINPUT(dies_by_exit_of_daemon),
    BADINPUT(dies_by_quick_exit),
    BADINPUT(children_exec),
    { 0 },
};
