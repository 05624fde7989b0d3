/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The same for what happens to one page: several writers, twins and diffs,
 * first copies, copies that stay.
 */
#include <mpi.h>
#include <string.h>

#include "litmus.h"

enum { ROUNDS = 6 };

/* Two ranks may write different units of a page at the same time: bytes,
 * words of 4 and 8 bytes, by the size of the elements.  Homes among them. */
static void
interleave_writes(size_t size, size_t unit, hearth_layout layout)
{
    size_t         count = (3 * page_bytes() + 40) / size;
    size_t         units = count * size / unit;
    unsigned char *p = hearth_alloc(count, size, layout);

    for (int k = 1; k <= 3; k++) {
        for (size_t i = 0; i < units; i++)
            if ((i + (size_t)k) % (size_t)ranks == (size_t)me)
                memset(p + i * unit, k * 16 + me, unit);
        barrier();
        for (size_t i = 0; i < units * unit; i++)
            expect_eq(p[i],
                      (size_t)k * 16 + (i / unit + (size_t)k) % (size_t)ranks);
        barrier();
    }
    hearth_free(p);
}

START_TEST(neighbouring_units_have_different_writers)
{
    static const struct {
        size_t size, unit;
    } shapes[] = { { 1, 1 },  { 2, 1 }, { 3, 1 },  { 4, 4 },
                   { 12, 4 }, { 8, 8 }, { 40, 8 }, { 10, 2 } };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        interleave_writes(shapes[i].size, shapes[i].unit, hearth_cyclic(1));
        interleave_writes(shapes[i].size, shapes[i].unit,
                          hearth_on((int)i % ranks));
        all_expected();
    }
}
END_TEST

/* Every rank has a byte of one page and a lock of its own: no update of
 * anybody's byte is lost to what the neighbours bring home. */
START_TEST(bytes_of_one_page_grow_under_different_locks)
{
    int            steps = rounds_of(15);
    unsigned char *p = hearth_alloc(page_bytes(), 1, hearth_on(ranks / 2));

    for (int k = 1; k <= steps; k++) {
        hearth_lock(40 + me);
        expect_eq(p[100 + me], k - 1);
        p[100 + me] = (unsigned char)k;
        hearth_unlock(40 + me);
        dawdle();
    }
    barrier();
    for (int r = 0; r < ranks; r++)
        expect_eq(p[100 + r], steps);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Pages are written and never read by their writer, whole or in part. */
START_TEST(pages_may_be_written_without_being_read)
{
    enum { PAGES = 8 };
    size_t         bytes = (size_t)ranks * PAGES * page_bytes();
    unsigned char *p = hearth_alloc(bytes, 1, hearth_block());

    for (int k = 1; k <= 4; k++) {
        int            part = (me + k) % ranks; /* whose home it is */
        unsigned char *mine = p + (size_t)part * PAGES * page_bytes();

        memset(mine, 16 * k + me, (PAGES - 1) * page_bytes());
        mine[(PAGES - 1) * page_bytes() + k] = (unsigned char)(16 * k + me);
        barrier();
        for (size_t i = 0; i < bytes; i += 97) {
            int writer =
                ((int)(i / page_bytes() / PAGES) + 16 * ranks - k) % ranks;

            if (i / page_bytes() % PAGES < PAGES - 1)
                expect_eq(p[i], 16 * k + writer);
        }
        for (int r = 0; r < ranks; r++)
            expect_eq(
                p[((size_t)r * PAGES + PAGES - 1) * page_bytes() + (size_t)k],
                16 * k + (r + 16 * ranks - k) % ranks);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* The home writes its page freely, unshared; another rank fetches it for the
 * first time because of a byte of its own, at any moment; then it takes the
 * lock and must see what the home wrote under it, since the copy is
 * provisional.  A new page each time, since this happens once per page. */
START_TEST(a_first_copy_hides_nothing)
{
    enum { PAGES = 24 };
    unsigned char *p = hearth_alloc((size_t)(ranks * PAGES) * page_bytes(), 1,
                                    hearth_block());
    int64_t       *turn = pages_new(ranks);

    barrier();
    for (int k = 1; k < rounds_of(PAGES); k++) {
        int            home = k % ranks;
        unsigned char *page = p + (size_t)(home * PAGES + k) * page_bytes();

        if (me == home) {
            for (int step = 1; step <= 3; step++) {
                page[8] = (unsigned char)step; /* only for ourselves */
                dawdle();
                hearth_lock(50);
                page[0] = (unsigned char)(step * 10);
                *word(turn, home) = 10 * k + step;
                hearth_unlock(50);
            }
        } else {
            int64_t step;

            dawdle();
            expect_eq(page[64 + me], 0);
            do {
                hearth_lock(50);
                step = *word(turn, home) - 10 * k;
                if (step >= 0)
                    expect_eq(page[0], step * 10);
                page[64 + me] = (unsigned char)k;
                hearth_unlock(50);
            } while (step < 3);
        }
        barrier();
        for (int r = 0; r < ranks; r++)
            expect_eq(page[64 + r], r == home ? 0 : k);
        expect_eq(page[0], 30);
        expect_eq(page[8], 3);
    }
    hearth_free(turn);
    hearth_free(p);
    all_expected();
}
END_TEST

/* The same where a barrier lies behind the first copies, so many that homes
 * arm their pages when they leave it: others are out before them or after, and
 * have a copy then that is to stay. */
START_TEST(a_first_copy_before_a_barrier_hides_nothing)
{
    enum { PAGES = 12, BESIDE = 24 };
    unsigned char *p = hearth_alloc((size_t)(ranks * PAGES) * page_bytes(), 1,
                                    hearth_block());
    unsigned char *beside = hearth_alloc(
        (size_t)(ranks * PAGES * BESIDE) * page_bytes(), 1, hearth_block());

    barrier();
    for (int k = 1; k < rounds_of(PAGES); k++) {
        int            home = k % ranks;
        unsigned char *page = p + (size_t)(home * PAGES + k) * page_bytes();

        if (me == home)
            page[0] = 1;
        else
            expect_eq(page[64 + me], 0);
        for (int i = 0; i < BESIDE; i++)
            expect_eq(beside[(size_t)((home * PAGES + k) * BESIDE + i) *
                             page_bytes()],
                      0);
        barrier();
        dawdle();
        for (int step = 2; step <= 3; step++) {
            if (me != home)
                expect_eq(page[0], step - 1);
            barrier();
            if (me == home)
                page[0] = (unsigned char)step;
            barrier();
        }
        hearth_lock(51);
        expect_eq(page[0], 3);
        hearth_unlock(51);
    }
    barrier();
    hearth_free(beside);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Bytes of ours that no lock covers are dirty while an acquire drops the
 * page, since another rank wrote it: they go home first. */
START_TEST(a_dirty_page_that_must_be_dropped_is_kept)
{
    unsigned char *p =
        hearth_alloc((size_t)ranks * page_bytes(), 1, hearth_cyclic(1));

    for (int k = 1; k <= rounds_of(ROUNDS); k++) {
        for (int step = 0; step < 3 * ranks; step++) {
            unsigned char *page = p + step % ranks * page_bytes();

            page[1000 + 8 * me + step / ranks] = (unsigned char)(16 * k + me);
            dawdle();
            hearth_lock(60);
            page[0]++;
            hearth_unlock(60);
            expect_eq(page[1000 + 8 * me + step / ranks], 16 * k + me);
        }
        barrier();
        for (int i = 0; i < ranks * ranks * 3; i++)
            expect_eq(p[i % ranks * page_bytes() + 1000 +
                        8 * (i / ranks % ranks) + i / ranks / ranks],
                      16 * k + i / ranks % ranks);
        for (int r = 0; r < ranks; r++)
            expect_eq(p[r * page_bytes()], 3 * ranks * k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* A writes 1, B puts the old value back, A writes a neighbour: what A brings
 * home then must not contain its 1. */
START_TEST(an_old_value_does_not_come_back)
{
    unsigned char *p = hearth_alloc(page_bytes(), 1, hearth_on(0));

    for (int k = 0; k < rounds_of(ROUNDS) * ranks; k++) {
        int a = k % ranks, b = (k + 1) % ranks;

        if (me == a)
            p[10] = 1;
        barrier();
        if (me == b)
            p[10] = 0;
        barrier();
        if (me == a)
            p[11] = (unsigned char)(k + 1);
        barrier();
        expect_eq(p[10], 0);
        expect_eq(p[11], k + 1);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* The same under a lock: turns go round by a word that the lock protects. */
START_TEST(values_alternate_under_a_lock)
{
    enum { TURNS = 10 };
    unsigned char *p = hearth_alloc(page_bytes(), 1, hearth_on(ranks - 1));
    int64_t       *turn = pages_new(1);

    for (int done = 0; done < TURNS;) {
        hearth_lock(70);
        if (*turn % ranks == me) {
            expect_eq(p[9], *turn % 2);
            p[9] ^= 1;
            p[200 + me]++;
            ++*turn;
            done++;
        }
        hearth_unlock(70);
    }
    barrier();
    expect_eq(*turn, TURNS * ranks);
    for (int r = 0; r < ranks; r++)
        expect_eq(p[200 + r], TURNS);
    hearth_free(turn);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Copies that nobody wrote stay; so does the copy of a sole writer.  The first
 * copy goes at the first barrier; the home may learn of it as late as after
 * its second one, and then reports the page once, at the third. */
START_TEST(copies_stay_as_long_as_nobody_else_writes)
{
    int64_t     *p = pages_new(2 * ranks);
    hearth_stats before, after;

    for (int k = 1; k <= 7; k++) {
        if (k == 5)
            hearth_get_stats(&before);
        expect_eq(*word(p, ranks + (me + 1) % ranks), 0);
        *word(p, (me + 1) % ranks) = k;
        barrier();
    }
    hearth_get_stats(&after);
    expect_eq(after.getpages, before.getpages);
    for (int r = 0; r < ranks; r++)
        expect_eq(*word(p, r), 7);
    hearth_free(p);
    all_expected();
}
END_TEST

/* The home writes one word of a long run all the time while another rank
 * fetches the run: its other words arrive, whatever covers the bytes on their
 * way, and not after hundreds of tries. */
START_TEST(a_run_that_is_written_meanwhile_arrives)
{
    enum { PAGES = 256, TIMES = 3, BURST = 4000000, TRIES = 100 };
    const size_t words = PAGES * page_bytes() / sizeof(int64_t);
    hearth_stats before, after;

    hearth_get_stats(&before);
    for (int64_t k = 0; k < TIMES; k++) {
        int64_t    *p = hearth_alloc(words, sizeof *p, hearth_on(0));
        MPI_Request all;
        int         read = 0;

        for (size_t i = 0; me == 0 && i < words; i++)
            p[i] = (int64_t)i + k;
        barrier();
        for (size_t i = 0; me == ranks - 1 && i < words; i++)
            if (i != words / 2)
                expect_eq(p[i], (int64_t)i + k);
        MPI_Ibarrier(MPI_COMM_WORLD, &all);
        while (!read) {
            for (int64_t n = 0; me == 0 && n < BURST; n++)
                ((volatile int64_t *)p)[words / 2] = n;
            MPI_Test(&all, &read, MPI_STATUS_IGNORE);
        }
        barrier();
        hearth_free(p);
    }
    hearth_get_stats(&after);
    expect(after.refused - before.refused < TRIES);
    all_expected();
}
END_TEST

/* More than one message has room for: each rank writes runs of a page, between
 * which lie pages that nobody writes. */
START_TEST(a_barrier_tells_of_many_runs)
{
    enum { RUNS = 250 };
    int64_t *p = pages_new(2 * RUNS);

    copies_take(p, 2 * RUNS, 0);
    for (int k = 1; k <= 2; k++) {
        for (int i = 0; i < RUNS; i++)
            if (i % ranks == me)
                *word(p, 2 * i) = k;
        barrier();
        for (int i = 0; i < RUNS; i++) {
            expect_eq(*word(p, 2 * i), k);
            expect_eq(*word(p, 2 * i + 1), 0);
        }
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Many pages, everybody writes a share of each and reads all, often. */
START_TEST(a_barrier_shows_everything)
{
    enum { PAGES = 40 };
    int64_t *p = pages_new(PAGES);

    for (int k = 1; k <= rounds_of(10); k++) {
        for (int i = 0; i < PAGES; i++)
            if ((i + k) % 3 != 0)
                word(p, i)[64 + me] = k * 100 + i;
        barrier();
        for (int i = 0; i < PAGES; i++)
            for (int r = 0; (i + k) % 3 != 0 && r < ranks; r++)
                expect_eq(word(p, i)[64 + r], k * 100 + i);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

TCase *
litmus_pages(void)
{
    TCase *tc = tcase_create("pages");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, neighbouring_units_have_different_writers);
    tcase_add_test(tc, bytes_of_one_page_grow_under_different_locks);
    tcase_add_test(tc, pages_may_be_written_without_being_read);
    tcase_add_test(tc, a_first_copy_hides_nothing);
    tcase_add_test(tc, a_first_copy_before_a_barrier_hides_nothing);
    tcase_add_test(tc, a_dirty_page_that_must_be_dropped_is_kept);
    tcase_add_test(tc, an_old_value_does_not_come_back);
    tcase_add_test(tc, values_alternate_under_a_lock);
    tcase_add_test(tc, copies_stay_as_long_as_nobody_else_writes);
    tcase_add_test(tc, a_run_that_is_written_meanwhile_arrives);
    tcase_add_test(tc, a_barrier_shows_everything);
    tcase_add_test(tc, a_barrier_tells_of_many_runs);
    return tc;
}
