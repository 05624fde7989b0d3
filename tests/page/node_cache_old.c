/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Nothing is taken from another rank of the node that is too old, is being
 * written, or is another page's by now.
 */
#include <config.h>

#include "node_cache.h"

enum { ROUNDS = 40 };

/* ---- new enough ---- */

void
publish(enum order o, int64_t *p, int64_t value)
{
    if (o == LOCK)
        hearth_lock(1);
    if (o == RWLOCK)
        hearth_wrlock(1);
    *p = value;
    if (o == LOCK)
        hearth_unlock(1);
    if (o == RWLOCK)
        hearth_rwunlock(1);
    if (o == FLAG)
        hearth_flag_set(1);
    if (o == MESSAGE)
        hearth_release(p, sizeof *p);
}

void
see(enum order o, const int64_t *p, int64_t value)
{
    if (o == LOCK)
        hearth_lock(1);
    if (o == RWLOCK)
        hearth_rdlock(1);
    if (o == FLAG)
        hearth_flag_wait(1);
    if (o == MESSAGE)
        hearth_acquire(p, sizeof *p);
    expect_eq(*(volatile const int64_t *)p, value);
    if (o == LOCK)
        hearth_unlock(1);
    if (o == RWLOCK)
        hearth_rwunlock(1);
}

void
owner_reads(const int64_t *p, int next)
{
    if (me != owner)
        return;
    expect_eq(p[0], 0);
    tell(next, 1);
}

void
owner_told(void)
{
    told_by(owner, 1);
}

void
next_is_seen(int64_t *p)
{
    if (me == taker) {
        tell(HOME, 2);
        told_by(HOME, 3);
        see(LOCK, p, 1);
    }
    if (me == HOME && taker >= 0) {
        told_by(taker, 2);
        publish(LOCK, p, 1);
        tell(taker, 3);
    }
}

/* The owner's copy is from before the write that the taker knows of. */
static void
old_play(enum order o, int64_t *p)
{
    first_copies_pass(p);
    owner_reads(p, HOME);
    if (me == HOME && taker >= 0) {
        owner_told();
        publish(o, p, 1);
        tell(taker, 2);
    }
    if (me == taker) {
        told_by(HOME, 2);
        see(o, p, 1);
    }
    barrier();
    if (me == HOME)
        hearth_flag_reset(1);
    barrier();
}

START_TEST(what_was_fetched_before_an_acquire_is_not_taken)
{
    int64_t *p = page_new();

    for (int o = 0; o < ORDERS; o++)
        old_play((enum order)o, p);
    hearth_free(p);
    all_expected();
}
END_TEST

/* The owner writes its old copy, and closes it, after the taker's acquire. */
START_TEST(a_copy_that_was_written_is_as_old_as_its_fetch)
{
    int64_t *p = page_new();

    first_copies_pass(p);
    owner_reads(p, HOME);
    if (me == owner) {
        told_by(taker, 3);
        hearth_lock(2);
        p[page_words() - 1] = 7;
        hearth_unlock(2);
        tell(taker, 4);
    }
    if (me == HOME && taker >= 0) {
        owner_told();
        publish(LOCK, p, 1);
        tell(taker, 2);
    }
    if (me == taker) {
        told_by(HOME, 2);
        hearth_lock(1);
        tell(owner, 3);
        told_by(owner, 4);
        expect_eq(p[0], 1);
        hearth_unlock(1);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Who is first out of a barrier finds copies of one that is still inside,
 * whose news are many. */
START_TEST(what_was_fetched_before_a_barrier_is_not_taken)
{
    enum { PAGES = 1024 };
    int64_t *p =
        hearth_alloc(PAGES * page_words(), sizeof *p, hearth_on(HOME));
    volatile int64_t *last = p + (PAGES - 1) * page_words();

    for (int round = 1; round <= ROUNDS; round++) {
        barrier();
        for (int i = 0; i < PAGES; i++) {
            if (me == HOME)
                p[(size_t)i * page_words()] = round;
        }
        barrier();
        expect_eq(*last, round);
        for (int i = 0; me == owner && i < PAGES; i += 2)
            expect_eq(p[(size_t)i * page_words()], round);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Its diff has come home, and its copy was given up. */
START_TEST(what_a_rank_wrote_itself_is_in_what_it_takes)
{
    enum { MANY = 64 };
    int64_t *p = page_new();
    int64_t *other =
        hearth_alloc(MANY * page_words(), sizeof *p, hearth_on(HOME));

    first_copies_pass(p);
    owner_reads(p, taker);
    if (me == taker) {
        owner_told();
        p[1] = 5;
        for (int i = 0; i < MANY; i++)
            expect_eq(other[(size_t)i * page_words()], 0);
        expect_eq(p[1], 5);
        expect_eq(hearth_fetch_add(&p[2], 3), 0);
        expect_eq(*(volatile int64_t *)&p[2], 3);
    }
    barrier();
    hearth_free(p);
    hearth_free(other);
    all_expected();
}
END_TEST

START_TEST(what_an_atomic_step_left_is_in_what_is_taken)
{
    int64_t *p = page_new();

    first_copies_pass(p);
    owner_reads(p, taker);
    if (me == taker) {
        owner_told();
        expect_eq(hearth_fetch_add(&p[1], 3), 0);
        expect_eq(*(volatile int64_t *)&p[1], 3);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* A byte is stored and stored back, so nobody is told of it. */
START_TEST(a_page_that_is_being_written_is_not_taken)
{
    int64_t *p = page_new();

    first_copies_pass(p);
    if (me == owner) {
        hearth_lock(1);
        expect_eq(*(volatile int64_t *)p, 0);
        *(volatile int64_t *)p = 7;
        tell(taker, 1);
        told_by(taker, 2);
        *(volatile int64_t *)p = 0;
        hearth_unlock(1);
        tell(taker, 3);
    }
    if (me == taker) {
        told_by(owner, 1);
        expect_eq(p[1], 0);
        tell(owner, 2);
        told_by(owner, 3);
        hearth_lock(1);
        expect_eq(*(volatile int64_t *)p, 0);
        hearth_unlock(1);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- frames that others get ---- */

/* With few frames each has another page all the time. */
START_TEST(no_page_is_taken_that_became_another_meanwhile)
{
    enum { PAGES = 48, READS = 12000 };
    int64_t *p =
        hearth_alloc(PAGES * page_words(), sizeof *p, hearth_on(HOME));
    uint64_t state = (uint64_t)me + 1;

    for (size_t i = 0; me == HOME && i < PAGES * page_words(); i++)
        p[i] = (int64_t)(i / page_words());
    barrier();
    for (int k = 0; k < READS; k++) {
        int            i = (int)(hearthi_random(&state) % PAGES);
        const int64_t *page = p + (size_t)i * page_words();

        for (size_t w = 0; w < page_words(); w++)
            expect_eq(page[w], i);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* A held copy gets new bytes where it is. */
START_TEST(a_rank_of_the_node_of_one_that_holds_a_page_sees_what_is_new)
{
    int64_t *p = page_new();

    first_copies_pass(p);
    if (me == owner)
        hearth_hold(p, page_bytes(), HEARTH_READ);
    for (int round = 1; round <= ROUNDS; round++) {
        mpi_barrier();
        if (me == taker)
            expect_eq(p[0], round - 1);
        barrier();
        for (int w = 0; me == HOME && w < (int)page_words(); w++)
            p[w] = round;
        barrier();
    }
    if (me == owner)
        hearth_drop(p, page_bytes(), HEARTH_READ);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Copies that stay until their page is freed. */
START_TEST(what_was_freed_is_not_taken)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t *p = page_new();

        if (me == taker)
            expect_eq(p[0], 0);
        mpi_barrier();
        first_copies_pass(p);
        if (me == HOME)
            p[0] = p[page_words() - 1] = round + 1;
        barrier();
        expect_eq(p[0], round + 1);
        hearth_free(p);
    }
    all_expected();
}
END_TEST

void
old_ones_add(TCase *tc)
{
    tcase_add_test(tc, what_was_fetched_before_an_acquire_is_not_taken);
    tcase_add_test(tc, a_copy_that_was_written_is_as_old_as_its_fetch);
    tcase_add_test(tc, what_was_fetched_before_a_barrier_is_not_taken);
    tcase_add_test(tc, what_a_rank_wrote_itself_is_in_what_it_takes);
    tcase_add_test(tc, what_an_atomic_step_left_is_in_what_is_taken);
    tcase_add_test(tc, a_page_that_is_being_written_is_not_taken);
    tcase_add_test(
        tc, a_rank_of_the_node_of_one_that_holds_a_page_sees_what_is_new);
    tcase_add_test(tc, what_was_freed_is_not_taken);
}

void
small_ones_add(TCase *tc)
{
    tcase_add_test(tc, what_was_fetched_before_an_acquire_is_not_taken);
    tcase_add_test(tc, what_a_rank_wrote_itself_is_in_what_it_takes);
    tcase_add_test(tc, no_page_is_taken_that_became_another_meanwhile);
}
