/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages on their way to a rank that acquires meanwhile, by another thread.
 */
#include "base/clock.h"
#include "threads_seam.h"

enum { LOCK = 95, BEGUN = 24, WROTE = 25, TOLD = 26 };

enum by { BY_LOCK, BY_ACQUIRE, BY_RANGE, WAYS_TO_KNOW };

static void
zero_writes(int64_t *p, enum by by)
{
    told_by(ranks - 1, BEGUN);
    if (by == BY_LOCK)
        hearth_lock(LOCK);
    *p = 1;
    if (by == BY_LOCK)
        hearth_unlock(LOCK);
    else
        hearth_release(NULL, 0);
    tell(ranks - 1, WROTE);
}

static void
reader_learns(const int64_t *p, enum by by)
{
    tell(0, BEGUN);
    told_by(0, WROTE);
    if (by == BY_LOCK) {
        hearth_lock(LOCK);
        hearth_unlock(LOCK);
    } else if (by == BY_RANGE) {
        hearth_acquire(p, sizeof *p);
    } else {
        hearth_acquire(NULL, 0);
    }
}

/* The page was read at its home before the write; then this rank acquires the
 * write, and only then the page arrives. */
static void
overtake(enum by by, bool first_copy)
{
    int64_t       *p = pages_of_zero(1), value = 1;
    struct reading other;

    if (!first_copy) {
        copies_take(p, 1, 0);
        barrier();
        if (me == 0)
            p[1] = 1;
        barrier();
    }
    if (may_play() && is_reader()) {
        reading_stopped(&other, p, true);
        reader_learns(p, by);
        seam_go_on();
        value = *p;
        reading_end(&other);
        seam_close();
    } else if (may_play() && me == 0) {
        zero_writes(p, by);
    }
    barrier();
    expect_eq(value, 1);
    hearth_free(p);
}

START_TEST(a_page_that_an_acquire_overtakes_is_fetched_again)
{
    for (int by = 0; by < WAYS_TO_KNOW; by++) {
        overtake((enum by)by, false);
        overtake((enum by)by, true);
    }
    all_expected();
}
END_TEST

/* The flag of a first copy is sent after an acquire, and after the home was
 * told of those before and has looked: the copy that is fetched in its place
 * must not survive, since the home does not know that it has to report the
 * page. */
START_TEST(a_first_copy_that_was_overtaken_is_provisional)
{
    int64_t       *p = pages_of_zero(2);
    struct reading other;

    copies_take(word(p, 1), 1, 0);
    if (may_play() && is_reader()) {
        reading_stopped(&other, p, false);
        hearth_acquire(NULL, 0);
        hearth_lock(LOCK);
        hearth_unlock(LOCK);
        expect_eq(*word(p, 1), 0);
        tell(0, TOLD);
        told_by(0, TOLD);
        seam_go_on();
        expect_eq(*p, 0);
        reading_end(&other);
        seam_close();
        reader_learns(p, BY_LOCK);
        expect_eq(*p, 1);
    } else if (may_play() && me == 0) {
        told_by(ranks - 1, TOLD);
        hearth_lock(LOCK);
        hearth_unlock(LOCK);
        tell(ranks - 1, TOLD);
        zero_writes(p, BY_LOCK);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* A fetch that takes longer than an acquire would be overtaken each time: the
 * second one is not beside the lock.  (What it brought may be dropped before
 * the thread gets a core.) */
static void
fetch_late(void)
{
    sleep_ms(2);
}

static uint64_t
fetches_so_far(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return s.fetches;
}

START_TEST(who_misses_gets_its_page_beside_others_that_always_acquire)
{
    int64_t       *p = pages_of_zero(1);
    uint64_t       until = hearthi_now() + SECOND, first;
    struct reading other = { .value = -1 };

    if (may_play() && is_reader()) {
        seam_open(fetch_late, NULL, INT32_MAX);
        first = fetches_so_far();
        reading_begin(&other, p);
        while (*(volatile int64_t *)&other.value < 0 && hearthi_now() < until)
            hearth_acquire(NULL, 0);
        expect_eq(reading_end(&other), 0);
        expect(seam_fetches() == 1 ||
               fetches_so_far() - first > (uint64_t)seam_fetches());
        seam_close();
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

void
threads_in_flight_tests(TCase *tc)
{
    tcase_add_test(tc, a_page_that_an_acquire_overtakes_is_fetched_again);
    tcase_add_test(tc, a_first_copy_that_was_overtaken_is_provisional);
    tcase_add_test(
        tc, who_misses_gets_its_page_beside_others_that_always_acquire);
}
