/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which Get is waited for, and how long.  A rank whose processor does not
 * serve others by itself is rung while a Get has not come, and a flush cannot
 * ring: so of each home's Gets it must be the last that has a request.
 */
#include <unistd.h>

#include "fixture.h"
#include "gets.h"
#include "seen.h"
#include "transport/mpi/progress.h"

/* Of each rank, since the last flush: was a Get with a request begun? */
enum { RANKS = 64 };
static bool requested[RANKS];
static int  requests, behind; /* Gets that no request stands for */

SEEN int
MPI_Get(void *to, int n, MPI_Datatype type, int rank, MPI_Aint at, int there,
        MPI_Datatype type_there, MPI_Win win)
{
    behind += requested[rank % RANKS];
    return PMPI_Get(to, n, type, rank, at, there, type_there, win);
}

/* The next Get's request is one that nobody completes. */
static bool        loses;
static MPI_Request lost = MPI_REQUEST_NULL, real = MPI_REQUEST_NULL;

static int
lost_query(void *unused, MPI_Status *status)
{
    (void)unused;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int
lost_free(void *unused)
{
    (void)unused;
    return MPI_SUCCESS;
}

static int
lost_cancel(void *unused, int complete)
{
    (void)unused;
    (void)complete;
    return MPI_SUCCESS;
}

SEEN int
MPI_Rget(void *to, int n, MPI_Datatype type, int rank, MPI_Aint at, int there,
         MPI_Datatype type_there, MPI_Win win, MPI_Request *request)
{
    requests++;
    requested[rank % RANKS] = true;
    if (!loses)
        return PMPI_Rget(to, n, type, rank, at, there, type_there, win,
                         request);
    loses = false;
    PMPI_Grequest_start(lost_query, lost_free, lost_cancel, NULL, &lost);
    *request = lost;
    return PMPI_Rget(to, n, type, rank, at, there, type_there, win, &real);
}

atomic_bool gets_slow_flush;

SEEN int
MPI_Win_flush(int rank, MPI_Win win)
{
    if (gets_slow_flush)
        usleep(3000);
    requested[rank % RANKS] = false;
    return PMPI_Win_flush(rank, win);
}

/* The runs come from the homes by turns. */
START_TEST(the_last_get_from_each_home_is_waited_for)
{
    enum { EACH = 6 };
    int64_t          *p = pages_new(EACH * ranks);
    enum hearthi_need need = hearthi_help.need[HEARTHI_PAGE];
    int64_t           sum = 0;

    barrier();
    if (need == HEARTHI_FREE)
        hearthi_help.need[HEARTHI_PAGE] = HEARTHI_WAITS;
    requests = behind = 0;
    hearth_prefetch(p, (size_t)EACH * (size_t)ranks * page_bytes());
    expect_eq(behind, 0);
    expect_eq(requests > 0, rma_used());
    hearthi_help.need[HEARTHI_PAGE] = need;
    for (int i = 0; i < EACH * ranks; i++)
        sum += word(p, i)[0];
    expect_eq(sum, 0);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* As Open MPI does now and then (transport/mpi/mpi_fabric_wait.c). */
START_TEST(a_request_that_is_never_completed_is_given_up)
{
    int64_t          *p = pages_new(ranks);
    enum hearthi_need need = hearthi_help.need[HEARTHI_PAGE];

    *word(p, me) = me + 1;
    barrier();
    if (need == HEARTHI_FREE)
        hearthi_help.need[HEARTHI_PAGE] = HEARTHI_WAITS;
    loses = me == 0;
    for (int i = 0; i < ranks; i++)
        expect_eq(*word(p, i), i + 1);
    hearthi_help.need[HEARTHI_PAGE] = need;
    expect_eq(lost != MPI_REQUEST_NULL, me == 0 && rma_used());
    loses = false;
    if (lost != MPI_REQUEST_NULL) {
        PMPI_Grequest_complete(lost);
        PMPI_Wait(&lost, MPI_STATUS_IGNORE);
        PMPI_Wait(&real, MPI_STATUS_IGNORE);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Each rank fetches what it reads. */
static void
alone_start(void)
{
    fixture_start_with("NODE_CACHE", "off");
}

TCase *
gets(void)
{
    TCase *tc = tcase_create("gets");

    tcase_add_unchecked_fixture(tc, alone_start, fixture_stop);
    tcase_add_test(tc, the_last_get_from_each_home_is_waited_for);
    tcase_add_test(tc, a_request_that_is_never_completed_is_given_up);
    return tc;
}
