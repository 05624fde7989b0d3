/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Small programs with one thing to see in each: what locks, flags and
 * barriers make visible.  Roles go round the ranks, and homes go round too,
 * so that writer, reader and home are the same rank, node-mates and strangers
 * in turn.
 *
 * Unless a test says otherwise it holds under scope consistency too: data of
 * a lock are used under that lock, everything else between barriers.
 */
#include "litmus.h"

enum { ROUNDS = 6 };

static void
wait_for(int lock, const volatile int64_t *word, int64_t value)
{
    int64_t now;

    do {
        hearth_lock(lock);
        now = *word;
        hearth_unlock(lock);
    } while (now != value);
}

static void
put_under(int lock, int64_t *word, int64_t value)
{
    hearth_lock(lock);
    *word = value;
    hearth_unlock(lock);
}

START_TEST(a_message_written_under_the_lock_is_seen)
{
    int64_t *p = pages_new(2 * ranks + 1);

    for (int k = 1; k <= rounds_of(ROUNDS) * ranks; k++) {
        int64_t *data = word(p, k % (2 * ranks)) + 8;
        int64_t *ready = word(p, k / 2 % (2 * ranks));
        int      lock = 3 * k;

        if (me == k % ranks) {
            dawdle();
            hearth_lock(lock);
            *data = 10 * k;
            *ready = k;
            hearth_unlock(lock);
        } else {
            wait_for(lock, ready, k);
            hearth_lock(lock);
            expect_eq(*data, 10 * k);
            hearth_unlock(lock);
        }
        barrier();
        expect_eq(*data, 10 * k);
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Release consistency only: data are written before the critical section and
 * read after it. */
START_TEST(a_message_written_before_the_lock_is_seen)
{
    int64_t *p = pages_new(2 * ranks + 1);

    for (int k = 1; release_consistency() && k <= rounds_of(ROUNDS) * ranks;
         k++) {
        int64_t *data = word(p, k % (2 * ranks)) + 8;
        int64_t *ready = word(p, k / 2 % (2 * ranks));

        expect(*data != 10 * k); /* everybody has a copy to be dropped */
        barrier();
        if (me == k % ranks) {
            dawdle();
            *data = 10 * k;
            put_under(1, ready, k);
        } else {
            wait_for(1, ready, k);
            expect_eq(*data, 10 * k);
        }
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(of_two_stores_one_is_seen)
{
    int64_t *p = pages_new(2 * ranks);
    int64_t *seen = pages_new(2);

    for (int k = 1; k <= rounds_of(ROUNDS) * ranks; k++) {
        int64_t *mine = word(p, (k + me) % (2 * ranks));
        int64_t *other;
        int      a = k % ranks, b = (k + 1) % ranks;

        if (a != b && (me == a || me == b)) {
            other = word(p, (k + a + b - me) % (2 * ranks));
            put_under(10 + me, mine, k);
            hearth_lock(10 + a + b - me);
            seen[me == a] = *other;
            hearth_unlock(10 + a + b - me);
        }
        barrier();
        expect(a == b || seen[0] == k || seen[1] == k);
        barrier();
    }
    hearth_free(seen);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Release consistency: x goes from the first to the last rank through locks
 * of which each is shared by two of them only; those between never touch x. */
START_TEST(visibility_passes_through_a_chain_of_locks)
{
    int64_t *p = pages_new(2 * ranks + 2);

    for (int k = 1; release_consistency() && k <= rounds_of(ROUNDS) * ranks;
         k++) {
        int64_t *x = word(p, (k + k / ranks) % (2 * ranks)) + 5;
        int      place = (me + k) % ranks; /* in the chain */

        expect(*x != k); /* a copy to be dropped */
        barrier();
        if (place == 0)
            *x = k;
        else
            wait_for(20 + place, word(p, 2 * ranks) + place, k);
        if (place == ranks - 1)
            expect_eq(*x, k);
        else
            put_under(21 + place, word(p, 2 * ranks) + place + 1, k);
        barrier();
        expect_eq(*x, k);
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* As above, and every rank on the way adds to x without any lock held. */
START_TEST(a_chain_of_locks_carries_updates)
{
    int64_t *p = pages_new(2 * ranks + 2);

    for (int k = 1; release_consistency() && k <= rounds_of(ROUNDS) * ranks;
         k++) {
        int64_t *x = word(p, k % (2 * ranks)) + 5;
        int64_t  before = *x;
        int      place = (me + k) % ranks;

        barrier();
        if (place > 0)
            wait_for(30 + place, word(p, 2 * ranks) + place, k);
        expect_eq(*x, before + place);
        ++*x;
        if (place < ranks - 1)
            put_under(31 + place, word(p, 2 * ranks) + place + 1, k);
        barrier();
        expect_eq(*x, before + ranks);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Locks within locks, given back in either order; each count is protected by
 * its own lock and lies beside the other. */
START_TEST(critical_sections_may_overlap)
{
    enum { STEPS = 12 };
    int64_t *p = pages_new(1);

    for (int k = 0; k < STEPS; k++) {
        hearth_lock(80);
        p[0]++;
        hearth_lock(81);
        p[1]++;
        p[0]++;
        hearth_unlock(k % 2 ? 80 : 81);
        p[k % 2]++;
        hearth_unlock(k % 2 ? 81 : 80);
    }
    barrier();
    expect_eq(p[0], ranks * STEPS * 5 / 2);
    expect_eq(p[1], ranks * STEPS * 3 / 2);
    hearth_free(p);
    all_expected();
}
END_TEST

/* A flag is a release of all that its setter wrote or has seen, also under
 * scope consistency. */
START_TEST(a_flag_shows_what_its_setter_wrote)
{
    int64_t *p = pages_new(2 * ranks);

    for (int k = 1; k <= rounds_of(ROUNDS) * ranks; k++) {
        int64_t *data = word(p, k % (2 * ranks));

        expect(*data != k); /* a copy to be dropped */
        barrier();
        if (me == k % ranks) {
            dawdle();
            *data = k;
            hearth_flag_set(k);
        } else {
            hearth_flag_wait(k);
            expect_eq(*data, k);
        }
        barrier();
        if (me == (k + 1) % ranks)
            hearth_flag_reset(k);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Round the ranks from flag to flag; everybody adds to x, and to a page that
 * the next one does not look at but the one after it does. */
START_TEST(flags_pass_on_what_was_seen)
{
    int64_t *p = pages_new(3 * ranks + 1);

    for (int k = 1; k <= rounds_of(ROUNDS); k++) {
        int64_t *x = word(p, 2 * ranks + k % ranks);
        int      place = (me + k) % ranks;

        if (place > 0)
            hearth_flag_wait(ranks * k + place);
        if (place > 1)
            expect_eq(*word(p, place - 2), k);
        *word(p, place) = k;
        ++*x;
        if (place < ranks - 1)
            hearth_flag_set(ranks * k + place + 1);
        barrier();
        expect_eq(*x, (int64_t)ranks * ((k - 1) / ranks + 1));
        expect_eq(*word(p, ranks - 1), k);
        barrier();
    }
    for (int i = 0; i < HEARTH_FLAGS; i++)
        if (i % ranks == me)
            hearth_flag_reset(i);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* What was seen under a lock is passed on by a flag. */
START_TEST(a_flag_passes_on_what_a_lock_showed)
{
    int64_t *p = pages_new(ranks + 2);

    for (int k = 1; k <= rounds_of(ROUNDS) * ranks; k++) {
        int64_t *x = word(p, k % ranks);
        int      place = (me + k) % ranks;

        expect(*x != k);
        barrier();
        if (place == 0) {
            put_under(90, x, k);
        } else if (place == 1) {
            wait_for(90, x, k);
            hearth_flag_set(500 + k);
        } else {
            hearth_flag_wait(500 + k);
            expect_eq(*x, k);
        }
        barrier();
        expect_eq(*x, k);
    }
    for (int k = 1; me == 0 && k <= rounds_of(ROUNDS) * ranks; k++)
        hearth_flag_reset(500 + k);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Each rank adds to words of two homes before it counts itself under a lock:
 * whoever finds so many counted finds no less added.  Half of the adds are
 * made inside. */
START_TEST(what_was_added_before_a_release_is_there_behind_its_acquire)
{
    enum { STEPS = 10 };
    int64_t *p = pages_new(3);

    for (int k = 0; k < STEPS; k++) {
        int64_t counted;

        hearth_add(word(p, 0), 1);
        hearth_lock(85);
        hearth_add32((int32_t *)(void *)word(p, 1), 1);
        counted = ++*word(p, 2);
        expect(hearth_fetch_add(word(p, 0), 0) >= counted);
        expect(hearth_fetch_add32((int32_t *)(void *)word(p, 1), 0) >=
               (int32_t)counted);
        hearth_unlock(85);
    }
    barrier();
    for (int i = 0; i < 3; i++)
        expect_eq(i == 1 ? *(int32_t *)(void *)word(p, 1) : *word(p, i),
                  ranks * STEPS);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* A word of data and a word that is added to, of different homes: who has
 * waited for the sum, and acquires, finds the data. */
START_TEST(what_was_released_before_an_add_is_seen_behind_a_wait)
{
    int64_t *p = pages_new(2 * ranks);

    for (int k = 1; k <= rounds_of(ROUNDS); k++) {
        int      writer = k % ranks;
        int64_t *data = word(p, k % (2 * ranks)) + 7;
        int64_t *sum = word(p, (k + 1) % (2 * ranks));
        int64_t  before;

        expect(*data != k); /* a copy to be dropped */
        before = hearth_fetch_add(sum, 0);
        barrier();
        if (me == writer) {
            dawdle();
            *data = k;
            hearth_release(data, sizeof *data);
            hearth_add(sum, 1);
            hearth_atomic_flush();
        }
        expect_eq(hearth_wait_until(sum, HEARTH_GT, before), before + 1);
        hearth_acquire(data, sizeof *data);
        expect_eq(*data, k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("litmus");
    TCase *tc = tcase_create("order");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, a_message_written_under_the_lock_is_seen);
    tcase_add_test(tc, a_message_written_before_the_lock_is_seen);
    tcase_add_test(tc, of_two_stores_one_is_seen);
    tcase_add_test(tc, visibility_passes_through_a_chain_of_locks);
    tcase_add_test(tc, a_chain_of_locks_carries_updates);
    tcase_add_test(tc, critical_sections_may_overlap);
    tcase_add_test(tc, a_flag_shows_what_its_setter_wrote);
    tcase_add_test(tc, flags_pass_on_what_was_seen);
    tcase_add_test(tc, a_flag_passes_on_what_a_lock_showed);
    tcase_add_test(
        tc, what_was_added_before_a_release_is_there_behind_its_acquire);
    tcase_add_test(tc, what_was_released_before_an_add_is_seen_behind_a_wait);
    suite_add_tcase(s, tc);
    suite_add_tcase(s, litmus_pages());
    suite_add_tcase(s, litmus_homes());
    return mpi_main(argc, argv, s);
}
