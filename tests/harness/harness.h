/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Test harness: runs Check suites and prints TAP for automake.
 *
 * unit_main() is for serial tests; each test runs in its own process.
 * mpi_main() is for tests started by run-mpi on several ranks.  Check must
 * not fork after MPI_Init, so the tests share one process per rank, and the
 * verdict of a test is the worst verdict of all ranks, printed once.
 *
 * Two rules for MPI tests: every rank runs the same tests, and a test that
 * communicates again after an assertion uses all_assert() for it -- a plain
 * ck_assert() that fails on one rank leaves the others waiting.
 */
#ifndef HEARTH_HARNESS_H
#define HEARTH_HARNESS_H

#include <check.h>
#include <stdbool.h>

int unit_main(Suite *suite);

/* What another process on the same cores can change without a fault of ours: how
 * long something took, how often something was asked for again.  Its verdict ends
 * in "# TIME": by that ./check knows that chance can give it (tests/again).
 * Never for what memory holds.  ck_timely() is for a test without MPI; see
 * expect_timely() and all_assert_timely(). */
#define TIMELY " # TIME"
#define ck_timely(expr) ck_assert_msg((expr), "'%s' is false" TIMELY, #expr)

/* The thread level comes from MPI_TEST_THREADS (single, funneled, serialized,
 * multiple), so that the whole matrix is run with and without helpers. */
int mpi_main(int argc, char **argv, Suite *suite);

/* Lowest rank on which ok is false, or -1.  Collective. */
int failing_rank(int ok);

/* Remember where this rank is: a run that hangs is ended by SIGTERM, and then
 * each rank says where it was last. */
void harness_at(const char *function, int line);

/* The job goes on, which harness_at() says, too: for loops of seconds in which
 * there is no place.  Where no rank says so for half of TEST_TIMEOUT it hangs
 * (tests/run-mpi). */
void harness_step(void);

/* So many rounds of a loop; fewer, but at least two, where a machine is
 * MPI_TEST_SLOWER times as slow as others (./machines). */
int rounds_of(int n);

/* True if MPI was initialised with MPI_THREAD_MULTIPLE. */
bool threads_allowed(void);

/* Local expectations: the first that does not hold is remembered, and the
 * test goes on, so that nobody waits for this rank.  all_expected() fails the
 * test on every rank if one remembers something, with its text. */
void expect_at(bool ok, const char *function, int line, const char *text);
void expect_timely_at(bool ok, const char *function, int line,
                      const char *text);
void expect_eq_at(long long got, long long want, const char *function,
                  int line, const char *text);
void all_expected(void);
#define expect(expr) expect_at((expr), __func__, __LINE__, #expr)
#define expect_timely(expr) expect_timely_at((expr), __func__, __LINE__, #expr)
#define expect_eq(got, want) \
    expect_eq_at((long long)(got), (long long)(want), __func__, __LINE__, #got)

/* Collective assertion: all ranks pass, or all ranks fail together. */
#define all_assert_(expr, text, more)                                   \
    do {                                                                \
        harness_at(__func__, __LINE__);                                 \
        int failing_ = failing_rank(expr);                              \
        ck_assert_msg(failing_ < 0, "'%s' is false on rank %d%s", text, \
                      failing_, more);                                  \
    } while (0)
#define all_assert(expr) all_assert_(expr, #expr, "")
#define all_assert_timely(expr) all_assert_(expr, #expr, TIMELY)

#endif
