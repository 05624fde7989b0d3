/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Order by the program's own messages: write, release, send; receive, acquire,
 * read.
 */
#include "fixture.h"

enum { PAGES = 12, ROUNDS = 20, TAG = 31, LOCK = 95, FLAG = 940 };

static int
next_rank(void)
{
    return (me + 1) % ranks;
}

static int
last_rank(void)
{
    return (me + ranks - 1) % ranks;
}

/* The range of some words or, as `all` says, everything. */
static void
release(int64_t *p, size_t bytes, bool all)
{
    hearth_release(all ? NULL : p, all ? 0 : bytes);
}

static void
acquire(int64_t *p, size_t bytes, bool all)
{
    hearth_acquire(all ? NULL : p, all ? 0 : bytes);
}

/* A token goes round; who has it adds to every page, wherever that is at home:
 * on its own node, never fetched or fetched before, and elsewhere. */
static void
pass_round(bool all)
{
    int64_t *p = pages_new(PAGES);

    for (int k = 0; k < ROUNDS; k++) {
        if (ranks > 1 && (k > 0 || me > 0)) {
            told_by(last_rank(), TAG);
            acquire(p, (size_t)PAGES * page_bytes(), all);
        }
        for (int i = 0; i < PAGES; i++) {
            expect_eq(*word(p, i), k * ranks + me);
            ++*word(p, i);
        }
        release(p, (size_t)PAGES * page_bytes(), all);
        if (ranks > 1 && (k < ROUNDS - 1 || me < ranks - 1))
            tell(next_rank(), TAG);
    }
    barrier();
    for (int i = 0; i < PAGES; i++)
        expect_eq(*word(p, i), ROUNDS * ranks);
    hearth_free(p);
    all_expected();
}

START_TEST(what_was_released_is_read_behind_a_message)
{
    pass_round(false);
}
END_TEST

START_TEST(everything_that_was_released_is_read_behind_a_message)
{
    pass_round(true);
}
END_TEST

/* Pages of two writers, each of which tells the other of its half. */
START_TEST(halves_of_a_page_are_exchanged)
{
    const int half = (int)page_words() / 2;
    int64_t  *p = pages_new(1);
    int       other = ranks - 1 - me;
    bool      plays = ranks > 1 && (me == 0 || me == ranks - 1);
    int64_t  *mine = p + (me == 0 ? 0 : half);
    int64_t  *theirs = p + (me == 0 ? half : 0);

    for (int k = 1; plays && k <= ROUNDS; k++) {
        for (int i = 0; i < half; i++)
            mine[i] = k * 1000 + i;
        hearth_release(mine, sizeof *mine * (size_t)half);
        MPI_Sendrecv(NULL, 0, MPI_BYTE, other, TAG, NULL, 0, MPI_BYTE, other,
                     TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        hearth_acquire(theirs, sizeof *theirs * (size_t)half);
        for (int i = 0; i < half; i++) {
            expect_eq(theirs[i], k * 1000 + i);
            expect_eq(mine[i], k * 1000 + i);
        }
        MPI_Sendrecv(NULL, 0, MPI_BYTE, other, TAG, NULL, 0, MPI_BYTE, other,
                     TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Rank 0 writes and tells rank 1 by a message; rank 1 tells the last rank by a
 * lock or a flag, perhaps not for the first time of this page. */
static void
pass_on(bool by_flag, bool all, bool own)
{
    int64_t *p = pages_new(1);
    int      last = ranks - 1;

    copies_take(p, 1, 0);
    if (me == 1 && own) {
        hearth_lock(LOCK);
        p[1] = 5;
        hearth_unlock(LOCK);
        tell(last, TAG);
    }
    if (me == last && own) {
        told_by(1, TAG);
        hearth_lock(LOCK);
        expect_eq(*p + p[1], 5);
        hearth_unlock(LOCK);
        tell(0, TAG);
    }
    if (me == 0) {
        if (own)
            told_by(last, TAG);
        *p = 7;
        hearth_release(p, sizeof *p);
        tell(1, TAG);
    }
    if (me == 1) {
        told_by(0, TAG);
        hearth_lock(LOCK);
        acquire(p, sizeof *p, all);
        if (by_flag)
            hearth_flag_set(FLAG);
        hearth_unlock(LOCK);
        tell(last, TAG);
    }
    if (me == last) {
        told_by(1, TAG);
        if (by_flag)
            hearth_flag_wait(FLAG);
        hearth_lock(LOCK);
        expect_eq(*p, 7);
        hearth_unlock(LOCK);
    }
    barrier();
    expect_eq(*p, 7);
    if (by_flag && me == 0)
        hearth_flag_reset(FLAG);
    barrier();
    hearth_free(p);
    all_expected();
}

START_TEST(what_was_learnt_by_a_message_is_passed_on_by_a_lock)
{
    for (int k = 0; ranks > 2 && release_consistency() && k < 4; k++)
        pass_on(false, k & 1, k & 2);
}
END_TEST

START_TEST(what_was_learnt_by_a_message_is_passed_on_by_a_flag)
{
    for (int k = 0; ranks > 2 && k < 4; k++)
        pass_on(true, k & 1, k & 2);
}
END_TEST

/* What a release brought home is told by the next lock or barrier as well. */
START_TEST(what_was_released_is_published_by_the_next_lock)
{
    int64_t *p = pages_new(2 * ranks);
    int      last = ranks - 1;

    for (int i = 0; i < 2 * ranks; i++)
        copies_take(word(p, i), 1, 0);
    if (me == 0) {
        hearth_lock(LOCK);
        for (int i = 0; i < 2 * ranks; i++)
            *word(p, i) = i + 1;
        hearth_release(NULL, 0);
        hearth_unlock(LOCK);
        if (last > 0)
            tell(last, TAG);
    }
    if (me == last) {
        if (last > 0)
            told_by(0, TAG);
        hearth_lock(LOCK);
        for (int i = 0; i < 2 * ranks; i++)
            expect_eq(*word(p, i), i + 1);
        hearth_unlock(LOCK);
    }
    barrier();
    if (me == last)
        *word(p, 0) = -1;
    hearth_release(p, sizeof *p);
    barrier();
    expect_eq(*word(p, 0), -1);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* The page is in no node's list of first copies any more when the acquire has
 * dropped it, if it was taken out there. */
START_TEST(a_first_copy_that_an_acquire_dropped_is_tracked)
{
    int64_t *p = pages_new(1);
    int      last = ranks - 1;

    for (int k = 1; k <= ROUNDS; k++) {
        if (me == last) {
            if (k == 1)
                expect_eq(*p, 0);
            hearth_acquire(p, sizeof *p);
            expect_eq(*p, k - 1);
        }
        barrier();
        hearth_lock(LOCK);
        if (me == 0)
            *p = k;
        hearth_unlock(LOCK);
        barrier();
        expect_eq(*p, k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Who holds a page sees what others released of it, keeps what was written
 * here meanwhile, and releases that, whoever wrote it. */
static void
exchange_held(bool all)
{
    int64_t *p = pages_new(ranks);
    int      last = ranks - 1, other = last - me;
    size_t   bytes = (size_t)ranks * page_bytes();

    if (me == last)
        hearth_hold(p, bytes, HEARTH_READ | HEARTH_WRITE);
    for (int k = 1; ranks > 1 && (me == 0 || me == last) && k <= ROUNDS; k++) {
        if (me == last)
            told_by(0, TAG);
        if (me == last || k > 1) {
            if (me == 0)
                told_by(last, TAG);
            acquire(p, bytes, all);
        }
        for (int i = 0; i < ranks; i++) {
            expect_eq(word(p, i)[other == 0 ? 0 : 1], me == 0 ? k - 1 : k);
            word(p, i)[me == 0 ? 0 : 1] = k;
            expect_eq(word(p, i)[2 + me], k - 1);
            word(p, i)[2 + me] = k;
        }
        release(p, bytes, all);
        tell(other, TAG);
    }
    if (ranks > 1 && me == 0)
        told_by(last, TAG);
    if (me == last)
        hearth_drop(p, bytes, HEARTH_READ | HEARTH_WRITE);
    barrier();
    hearth_free(p);
    all_expected();
}

START_TEST(held_pages_follow_messages)
{
    exchange_held(false);
    exchange_held(true);
}
END_TEST

/* What is not in the range stays: no fetch, no diff. */
START_TEST(a_range_costs_what_it_has)
{
    int64_t     *p = pages_new(ranks * PAGES);
    hearth_stats before, after;

    for (int i = 0; i < ranks * PAGES; i++)
        copies_take(word(p, i), 1, 0);
    hearth_get_stats(&before);
    hearth_acquire(word(p, 0), (size_t)ranks * page_bytes());
    for (int i = 0; i < ranks * PAGES; i++)
        expect_eq(*word(p, i), 0);
    hearth_get_stats(&after);
    expect(after.getpages - before.getpages <= (uint64_t)ranks);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("range_sync");
    TCase *tc = tcase_create("messages");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, what_was_released_is_read_behind_a_message);
    tcase_add_test(tc, everything_that_was_released_is_read_behind_a_message);
    tcase_add_test(tc, halves_of_a_page_are_exchanged);
    tcase_add_test(tc, what_was_learnt_by_a_message_is_passed_on_by_a_lock);
    tcase_add_test(tc, what_was_learnt_by_a_message_is_passed_on_by_a_flag);
    tcase_add_test(tc, what_was_released_is_published_by_the_next_lock);
    tcase_add_test(tc, a_first_copy_that_an_acquire_dropped_is_tracked);
    tcase_add_test(tc, held_pages_follow_messages);
    tcase_add_test(tc, a_range_costs_what_it_has);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
