/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The explicit interface between clusters.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "half.h"
#include "world.h"
#include "worlds.h"

/* Of any length, from any byte on, from every rank to every cluster. */
START_TEST(bytes_are_written_and_read_past_copies)
{
    enum { BYTES = 12000 };
    char *p, back[BYTES];

    fixture_start();
    for (int c = 0; c < hearth_clusters(); c++) {
        char *at;

        p = hearth_alloc((size_t)ranks * BYTES, 1, hearth_on_cluster(c));
        at = p + (size_t)me * BYTES;
        for (size_t len = 1; len <= BYTES - 7; len = 3 * len + 1) {
            for (size_t i = 0; i < len; i++)
                back[i] = (char)(i * 7 + len + (size_t)me);
            hearth_write(c, hearth_offset(at + 7), back, len);
            memset(back, 0, sizeof back);
            hearth_read(c, hearth_offset(at + 7), back, len);
            for (size_t i = 0; i < len; i++)
                expect_eq(back[i], (char)(i * 7 + len + (size_t)me));
        }
        barrier();
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* Who has a copy of the page, in whichever cluster, finds what was written
 * past it: the notice comes with the barrier, and drops what gateways keep. */
START_TEST(what_was_written_past_copies_is_found_by_pages)
{
    int64_t *p;

    fixture_start();
    p = hearth_alloc(page_bytes(), 1, hearth_on(ranks - 1));
    for (int64_t turn = 1; turn <= 5; turn++) {
        int64_t value = 0;

        expect_eq(p[3], turn - 1);
        barrier();
        if (me == (int)turn % ranks)
            hearth_write(hearth_cluster_of(ranks - 1), hearth_offset(p + 3),
                         &turn, sizeof turn);
        barrier();
        expect_eq(p[3], turn);
        hearth_read(hearth_cluster_of(ranks - 1), hearth_offset(p + 3), &value,
                    sizeof value);
        expect_eq(value, turn);
        barrier();
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* Written after it was stored, by the same rank: the store comes home first,
 * whenever that is. */
START_TEST(what_is_written_comes_after_what_was_stored)
{
    int      c;
    int64_t  value;
    int64_t *p;

    fixture_start();
    c = hearth_cluster_of(ranks - 1);
    p = hearth_alloc(page_bytes(), 1, hearth_on(ranks - 1));
    for (int64_t turn = 1; turn <= ranks; turn++) {
        value = 2 * turn;
        if (me == turn - 1) {
            p[5] = value + 1;
            p[6] = value + 1;
            hearth_write(c, hearth_offset(p + 5), &value, sizeof value);
            expect_eq(p[5], value);
            expect_eq(p[6], value + 1);
        }
        barrier();
        expect_eq(p[5], value);
        expect_eq(p[6], value + 1);
        barrier();
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* From the heap and into it, whatever the pages are there, and more than the
 * cache has room for.  The kernel, which would say EFAULT, sees none of it. */
START_TEST(bytes_may_come_from_the_heap_and_go_there)
{
    enum { WORDS = 100000, BYTES = WORDS * sizeof(int64_t) };
    int64_t *there, *from, *to;
    int      last;

    setenv("HEARTH_CACHE", bytes_of_pages(64), 1);
    fixture_start_with("INTERPOSE", "no");
    unsetenv("HEARTH_CACHE");
    last = hearth_clusters() - 1;
    there = hearth_alloc(BYTES, 1, hearth_on_cluster(last));
    from = hearth_alloc(BYTES, 1, hearth_block());
    to = hearth_alloc(BYTES, 1, hearth_block());
    for (int64_t i = 0; me == 0 && i < WORDS; i++)
        from[i] = i * 7;
    barrier();
    if (me == ranks - 1)
        hearth_write(last, hearth_offset(there), from, BYTES);
    barrier();
    if (me == 0)
        hearth_read(last, hearth_offset(there), to, BYTES);
    barrier();
    for (int64_t i = 0; i < WORDS; i += 101)
        expect_eq(to[i], i * 7);
    all_expected();
    fixture_stop();
}
END_TEST

/* What so many reads, or writes, of a word of another cluster's take, and what
 * of that is counted: in a counter of their own alone. */
static void
time_expect(bool write, int64_t *p)
{
    hearth_stats   before, after;
    int            home = hearth_home(p);
    const uint64_t offset = hearth_offset(p + me);
    uint64_t       took, counted;
    int64_t        value = 0;

    hearth_get_stats(&before);
    took = hearthi_now();
    for (int i = 0; i < 100; i++)
        if (write)
            hearth_write(hearth_cluster_of(home), offset, &value,
                         sizeof value);
        else
            hearth_read(hearth_cluster_of(home), offset, &value, sizeof value);
    took = hearthi_now() - took;
    hearth_get_stats(&after);
    counted = after.explicit_ns - before.explicit_ns;
    expect(counted <= took);
    expect_timely(counted > took / 8);
    expect(after.fault_ns == before.fault_ns);
    expect(after.lock_ns == before.lock_ns);
    expect(after.barrier_ns == before.barrier_ns);
}

START_TEST(time_in_the_explicit_interface_is_counted)
{
    int64_t *first, *last, *p;

    fixture_start();
    first = hearth_alloc(page_bytes(), 1, hearth_on(0));
    last = hearth_alloc(page_bytes(), 1, hearth_on(ranks - 1));
    p = hearth_cluster() == 0 ? last : first;
    time_expect(false, p);
    time_expect(true, p);
    all_expected();
    fixture_stop();
}
END_TEST

/* To the halves of one word: what another thread stores meanwhile comes home
 * without the old half. */
START_TEST(writes_and_stores_beside_them_lose_nothing)
{
    int32_t    *w;
    struct half other;

    fixture_start();
    w = hearth_alloc(512, sizeof(int64_t), hearth_on(0));
    barrier();
    if (me == ranks - 1) {
        half_begin(&other, w + 1);
        for (int32_t k = 1; k <= 200; k++) {
            hearth_write(0, hearth_offset(w), &k, sizeof k);
            expect_eq(*(volatile int32_t *)w, k);
        }
        half_end(&other);
    }
    barrier();
    MPI_Bcast(&other.last, 1, MPI_INT32_T, ranks - 1, MPI_COMM_WORLD);
    expect_eq(w[0], 200);
    expect_eq(w[1], other.last);
    all_expected();
    fixture_stop();
}
END_TEST

/* A long run goes home in several messages, each of which ends with a word. */
START_TEST(words_that_come_home_are_not_read_in_halves)
{
    enum { WORDS = 8192 };
    const uint64_t second = UINT64_C(1000000000);
    static int64_t seen[WORDS];
    uint64_t       begin;
    int64_t       *p;

    fixture_start();
    p = hearth_alloc(WORDS, sizeof *p, hearth_on(ranks - 1));
    barrier();
    begin = hearthi_now();
    for (int64_t k = 1; me == ranks - 2 && hearthi_now() - begin < second / 2;
         k++) {
        for (int i = 0; i < WORDS; i++)
            p[i] = k << 32 | k;
        hearth_release(p, WORDS * sizeof *p);
    }
    while (me == 0 && hearthi_now() - begin < second / 2) {
        hearth_read(hearth_cluster_of(ranks - 1), hearth_offset(p), seen,
                    sizeof seen);
        for (int i = 0; i < WORDS; i++)
            expect_eq(seen[i] >> 32, seen[i] & UINT32_MAX);
    }
    all_expected();
    fixture_stop();
}
END_TEST

void
worlds_remote_io_tests(TCase *tc)
{
    tcase_add_test(tc, bytes_are_written_and_read_past_copies);
    tcase_add_test(tc, what_was_written_past_copies_is_found_by_pages);
    tcase_add_test(tc, what_is_written_comes_after_what_was_stored);
    tcase_add_test(tc, bytes_may_come_from_the_heap_and_go_there);
    tcase_add_test(tc, writes_and_stores_beside_them_lose_nothing);
    /* Over mpi what an MPI_Put brings has no such promise. */
    if (getenv("HEARTH_TRANSPORT") != NULL &&
        strcmp(getenv("HEARTH_TRANSPORT"), "udp") == 0)
        tcase_add_test(tc, words_that_come_home_are_not_read_in_halves);
    tcase_add_test(tc, time_in_the_explicit_interface_is_counted);
}
