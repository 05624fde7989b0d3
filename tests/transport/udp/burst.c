/* SPDX-License-Identifier: BSD-2-Clause
 *
 * All ranks write pages of one home and come to a barrier: their diffs reach
 * it at the same time, and its receive buffer is small (udp.tap).
 */
#include <hearth/hearth.h>
#include <mpi.h>
#include <stdlib.h>

#include "fixture.h"

enum { PAGES = 200, WORDS = 512, ROUNDS = 5 };

static uint64_t
overruns(void)
{
    hearth_stats stats;
    uint64_t     all;

    hearth_get_stats(&stats);
    MPI_Allreduce(&stats.overruns, &all, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    return all;
}

START_TEST(a_burst_of_diffs_does_not_overrun_its_home)
{
    size_t   all = (size_t)ranks * PAGES * WORDS;
    int64_t *p = hearth_alloc(all, sizeof *p, hearth_on(0));

    for (int64_t round = 1; round <= ROUNDS; round++) {
        int64_t *mine = p + (size_t)me * PAGES * WORDS;

        for (size_t i = 0; i < PAGES * WORDS; i++)
            mine[i] = round * (int64_t)(i + 1) + me;
        barrier();
        for (int r = 0; me == 0 && r < ranks; r++)
            for (size_t i = 0; i < PAGES * WORDS; i += 97)
                expect_eq(p[(size_t)r * PAGES * WORDS + i],
                          round * (int64_t)(i + 1) + r);
        barrier();
    }
    expect_timely(overruns() == 0);
    hearth_free(p);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *suite = suite_create("burst");
    TCase *tc = tcase_create("burst");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, a_burst_of_diffs_does_not_overrun_its_home);
    suite_add_tcase(suite, tc);
    return mpi_main(argc, argv, suite);
}
