/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is seen after a reader-writer lock was acquired.
 */
#include "delay.h"
#include "rwlocks.h"

/* One rank writes outside of any section and takes the lock, to read or to
 * write; then the next one, which it has told past Hearth, takes it in the
 * other ways and reads without the lock.  All have copies of the page. */
START_TEST(what_happened_before_a_release_is_seen_after_each_later_acquire)
{
    int64_t *p = pages_new(ranks + 1);
    int      count = 0;

    copies_take(p, ranks + 1, 0);
    for (int ways = 0; ways < 4; ways++)
        for (int r = 0; r < ranks && ranks > 1; r++) {
            int next = (r + 1) % ranks, page = count % (ranks + 1);

            count++;
            if (me == r) {
                word(p, page)[1] = count;
                lock_as(600, ways & 1);
                hearth_rwunlock(600);
                tell(next, ways);
            }
            if (me == next) {
                told_by(r, ways);
                lock_as(600, ways & 2);
                expect_eq(word(p, page)[1], count);
                hearth_rwunlock(600);
            }
            copies_take(p, ranks + 1, 0);
        }
    hearth_free(p);
    all_expected();
}
END_TEST

/* ... and what was learnt by one lock is passed on by another, through ranks
 * that touch nothing. */
START_TEST(a_chain_of_readers_passes_on_what_was_written)
{
    int64_t *p = pages_new(2);

    copies_take(p, 2, 0);
    for (int k = 1; k <= 2 * ranks; k++) {
        int first = k % ranks, last = (first + ranks - 1) % ranks;

        if (me != first) {
            told_by((me + ranks - 1) % ranks, 1);
            hearth_rdlock(700 + (me + ranks - 1) % ranks);
            hearth_rwunlock(700 + (me + ranks - 1) % ranks);
        } else {
            word(p, k % 2)[3] = k;
        }
        if (me == last)
            expect_eq(word(p, k % 2)[3], k);
        lock_as(700 + me, k % 3 == 0);
        hearth_rwunlock(700 + me);
        if (me != last)
            tell((me + 1) % ranks, 1);
        barrier();
        expect_eq(word(p, k % 2)[3], k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* More than a log holds, told by readers who leave at the same time. */
START_TEST(logs_that_overflow_lose_nothing)
{
    enum { OWN = 60, TIMES = 6 };
    int64_t *p = pages_new(2 * OWN * ranks);

    for (int k = 1; k <= TIMES; k++) {
        hearth_rdlock(650);
        for (int i = 0; i < OWN; i++)
            word(p, 2 * (i * ranks + me))[0] = k;
        hearth_rwunlock(650);
        mpi_barrier();
        lock_as(650, (k + me) % 3 == 0);
        for (int i = 0; i < OWN * ranks; i++)
            expect_eq(word(p, 2 * i)[0], k);
        hearth_rwunlock(650);
        mpi_barrier();
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

enum { TOLD = 150, SETS = 8 };

/* Pages of which no two are neighbours, so that each is a notice. */
static void
told_write(int64_t *p, int set, int value)
{
    for (int i = 0; i < TOLD; i++)
        *word(p, 2 * (set * TOLD + i)) = value;
}

static void
told_expect(int64_t *p, int set, int value)
{
    for (int i = 0; i < TOLD; i++)
        expect_eq(*word(p, 2 * (set * TOLD + i)), value);
}

static void
leave_twice(int64_t *p, int k)
{
    for (int set = 0; set < 2; set++) {
        hearth_rdlock(660);
        told_write(p, set, k);
        if (set == 1)
            delay_replace(4);
        hearth_rwunlock(660);
        delay_replace(0);
        for (int r = 1; r < ranks && set == 0; r++)
            tell(r, set);
        dawdle();
    }
}

/* A reader reads the log while another, who leaves, writes over what it reads,
 * which it must notice.  It has copies of all pages, which are stale then.
 * The second time takes 4 ms between the notices and the step that says so. */
START_TEST(a_log_that_is_overwritten_under_a_reader_is_noticed)
{
    int64_t *p = pages_new(4 * TOLD);
    uint64_t random = (uint64_t)me + 77;

    for (int k = 1; k <= SETS; k++) {
        told_expect(p, 0, k - 1);
        barrier();
        if (me == 0) {
            leave_twice(p, k);
        } else {
            told_by(0, 0);
            sleep_ms((long)(hearthi_random(&random) % 6));
            hearth_rdlock(660);
            told_expect(p, 0, k);
            hearth_rwunlock(660);
        }
        barrier();
        told_expect(p, 1, k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

void
rwlocks_seen(TCase *tc)
{
    tcase_add_test(
        tc, what_happened_before_a_release_is_seen_after_each_later_acquire);
    tcase_add_test(tc, a_chain_of_readers_passes_on_what_was_written);
    tcase_add_test(tc, logs_that_overflow_lose_nothing);
    tcase_add_test(tc, a_log_that_is_overwritten_under_a_reader_is_noticed);
}
