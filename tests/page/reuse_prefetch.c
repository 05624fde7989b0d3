/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages that are brought because they were used before: that nobody reads
 * anything old in them, whatever happens to them before they are touched.
 */
#include <config.h>

#include <string.h>

#include "fixture.h"
#include "reuse_prefetch.h"

enum { LOCK = 1, TAG = 7 };

static int64_t value; /* of all of them */

int64_t *
used(int64_t *p, int k)
{
    return word(p, 11 * (k / 2) + 5 * (k % 2));
}

static int
reader(void)
{
    return ranks - 1;
}

bool
plays(void)
{
    return apart(0, reader());
}

bool
is_reader(void)
{
    return plays() && me == reader();
}

void
all_write(int64_t *p)
{
    value++;
    for (int k = 0; plays() && me == 0 && k < USED; k++)
        *used(p, k) = value;
}

void
all_read(int64_t *p)
{
    for (int k = 0; is_reader() && k < USED; k++)
        expect_eq(*(volatile int64_t *)used(p, k), value);
}

/* Rank 0 writes all, then they are read, or not. */
void
rounds(int64_t *p, int n, bool read)
{
    for (; n > 0; n--) {
        all_write(p);
        barrier();
        if (read)
            all_read(p);
        barrier();
    }
}

int64_t *
trained(int n)
{
    int64_t *p = hearth_alloc((size_t)PAGES * page_bytes() / sizeof *p,
                              sizeof *p, hearth_on(0));

    value = 0;
    rounds(p, n, true);
    return p;
}

/* The pages have been written, and are about to be brought or here. */
int64_t *
brought(void)
{
    int64_t *p = trained(TRAIN);

    all_write(p);
    barrier();
    return p;
}

void
brought_end(int64_t *p)
{
    barrier();
    all_read(p);
    hearth_free(p);
    all_expected();
}

hearth_stats
since(const hearth_stats *before)
{
    hearth_stats s;

    hearth_get_stats(&s);
    s.getpages -= before->getpages;
    s.predicted -= before->predicted;
    s.predicted_used -= before->predicted_used;
    s.read_faults -= before->read_faults;
    return s;
}

/* ---- before it is touched ---- */

/* One of the pages that is touched ends what was begun for all. */
static void
overtake(bool touch)
{
    int64_t *p = brought();

    if (is_reader() && touch)
        expect_eq(*(volatile int64_t *)used(p, 0), value);
    value++;
    if (is_reader()) {
        tell(0, TAG);
        told_by(0, TAG);
        hearth_lock(LOCK);
        hearth_unlock(LOCK);
        all_read(p);
    } else if (plays() && me == 0) {
        told_by(reader(), TAG);
        hearth_lock(LOCK);
        value--;
        all_write(p);
        hearth_unlock(LOCK);
        tell(reader(), TAG);
    }
    brought_end(p);
}

START_TEST(an_acquire_drops_what_is_on_its_way)
{
    overtake(false);
}
END_TEST

START_TEST(an_acquire_drops_what_is_here_and_was_not_touched)
{
    overtake(true);
}
END_TEST

START_TEST(it_may_be_held)
{
    int64_t     *p = brought();
    hearth_stats s;

    for (int k = 0; is_reader() && k < USED; k += 4) {
        hearth_hold(used(p, k), sizeof *p, HEARTH_READ);
        s = since(&(hearth_stats){ 0 });
        expect_eq(*(volatile int64_t *)used(p, k), value);
        expect_eq(since(&s).read_faults, 0);
        hearth_drop(used(p, k), sizeof *p, HEARTH_READ);
    }
    brought_end(p);
}
END_TEST

START_TEST(an_atomic_step_is_seen_in_it)
{
    int64_t *p = brought();

    for (int k = 0; is_reader() && k < USED; k++)
        expect_eq(hearth_fetch_add(used(p, k), 1), value);
    value++;
    all_read(p);
    brought_end(p);
}
END_TEST

START_TEST(it_may_be_freed_and_used_for_something_else)
{
    for (int i = 0; i < 4; i++) {
        hearth_free(brought());
        brought_end(brought());
    }
}
END_TEST

START_TEST(it_may_be_overwritten)
{
    int64_t *p = brought();

    value++;
    for (int k = 0; is_reader() && k < USED; k++) {
        hearth_overwrite(used(p, k), page_bytes());
        for (size_t i = 0; i < page_bytes() / sizeof *p; i++)
            used(p, k)[i] = value;
    }
    barrier();
    for (int k = 0; plays() && k < USED; k++)
        for (size_t i = 0; i < page_bytes() / sizeof *p; i++)
            expect_eq(used(p, k)[i], value);
    brought_end(p);
}
END_TEST

/* ---- other ways to learn of writes ---- */

START_TEST(what_two_write_beside_each_other_arrives)
{
    int64_t *p = trained(TRAIN);

    for (int64_t i = 1; i < LONG; i++) {
        for (int k = 0; plays() && k < USED; k++)
            if (me == 0 || is_reader())
                used(p, k)[1 + (me != 0)] = i;
        barrier();
        for (int k = 0; plays() && k < USED; k++)
            expect(used(p, k)[1] == i && used(p, k)[2] == i);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(the_data_of_a_lock_come_with_it)
{
    int64_t *p = trained(0);

    for (int64_t i = 0; plays() && i < LONG; i++) {
        int other = i % 2 == 0 ? reader() : 0;

        if (me == reader() - other) {
            hearth_lock(LOCK);
            for (int k = 0; k < USED; k++)
                expect_eq((*used(p, k))++, i);
            hearth_unlock(LOCK);
            tell(other, TAG);
        } else if (me == other) {
            told_by(reader() - other, TAG);
        }
    }
    if (is_reader())
        expect(since(&(hearth_stats){ 0 }).predicted_used > 0);
    value = plays() ? LONG : 0;
    brought_end(p);
}
END_TEST

START_TEST(what_the_programs_messages_tell_of_is_brought)
{
    int64_t *p = trained(TRAIN);

    for (int i = 0; i < LONG; i++) {
        all_write(p);
        if (plays() && me == 0) {
            hearth_release(NULL, 0);
            tell(reader(), TAG);
            told_by(reader(), TAG);
        } else if (is_reader()) {
            told_by(0, TAG);
            hearth_acquire(NULL, 0);
            all_read(p);
            tell(0, TAG);
        }
    }
    brought_end(p);
}
END_TEST

/* ---- all of it ---- */

static void
small_start(void)
{
    fixture_start_with("CACHE", bytes_of_pages(16));
}

static TCase *
litmus(const char *name, void (*start)(void))
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, start, fixture_stop);
    tcase_add_test(tc, an_acquire_drops_what_is_on_its_way);
    tcase_add_test(tc, an_acquire_drops_what_is_here_and_was_not_touched);
    tcase_add_test(tc, it_may_be_held);
    tcase_add_test(tc, an_atomic_step_is_seen_in_it);
    tcase_add_test(tc, it_may_be_freed_and_used_for_something_else);
    tcase_add_test(tc, it_may_be_overwritten);
    tcase_add_test(tc, what_two_write_beside_each_other_arrives);
    tcase_add_test(tc, the_data_of_a_lock_come_with_it);
    tcase_add_test(tc, what_the_programs_messages_tell_of_is_brought);
    return tc;
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("predict");

    suite_add_tcase(s, predict_costs("costs", fixture_start));
    suite_add_tcase(s, predict_costs("off", fixture_start_unforeseen));
    suite_add_tcase(s, litmus("cache", fixture_start));
    suite_add_tcase(s, litmus("small", small_start));
    return mpi_main(argc, argv, s);
}
