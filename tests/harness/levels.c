/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rank 0 has threads, and no other: MPI gave these less than
 * MPI_THREAD_MULTIPLE.
 */
#include "levels.h"

#include <stdlib.h>
#include <string.h>

#include "behind.h"
#include "fixture.h"

enum { OUT = 29 };

static bool differ; /* in what MPI gave */

int
MPI_Query_thread(int *level)
{
    int rank, error = PMPI_Query_thread(level);

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (differ && rank > 0)
        *level = MPI_THREAD_FUNNELED;
    return error;
}

static void *
store_and_release(void *p)
{
    *(int64_t *)p = 1;
    hearth_release(p, sizeof(int64_t));
    return NULL;
}

/* The last rank knows of the write by a message, and has no threads; all
 * others know of it by the barrier, to which it tells. */
START_TEST(a_rank_without_threads_tells_what_another_thread_wrote)
{
    const char *transport = getenv("HEARTH_TRANSPORT");
    int64_t    *shared;
    bool        run;

    if (!threads_allowed())
        return;
    /* Over clusters a gateway's thread calls MPI there. */
    if (getenv("MPI_TEST_CLUSTERS") != NULL &&
        (transport == NULL || strcmp(transport, "udp") != 0))
        return;
    differ = true;
    fixture_start();
    differ = false;
    run = ranks > 2 && apart(0, ranks - 1) && apart(0, ranks - 2);
    shared = pages_new(1);
    copies_take(shared, 1, 0);
    if (run && me == 0) {
        barrier_behind(store_and_release, shared, OUT);
    } else {
        if (run && me == ranks - 1) {
            told_by(0, OUT);
            hearth_acquire(shared, sizeof *shared);
        }
        barrier();
    }
    expect_eq(*shared, run ? 1 : 0);
    barrier();
    hearth_free(shared);
    all_expected();
    fixture_stop();
}
END_TEST

void
levels_tests(TCase *tc)
{
    tcase_add_test(tc, a_rank_without_threads_tells_what_another_thread_wrote);
}
