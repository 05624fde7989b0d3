/* SPDX-License-Identifier: BSD-2-Clause
 *
 * More threads of the last rank than it has cores wait: they leave the cores
 * to others, and none of them waits for one that is held up, nor do messages
 * of the program's own.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mpi_call.h"
#include "base/option.h"
#include "flags.h"
#include "transport/mpi/mpi.h"
#include "transport/mpi/wait_slot.h"

enum { WAITERS_MOST = 64, TAG = 77 };
enum { LONG_WAIT = 2290, LONG_FLAG = 901, LONG_COND = 97, LONG_RW = 31 };

static pthread_t waiter[WAITERS_MOST];
static uint32_t  name[WAITERS_MOST]; /* of those that wait by name */

/* How many wait, or 0. */
static int
crowd(void)
{
    int n = hearthi_cluster.cores / hearthi_cluster.machine_ranks + 4;

    return threads_allowed() && n <= WAITERS_MOST ? n : 0;
}

static void
waiters_start(int n, void *(*wait)(void *))
{
    for (int t = 0; t < n; t++)
        pthread_create(&waiter[t], NULL, wait, &name[t]);
}

static void
waiters_join(int n)
{
    for (int t = 0; t < n; t++)
        pthread_join(waiter[t], NULL);
}

/* ---- what is waited for ---- */

static atomic_int came;

static void *
wait_for_a_lock(void *unused)
{
    came++;
    hearth_lock(LONG_WAIT);
    hearth_unlock(LONG_WAIT);
    return unused;
}

static void *
wait_to_read(void *unused)
{
    came++;
    hearth_rdlock(LONG_RW);
    hearth_rwunlock(LONG_RW);
    return unused;
}

static void *
wait_for_a_flag(void *unused)
{
    came++;
    hearth_flag_wait(LONG_FLAG);
    return unused;
}

static void *
wait_for_a_condition(void *unused)
{
    hearth_lock(LONG_WAIT);
    came++;
    hearth_cond_wait(LONG_COND, LONG_WAIT);
    hearth_unlock(LONG_WAIT);
    return unused;
}

/* ---- cores ---- */

static bool
is_running(const char *task)
{
    char        path[64], line[256] = "";
    const char *end;
    FILE       *f;

    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task);
    f = fopen(path, "r");
    if (f == NULL)
        return false;
    if (fgets(line, sizeof line, f) == NULL)
        line[0] = '\0';
    fclose(f);
    end = strrchr(line, ')');
    return end != NULL && end[1] == ' ' && end[2] == 'R';
}

/* Threads of this rank that have a core or want one, but for this one. */
static int
running(void)
{
    DIR           *d = opendir("/proc/self/task");
    struct dirent *e;
    int            n = -1;

    while (d != NULL && (e = readdir(d)) != NULL)
        n += e->d_name[0] != '.' && is_running(e->d_name);
    if (d != NULL)
        closedir(d);
    return n;
}

/* All but one sleep until the first rank has ended what they wait for: that
 * one may look whether another node does. */
static void
wait_asleep(void *(*wait)(void *), void (*end)(int), int which)
{
    int  n = me == ranks - 1 ? crowd() : 0;
    bool asleep = n == 0;

    came = 0;
    waiters_start(n, wait);
    for (int k = 0; !asleep && k < 4000; k++) {
        sleep_ms(1);
        asleep = came == n && running() <= 1;
    }
    expect(asleep);
    mpi_barrier();
    if (me == 0)
        end(which);
    waiters_join(n);
    barrier();
}

START_TEST(threads_that_wait_leave_the_cores_to_others)
{
    if (me == 0) {
        hearth_lock(LONG_WAIT);
        hearth_wrlock(LONG_RW);
    }
    mpi_barrier();
    wait_asleep(wait_for_a_lock, hearth_unlock, LONG_WAIT);
    wait_asleep(wait_to_read, hearth_rwunlock, LONG_RW);
    wait_asleep(wait_for_a_condition, hearth_cond_broadcast, LONG_COND);
    wait_asleep(wait_for_a_flag, hearth_flag_set, LONG_FLAG);
    if (me == 0)
        hearth_flag_reset(LONG_FLAG);
    barrier();
    all_expected();
}
END_TEST

/* ---- a thread that is held up ---- */

enum { LEAD_NS = 10000000, HELD_MS = 400, TRIES = 4 };

static atomic_bool held;
static atomic_int  awake;

/* A handler, that may have interrupted MPI, which keeps others out then: so it
 * ends in any case. */
static void
hold(int unused)
{
    const struct timespec nap = { .tv_nsec = 1000000 };

    (void)unused;
    for (int k = 0; held && k < 2 * HELD_MS; k++)
        nanosleep(&nap, NULL);
}

static uint64_t
time_of(pthread_t thread)
{
    struct timespec t = { 0 };
    clockid_t       clock;

    if (pthread_getcpuclockid(thread, &clock) == 0)
        clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Which has taken most of the time that they took. */
static int
busiest(int n)
{
    const struct timespec nap = { .tv_nsec = LEAD_NS };
    uint64_t              before[WAITERS_MOST], most = 0, took;
    int                   which = 0;

    for (int t = 0; t < n; t++)
        before[t] = time_of(waiter[t]);
    nanosleep(&nap, NULL);
    for (int t = 0; t < n; t++) {
        took = time_of(waiter[t]) - before[t];
        if (took > most) {
            most = took;
            which = t;
        }
    }
    return which;
}

static void *
wait_by_name(void *mine)
{
    came++;
    hearthi_wait_slot_wait(*(uint32_t *)mine);
    awake++;
    return NULL;
}

static void *
wait_by_flag(void *unused)
{
    wait_for_a_flag(unused);
    awake++;
    return NULL;
}

static int
names_begin(int n)
{
    for (int t = 0; t < n; t++)
        if ((name[t] = hearthi_wait_slot_begin()) == 0)
            return t; /* bounds are small */
    return n;
}

static void
end_for(bool by_name, int from, int to)
{
    if (!by_name)
        hearth_flag_set(LONG_FLAG);
    for (int t = from; by_name && t < to; t++)
        hearthi_wait_slot(name[t]);
}

/* Hold up the thread that looks for others, and end what all wait for, what
 * that one does last.  True if the others have come meanwhile. */
static bool
others_come(int n, bool by_name)
{
    bool come;
    int  lead;

    if (by_name)
        n = names_begin(n);
    came = awake = 0;
    waiters_start(n, by_name ? wait_by_name : wait_by_flag);
    for (int k = 0; k < 1000 && came < n; k++)
        sleep_ms(1);
    lead = busiest(n);
    held = true;
    pthread_kill(waiter[lead], SIGUSR1);
    sleep_ms(1);
    end_for(by_name, 0, lead);
    end_for(by_name, lead + 1, n);
    for (int k = 0; k < HELD_MS && awake < n - 1; k++)
        sleep_ms(1);
    come = awake >= n - 1;
    held = false;
    end_for(by_name, lead, lead + 1);
    waiters_join(n);
    if (!by_name)
        hearth_flag_reset(LONG_FLAG);
    return come;
}

/* Once is enough: the handler may keep the others out of MPI. */
START_TEST(a_thread_in_a_handler_holds_up_no_other)
{
    struct sigaction hold_up = { .sa_handler = hold, .sa_flags = SA_RESTART },
                     was;
    bool runs = me == ranks - 1 && crowd() > 0 && hearth_nodes() > 1 &&
                hearthi_opt.transport == HEARTHI_TRANSPORT_MPI;

    sigaction(SIGUSR1, &hold_up, &was);
    for (int by_name = 0; runs && by_name <= 1; by_name++) {
        bool come = false;

        for (int k = 0; k < TRIES && !come; k++)
            come = others_come(crowd(), by_name);
        expect(come);
    }
    sigaction(SIGUSR1, &was, NULL);
    barrier();
    all_expected();
}
END_TEST

/* ---- messages of the program's own ---- */

enum { BYTES = 1 << 18, ASLEEP_MS = 20, PASS_MS = 3000 };

/* A message to a rank whose threads all wait, for what its sender does
 * afterwards.  `alone`: as if that rank had a request on a file pending, so
 * that its helper stays out of MPI. */
static void
message_pass(bool alone)
{
    char       *message = calloc(1, BYTES);
    MPI_Request r = MPI_REQUEST_NULL;
    int         n = crowd(), arrived = 0;

    if (me == 0)
        hearth_lock(LONG_WAIT);
    mpi_barrier();
    if (me == ranks - 1) {
        MPI_Irecv(message, BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &r);
        if (alone)
            hearthi_mpi_exclusion_begin();
        waiters_start(n, wait_for_a_lock);
        waiters_join(n);
        if (alone)
            hearthi_mpi_exclusion_end();
    } else if (me == 0) {
        sleep_ms(ASLEEP_MS);
        MPI_Isend(message, BYTES, MPI_BYTE, ranks - 1, TAG, MPI_COMM_WORLD,
                  &r);
        for (int k = 0; k < PASS_MS && !arrived; k++) {
            sleep_ms(1);
            MPI_Test(&r, &arrived, MPI_STATUS_IGNORE);
        }
        expect(arrived);
        hearth_unlock(LONG_WAIT);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    free(message);
    barrier();
}

/* Over udp such a message waits (doc/beside.md). */
START_TEST(messages_pass_while_all_threads_wait)
{
    for (int alone = 0; alone <= 1; alone++)
        if (ranks > 1 && crowd() > 0 &&
            hearthi_opt.transport == HEARTHI_TRANSPORT_MPI)
            message_pass(alone);
    all_expected();
}
END_TEST

TCase *
crowds(void)
{
    TCase *tc = tcase_create("crowds");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, threads_that_wait_leave_the_cores_to_others);
    tcase_add_test(tc, a_thread_in_a_handler_holds_up_no_other);
    tcase_add_test(tc, messages_pass_while_all_threads_wait);
    return tc;
}
