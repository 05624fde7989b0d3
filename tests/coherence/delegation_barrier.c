/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks that stay with a rank which waits in a barrier, and are given from
 * there.
 */
#include <pthread.h>
#include <unistd.h>

#include "flags.h"

enum { SECTIONS = 6, COPIES = 20 };

/* The last rank is the keeper, and the first one asks when it waits in the
 * barrier, or is late. */
static bool
keeps(void)
{
    return me == ranks - 1;
}

static bool
asks(void)
{
    return me == 0 && ranks > 1;
}

static void
sections(int lock, int64_t *word, int n)
{
    for (int i = 0; i < n; i++) {
        hearth_lock(lock);
        ++*word;
        hearth_unlock(lock);
    }
}

/* What the keeper knew when it came to the barrier is told, and no more: who
 * asks has copies that it keeps. */
START_TEST(who_asks_a_rank_in_a_barrier_keeps_its_copies)
{
    int64_t     *p = pages_new(1 + COPIES), sum = 0;
    int          lock = lock_new();
    hearth_stats before, after;

    for (int k = 0; k < 2; k++) { /* the first copies are provisional */
        for (int i = 1; i <= COPIES; i++)
            sum += *word(p, i);
        barrier();
    }
    if (keeps())
        sections(lock, p, SECTIONS);
    mpi_barrier();
    if (asks()) {
        sleep_ms(30);
        hearth_get_stats(&before);
        hearth_lock(lock);
        expect_eq(*p, SECTIONS);
        ++*p;
        hearth_unlock(lock);
        hearth_get_stats(&after);
        expect_eq(after.everything - before.everything, 0);
    }
    barrier();
    expect_eq(*p, ranks > 1 ? SECTIONS + 1 : SECTIONS);
    expect_eq(sum, 0);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

static int      other_lock;
static int64_t *other_word;

static void *
enter_late(void *unused)
{
    sleep_ms(20);
    sections(other_lock, other_word, SECTIONS);
    return unused;
}

/* Another thread of the keeper goes on using it: that is told, too. */
START_TEST(what_threads_write_beside_a_barrier_is_seen)
{
    int64_t  *p = pages_new(1); /* at home where it is asked for */
    int       lock = lock_new(), turns = 3;
    pthread_t thread;

    for (int k = 0; k < turns && threads_allowed(); k++) {
        if (asks())
            sections(lock, p, 1); /* it has a copy */
        barrier();
        if (keeps()) {
            sections(lock, p, SECTIONS);
            other_lock = lock;
            other_word = p;
            pthread_create(&thread, NULL, enter_late, NULL);
        }
        mpi_barrier();
        for (int i = 0; asks() && i < 8; i++) {
            sleep_ms(i == 0 && k > 0 ? 60 : 8); /* behind the thread, or not */
            sections(lock, p, 1);
        }
        barrier();
        if (keeps())
            pthread_join(thread, NULL);
        barrier();
        expect_eq(*p, (k + 1) * (2 * SECTIONS + (ranks > 1 ? 9 : 0)));
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

TCase *
stays_in_barriers(void)
{
    TCase *tc = tcase_create("stay in a barrier");

    tcase_add_checked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, who_asks_a_rank_in_a_barrier_keeps_its_copies);
    tcase_add_test(tc, what_threads_write_beside_a_barrier_is_seen);
    return tc;
}
