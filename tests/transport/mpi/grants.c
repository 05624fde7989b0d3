/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ranks that share cores wait for a lock asleep, and are woken by a datagram
 * behind the grant, on which nothing depends (transport/mpi/mcs_grant.c).
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/dlsym_next.h"
#include "cluster.h"
#include "fixture.h"
#include "grants.h"
#include "seen.h"
#include "transport/mpi/progress.h"

/* A rank that looks on gives its core away some 300 times a millisecond; one
 * that sleeps does so in its first turns, and while its steps are under way.
 */
enum { HELD_MS = 300, YIELDS = 10000 };

/* What a doorbell's datagram says (transport/mpi/doorbell.c). */
struct says {
    uint64_t word;
    int32_t  says, from, to, address, lock;
};
enum { GRANT = 64 };

static _Thread_local int yields, woken; /* from a sleep with a limit */
static atomic_bool       loses;
static atomic_int        lost;

SEEN int
sched_yield(void)
{
    int (*real)(void);

    yields++;
    hearthi_dlsym_next(&real, "sched_yield");
    return real();
}

SEEN ssize_t
sendto(int fd, const void *from, size_t n, int how, const struct sockaddr *to,
       socklen_t size)
{
    ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *,
                    socklen_t);
    struct says s;

    if (loses && n == sizeof s) {
        memcpy(&s, from, sizeof s);
        if (s.says & GRANT) {
            lost++;
            return (ssize_t)n;
        }
    }
    hearthi_dlsym_next(&real, "sendto");
    return real(fd, from, n, how, to, size);
}

SEEN long
syscall(long number, ...)
{
    static long (*real)(long, ...);
    va_list list;
    long    arg[6], gave;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(list, long);
    va_end(list);
    if (real == NULL)
        hearthi_dlsym_next(&real, "syscall");
    gave = real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
    woken += number == SYS_futex && gave == 0 && arg[3] != 0 &&
             (arg[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
    return gave;
}

/* Locks, and reader-writer locks for writing. */
struct kind {
    void (*take)(int), (*leave)(int);
};
static const struct kind a_lock = { hearth_lock, hearth_unlock };
static const struct kind a_writer = { hearth_wrlock, hearth_rwunlock };

/* Rank 0 holds the lock while the last one waits for it: how often that one
 * gave its core away. */
static int
lock_pass(struct kind kind, int ms, int64_t *word)
{
    int before;

    if (me == 0)
        kind.take(0);
    mpi_barrier();
    before = yields;
    if (me == 0)
        sleep_ms(ms);
    if (me == ranks - 1 && ranks > 1)
        kind.take(0);
    if (me == 0 || me == ranks - 1) {
        (*word)++;
        kind.leave(0);
    }
    return yields - before;
}

START_TEST(a_rank_that_waits_for_a_lock_sleeps)
{
    int64_t *word = pages_new(1);
    int      gave = lock_pass(a_lock, HELD_MS, word);

    if (hearthi_help.doorbells && apart(0, ranks - 1))
        expect(hearthi_crowded());
    if (hearthi_help.doorbells && apart(0, ranks - 1) && me == ranks - 1)
        expect(gave < YIELDS);
    barrier();
    expect_eq(*word, ranks > 1 ? 2 : 1);
    barrier();
    hearth_free(word);
    all_expected();
}
END_TEST

START_TEST(a_grant_whose_datagram_is_lost_is_seen)
{
    enum { PASSES = 3 };
    int64_t *word = pages_new(1);

    loses = true;
    for (int i = 0; i < PASSES; i++) {
        lock_pass(a_lock, HELD_MS, word);
        barrier();
        expect_eq(*word, (ranks > 1 ? 2 : 1) * (i + 1));
        barrier();
    }
    loses = false;
    if (hearthi_help.doorbells && apart(0, ranks - 1) && me == 0)
        expect_timely(lost > 0);
    hearth_free(word);
    all_expected();
}
END_TEST

/* Of several grants one at least comes before the sleep has ended by itself,
 * for which each is too short. */
static int
times_woken(struct kind kind)
{
    enum { PASSES = 20, SHORT_MS = 30 };
    int64_t *word = pages_new(1);
    int      before = woken;

    for (int i = 0; i < PASSES; i++) {
        lock_pass(kind, SHORT_MS, word);
        barrier();
    }
    hearth_free(word);
    return woken - before;
}

START_TEST(a_grant_wakes_who_sleeps_for_a_lock_or_to_write)
{
    int times = times_woken(a_lock), writes = times_woken(a_writer);

    if (hearthi_help.doorbells && apart(0, ranks - 1) && me == ranks - 1) {
        expect_timely(times > 0);
        expect_timely(writes > 0);
    }
    all_expected();
}
END_TEST

static cpu_set_t before;

/* All on one core. */
static void
start_crowded(void)
{
    cpu_set_t one;
    int       first = 0;

    sched_getaffinity(0, sizeof before, &before);
    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
    fixture_start();
}

static void
stop_crowded(void)
{
    fixture_stop();
    sched_setaffinity(0, sizeof before, &before);
}

TCase *
grants(void)
{
    TCase *tc = tcase_create("grants");

    tcase_add_unchecked_fixture(tc, start_crowded, stop_crowded);
    tcase_add_test(tc, a_rank_that_waits_for_a_lock_sleeps);
    tcase_add_test(tc, a_grant_whose_datagram_is_lost_is_seen);
    tcase_add_test(tc, a_grant_wakes_who_sleeps_for_a_lock_or_to_write);
    return tc;
}
