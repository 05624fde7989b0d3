/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Several clusters: their numbers, the explicit interface, and the gateway's
 * cache.  With MPI_TEST_CLUSTERS (split.h).
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "levels.h"
#include "world.h"
#include "worlds.h"

/* The sum over all ranks, of counters that a gateway's process counts. */
static hearth_stats
sum_of_all(void)
{
    hearth_stats mine, all;

    hearth_get_stats(&mine);
    MPI_Allreduce(&mine, &all, sizeof mine / sizeof(uint64_t), MPI_UINT64_T,
                  MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int
first_of(int cluster)
{
    int r = 0;

    while (hearth_cluster_of(r) != cluster)
        r++;
    return r;
}

START_TEST(ranks_and_nodes_are_numbered_through)
{
    int n;

    fixture_start();
    n = hearth_clusters();
    expect(hearth_cluster() == hearth_cluster_of(me));
    expect(hearth_rank() == me && hearth_size() == ranks);
    expect(hearth_cluster_of(0) == 0 && hearth_cluster_of(ranks - 1) == n - 1);
    for (int r = 1; r < ranks; r++) {
        int step = hearth_cluster_of(r) - hearth_cluster_of(r - 1);

        expect(step == 0 || step == 1);
        expect(step == 0 || hearth_node_of(r) != hearth_node_of(r - 1));
        expect(hearth_node_of(r) >= hearth_node_of(r - 1));
    }
    expect(hearth_nodes() == hearth_node_of(ranks - 1) + 1);
    all_expected();
    fixture_stop();
}
END_TEST

START_TEST(a_layout_puts_memory_on_a_cluster)
{
    fixture_start();
    for (int c = 0; c < hearth_clusters(); c++) {
        char *p = hearth_alloc(8 * page_bytes(), 1, hearth_on_cluster(c));
        bool  seen[64] = { false };

        for (int i = 0; i < 8; i++) {
            int home = hearth_home(p + (size_t)i * page_bytes());

            expect(hearth_cluster_of(home) == c);
            seen[home] = true;
        }
        for (int r = 0; r < ranks; r++)
            expect(seen[r] == (hearth_cluster_of(r) == c));
        hearth_free(p);
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* Ranks of the clusters in a set, in order. */
static int
ranks_within(uint64_t set, int *rank)
{
    int n = 0;

    for (int r = 0; r < ranks; r++)
        if (set >> hearth_cluster_of(r) & 1)
            rank[n++] = r;
    return n;
}

/* Each rank of each set in its turn, and nobody else; what is stored there is
 * found. */
START_TEST(a_layout_stays_within_its_clusters)
{
    uint64_t all;

    fixture_start();
    all = (UINT64_C(1) << hearth_clusters()) - 1;
    for (uint64_t set = 1; set <= all; set++) {
        int      rank[64], n = ranks_within(set, rank);
        size_t   count = 6 * (size_t)n;
        int64_t *block = hearth_alloc(count * page_bytes(), 1,
                                      hearth_within(hearth_block(), set));
        int64_t *dealt = hearth_alloc(
            count * page_bytes(), 1,
            hearth_within(hearth_within(hearth_cyclic(2), all), set));
        int64_t *on = hearth_alloc(page_bytes(), 1,
                                   hearth_within(hearth_on(rank[n - 1]), set));

        for (int i = 0; i < (int)count; i++) {
            expect_eq(hearth_home(word(block, i)), rank[i / 6]);
            expect_eq(hearth_home(word(dealt, i)), rank[i / 2 % n]);
            if (i % ranks == me)
                *word(block, i) = *word(dealt, i) = i + 1;
        }
        expect_eq(hearth_home(on), rank[n - 1]);
        barrier();
        for (int i = 0; i < (int)count; i++)
            expect(*word(block, i) == i + 1 && *word(dealt, i) == i + 1);
        hearth_free(on);
        hearth_free(dealt);
        hearth_free(block);
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* In each of several intervals one rank writes pages of cluster 0, and all
 * ranks of the others read them. */
START_TEST(a_page_crosses_the_link_once_an_interval)
{
    enum { PAGES = 16, TURNS = 6 };
    int64_t     *p;
    hearth_stats before, after;
    uint64_t     far = 0;

    fixture_start_with("FETCH_AHEAD", "1");
    p = hearth_alloc(PAGES * page_bytes(), 1, hearth_on(0));
    for (int r = 0; r < ranks; r++)
        far += hearth_cluster_of(r) != 0;
    for (int64_t turn = 0; turn < TURNS; turn++) {
        for (int i = 0; me == 0 && i < PAGES; i++)
            *word(p, i) = turn;
        barrier();
        before = sum_of_all();
        for (int r = 0; r < ranks; r++) {
            for (int i = 0; r == me && i < PAGES; i++)
                expect_eq(*word(p, i), turn);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        after = sum_of_all();
        if (apart(0, ranks - 1)) {
            expect_eq((long long)(after.far_pages - before.far_pages),
                      PAGES * (hearth_clusters() - 1));
            expect_eq((long long)(after.far_kept - before.far_kept),
                      PAGES * ((long long)far - (hearth_clusters() - 1)));
        }
        barrier();
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* Addresses that this process has had at once, in KiB. */
static long
most_memory(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char  line[200];
    long  most = 0;

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "VmPeak: %ld", &most) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return most;
}

/* What a rank wants at once is not read at once from where it is at home.  The
 * C library keeps 64 MiB of addresses for a thread that finds malloc() busy:
 * here it does not. */
START_TEST(a_long_fetch_does_not_fill_its_gateway)
{
    enum { BYTES = 96 << 20, MOST = BYTES / 2 };
    char *p;
    long  before;

    mallopt(M_ARENA_MAX, 1);
    fixture_start();
    p = hearth_alloc(BYTES, 1, hearth_on(first_of(hearth_clusters() - 1)));
    barrier();
    before = most_memory();
    barrier();
    if (me == 0) {
        hearth_hold(p, BYTES, HEARTH_READ);
        hearth_drop(p, BYTES, HEARTH_READ);
    }
    barrier();
    if (hearth_cluster() != 0)
        expect((most_memory() - before) * 1024 < MOST);
    all_expected();
    hearth_free(p);
    fixture_stop();
}
END_TEST

/* In several messages of the link, and in another length each time. */
START_TEST(what_all_ranks_say_may_be_long)
{
    fixture_start();
    for (int turn = 0; turn < 2; turn++) {
        size_t         bytes = (size_t)((20 << 20) / ranks + 3 * turn + 1);
        unsigned char *mine = malloc(bytes),
                      *all = malloc(bytes * (size_t)ranks);
        size_t wrong = 0;

        for (size_t i = 0; i < bytes; i++)
            mine[i] = (unsigned char)(i / 7 + (size_t)(31 * me));
        hearthi_world.gather(mine, bytes, all);
        for (int r = 0; r < ranks; r++)
            for (size_t i = 0; i < bytes; i++)
                wrong += all[(size_t)r * bytes + i] !=
                         (unsigned char)(i / 7 + (size_t)(31 * r));
        expect_eq(wrong, 0);
        free(mine);
        free(all);
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* What a rank stores to a page of another cluster drops the gateway's copy as
 * it passes, for the others of its cluster who learn of it by a lock. */
START_TEST(what_a_cluster_wrote_its_ranks_find)
{
    int64_t *p;

    fixture_start();
    p = hearth_alloc(page_bytes(), 1,
                     hearth_on(first_of(hearth_clusters() - 1)));
    for (int turn = 0; turn < 40; turn++) {
        hearth_lock(5);
        p[0]++;
        p[1 + me]++;
        hearth_unlock(5);
    }
    barrier();
    expect_eq(p[0], 40 * ranks);
    for (int r = 0; r < ranks; r++)
        expect_eq(p[1 + r], 40);
    all_expected();
    fixture_stop();
}
END_TEST

/* The program's own message brings no notice: hearth_acquire drops what the
 * gateway keeps. */
START_TEST(a_message_of_the_program_orders_too)
{
    int64_t *p;

    fixture_start();
    p = hearth_alloc(page_bytes(), 1, hearth_on(0));
    for (int64_t turn = 1; turn <= 10; turn++) {
        int from = (int)turn % ranks, to = (from + ranks - 1) % ranks;

        for (int r = 0; r < ranks; r++) { /* gateways keep it */
            if (r == me)
                expect_eq(p[0], turn - 1);
            barrier();
        }
        if (me == from) {
            p[0] = turn;
            hearth_release(NULL, 0);
            if (from != to)
                tell(to, (int)turn);
        }
        if (me == to && from != to) {
            told_by(from, (int)turn);
            hearth_acquire(NULL, 0);
        }
        if (me == to)
            expect_eq(p[0], turn);
        barrier();
        barrier();
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* Of all ranks and clusters on words of all clusters. */
START_TEST(atomic_steps_of_all_clusters_meet)
{
    int64_t *p;

    fixture_start();
    p = hearth_alloc((size_t)ranks * page_bytes(), 1, hearth_block());
    for (int i = 0; i < 50; i++)
        for (int r = 0; r < ranks; r++) {
            hearth_fetch_add(word(p, r), 1);
            hearth_fetch_or(word(p, r) + 1, INT64_C(1) << (i % 50));
            hearth_add(word(p, r) + 2, i);
            hearth_add(word(p, r) + 3 + i, 1);
            hearth_add32((int32_t *)(word(p, r) + 60), 1);
            hearth_add_double((double *)(word(p, r) + 61), 0.5);
        }
    for (int r = 0; r < ranks; r++)
        hearth_wait_until(word(p, r), HEARTH_EQ, 50 * ranks);
    barrier();
    for (int r = 0; r < ranks; r++) {
        expect_eq(*word(p, r), 50 * ranks);
        expect_eq(word(p, r)[1], (INT64_C(1) << 50) - 1);
        expect_eq(word(p, r)[2], 49 * 25 * ranks);
        for (int i = 0; i < 50; i++)
            expect_eq(word(p, r)[3 + i], ranks);
        expect_eq(*(int32_t *)(word(p, r) + 60), 50 * ranks);
        expect(*(double *)(word(p, r) + 61) == 25. * ranks);
    }
    all_expected();
    fixture_stop();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("worlds");
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 0);
    tcase_add_test(tc, ranks_and_nodes_are_numbered_through);
    tcase_add_test(tc, a_layout_puts_memory_on_a_cluster);
    tcase_add_test(tc, a_layout_stays_within_its_clusters);
    tcase_add_test(tc, a_page_crosses_the_link_once_an_interval);
    tcase_add_test(tc, a_long_fetch_does_not_fill_its_gateway);
    tcase_add_test(tc, what_all_ranks_say_may_be_long);
    tcase_add_test(tc, what_a_cluster_wrote_its_ranks_find);
    tcase_add_test(tc, a_message_of_the_program_orders_too);
    tcase_add_test(tc, atomic_steps_of_all_clusters_meet);
    worlds_remote_io_tests(tc);
    worlds_listener_tests(tc);
    worlds_ahead_tests(tc);
    worlds_node_cache_tests(tc);
    worlds_fault_tests(tc);
    worlds_reset_tests(tc);
    levels_tests(tc);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
