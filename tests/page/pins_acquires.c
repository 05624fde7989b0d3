/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Held copies at acquires: they are brought up to date where they are.
 */
#include "pins.h"

#include <string.h>

#include "page/page.h"
#include "transport/log.h"
#include "transport/transport.h"
#include "world.h"

enum { FEW = 6 };

static void
own_lock(void)
{
    hearth_lock(100 + me);
    hearth_unlock(100 + me);
}

START_TEST(a_read_held_copy_is_new_after_an_acquire)
{
    unsigned char *p = bytes_new(FEW);
    size_t         n = FEW * page_bytes();

    hearth_hold(p, n, HEARTH_READ);
    for (int round = 1; round < 6; round++) {
        int writer = round % ranks;

        if (me == writer)
            memset(p, round, n);
        barrier();
        expect(device_finds(p, round, n));
        barrier();
    }
    hearth_drop(p, n, HEARTH_READ);
    hearth_free(p);
    all_expected();
}
END_TEST

/* What others wrote comes beside what the device has written here since the
 * last release, and does not take it back. */
START_TEST(an_acquire_takes_back_nothing_that_was_not_released_yet)
{
    unsigned char *p = bytes_new(FEW);
    int64_t       *turn = pages_new(1);

    hearth_hold(p, FEW * page_bytes(), HEARTH_WRITE);
    for (int round = 1; round < 6; round++) {
        int writer = round % ranks;

        if (me == writer) {
            hearth_lock(1);
            for (size_t i = 0; i < FEW; i++)
                expect(device_sets(part(p, i, ranks), round, PART));
            *turn = round;
            hearth_unlock(1);
        }
        for (size_t i = 0; i < FEW; i++)
            expect(device_sets(part(p, i, me), round, PART));
        for (int64_t now = 0; me != writer && now != round;) {
            hearth_lock(1); /* in the middle of what this rank writes */
            now = *turn;
            if (now == round)
                for (size_t i = 0; i < FEW; i++)
                    expect(device_finds(part(p, i, ranks), round, PART));
            hearth_unlock(1);
        }
        for (size_t i = 0; i < FEW; i++)
            expect(device_finds(part(p, i, me), round, PART));
        barrier();
        for (int r = 0; r < ranks; r++)
            for (size_t i = 0; i < FEW; i++)
                expect(device_finds(part(p, i, r), round, PART));
        barrier();
    }
    hearth_drop(p, FEW * page_bytes(), HEARTH_WRITE);
    hearth_free(turn);
    hearth_free(p);
    all_expected();
}
END_TEST

/* The seam: what a device writes when a version has just come. */
static const struct hearthi_transport_ops *real;
static unsigned char                      *late;
static unsigned char                       late_value;

static void
late_write(void)
{
    for (size_t i = 0; i < FEW; i++)
        expect(device_sets(late + i * page_bytes(), late_value, PART));
}

static void
fetch_late(const struct hearthi_fetch *run, size_t n)
{
    real->data.fetch(run, n);
    late_write();
}

START_TEST(what_is_written_while_an_acquire_fetches_stays)
{
    struct hearthi_transport_ops ops = *hearthi_transport;
    unsigned char               *p = bytes_new(FEW);

    real = hearthi_transport;
    ops.data.fetch = fetch_late;
    late = part(p, 0, ranks + me);
    hearth_hold(p, FEW * page_bytes(), HEARTH_WRITE);
    for (int round = 1; round < 6; round++) {
        for (size_t i = 0; i < FEW; i++)
            memset(part(p, i, me), round, PART);
        late_value = (unsigned char)(100 + round);
        hearthi_transport = &ops;
        barrier();
        hearthi_transport = real;
        if (hearth_nodes() == 1)
            late_write();
        for (size_t i = 0; i < FEW; i++)
            if (hearth_nodes() > 1)
                expect_eq(*part(p, i, ranks + me), 100 + round);
        barrier();
        for (size_t i = 0; i < FEW; i++)
            for (int r = 0; r < ranks; r++) {
                expect_eq(*part(p, i, r), round);
                expect_eq(*part(p, i, ranks + r), 100 + round);
            }
        barrier();
    }
    hearth_drop(p, FEW * page_bytes(), HEARTH_WRITE);
    hearth_free(p);
    all_expected();
}
END_TEST

/* More notices than a log holds are merged; and rank 0, which acquires by the
 * program's own messages, passes "invalidate_all" on. */
START_TEST(held_copies_are_new_after_a_log_that_overflowed)
{
    enum { MANY = 2 * HEARTHI_LOG + 40 };
    unsigned char *p = hearth_alloc(MANY * page_bytes(), 1, hearth_on(0));
    size_t         size = page_bytes();
    int            last = ranks - 1;
    int64_t       *done = pages_new(1), now = 0;

    for (size_t i = 0; i < MANY; i++) /* shared, so that stores count */
        expect_eq(p[i * size], 0);
    barrier();
    if (me == last) {
        hearth_hold(p, size, HEARTH_READ);
        hearth_hold(p + 2 * size, size, HEARTH_WRITE);
    }
    barrier();
    barrier(); /* the home has seen that they are */
    if (me == 0) {
        hearth_lock(1);
        hearth_acquire(NULL, 0);
        for (size_t i = 0; i < MANY; i += 2) /* no sequence of faults */
            p[(MANY - 2 - i) * size] = 7;
        *done = 1;
        hearth_unlock(1);
    }
    while (me == last && now == 0) {
        hearth_lock(1);
        now = *done;
        expect(now == 0 || device_finds(p, 7, 1));
        expect(now == 0 || device_finds(p + 2 * size, 7, 1));
        hearth_unlock(1);
    }
    if (me == last && apart(0, last) && !hearthi_world.scope)
        expect(counted().everything > 0);
    if (me == last) {
        hearth_drop(p, size, HEARTH_READ);
        hearth_drop(p + 2 * size, size, HEARTH_WRITE);
    }
    hearth_free(done);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Its flag may not have been seen when it was fetched; the flag has arrived by
 * now, and what is fetched once more may stay. */
START_TEST(a_held_first_copy_is_fetched_once_more_and_not_again)
{
    for (int how = HEARTH_READ; how <= HEARTH_WRITE; how++) {
        unsigned char *p = bytes_new(1 + (size_t)ranks);
        uint64_t       page =
            hearthi_page_of(p) + (uint64_t)(me + 1) % (uint64_t)ranks;
        hearth_stats a, b, c;
        uint64_t     first;

        hearthi_table_lock();
        first = hearthi_is_home(hearthi_state_of(page)) ? 0 : 1;
        hearthi_table_unlock();
        hearth_hold(hearthi_app(page), 1, how);
        expect_eq((hearthi_table.mark[page] & HEARTHI_PROVISIONAL) != 0,
                  first);
        a = counted();
        own_lock();
        b = counted();
        own_lock();
        c = counted();
        expect_eq(b.getpages - a.getpages, first);
        expect_eq(hearthi_table.mark[page] & HEARTHI_PROVISIONAL, 0);
        expect_eq(c.getpages - b.getpages, 0);
        hearth_drop(hearthi_app(page), 1, how);
        hearth_free(p);
    }
    all_expected();
}
END_TEST

/* The step happens at the home, past the copies. */
START_TEST(an_atomic_step_is_seen_in_a_held_copy)
{
    int64_t *p = pages_new(ranks);

    for (int how = HEARTH_READ; how <= HEARTH_WRITE; how++) {
        int64_t *w = word(p, (me + 1) % ranks);
        int64_t  got = 0;

        barrier();
        hearth_hold(p, (size_t)ranks * page_bytes(), how);
        for (int64_t k = 0; k < 5; k++) {
            int64_t old = hearth_fetch_add(w, 1);

            expect_eq(device_out(&got, w, sizeof got), sizeof got);
            expect_eq(got, old + 1);
        }
        barrier();
        hearth_drop(p, (size_t)ranks * page_bytes(), how);
        expect_eq(*w, 5 * how);
    }
    hearth_free(p);
    all_expected();
}
END_TEST

void
holds_acquires(Suite *s)
{
    TCase *tc = tcase_create("acquires");

    tcase_add_unchecked_fixture(tc, fixture_start_eager, fixture_stop);
    tcase_add_test(tc, a_read_held_copy_is_new_after_an_acquire);
    tcase_add_test(tc,
                   an_acquire_takes_back_nothing_that_was_not_released_yet);
    tcase_add_test(tc, what_is_written_while_an_acquire_fetches_stays);
    tcase_add_test(tc, held_copies_are_new_after_a_log_that_overflowed);
    tcase_add_test(tc, a_held_first_copy_is_fetched_once_more_and_not_again);
    tcase_add_test(tc, an_atomic_step_is_seen_in_a_held_copy);
    suite_add_tcase(s, tc);
}
