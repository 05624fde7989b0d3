/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A send whose request was freed, which is complete, while another thread
 * looks whether it is (front/request_pins.c).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "calls.h"
#include "front/mpi_next.h"
#include "front/request_pins.h"

enum { BYTES = 4 << 20 };

static int (*prompt)(MPI_Request, int *, MPI_Status *);
static atomic_bool sends, looks;

/* Until it was sent each look says that it was not. */
static int
status_late(MPI_Request request, int *done, MPI_Status *status)
{
    *done = 0;
    if (atomic_load(&sends))
        return MPI_SUCCESS;
    atomic_store(&looks, true);
    sleep_ms(200);
    return prompt(request, done, status);
}

static void *
look(void *unused)
{
    (void)unused;
    hearthi_orphans_look();
    return NULL;
}

/* To the next rank, which has received it when this ends. */
static void
send_and_forget(const char *p, char *to)
{
    MPI_Request sent;

    MPI_Isend(p, BYTES, MPI_BYTE, (me + 1) % ranks, 0, MPI_COMM_WORLD, &sent);
    MPI_Request_free(&sent);
    MPI_Recv(to, BYTES, MPI_BYTE, (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    mpi_barrier();
}

START_TEST(memory_is_freed_while_a_thread_looks_whether_it_was_sent)
{
    char     *p = hearth_alloc(BYTES, 1, hearth_block());
    char     *to = malloc(BYTES);
    pthread_t other;

    prompt = hearthi_next_pmpi.Request_get_status;
    hearthi_next_pmpi.Request_get_status = status_late;
    atomic_store(&looks, false);
    atomic_store(&sends, true);
    send_and_forget(p, to);
    atomic_store(&sends, false);
    if (threads_allowed()) {
        pthread_create(&other, NULL, look, NULL);
        for (int i = 0; i < 1000 && !atomic_load(&looks); i++)
            sleep_ms(1); /* not for ever, as it may have been sent at once */
    }
    hearth_free(p);
    if (threads_allowed())
        pthread_join(other, NULL);
    hearthi_next_pmpi.Request_get_status = prompt;
    free(to);
    all_expected();
}
END_TEST

TCase *
calls_orphans(void (*start)(void), void (*stop)(void))
{
    TCase *tc = tcase_create("orphans");

    tcase_add_unchecked_fixture(tc, start, stop);
    tcase_add_test(tc,
                   memory_is_freed_while_a_thread_looks_whether_it_was_sent);
    return tc;
}
