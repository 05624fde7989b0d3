/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The ways in which requests end: four messages there and four here.
 */
#include "calls.h"

enum { PIECES = 4 };

static void
pieces_start(struct operation *o)
{
    size_t piece = o->bytes / PIECES;

    for (int i = 0; i < PIECES; i++)
        MPI_Irecv(o->recv + (size_t)i * piece, (int)piece, MPI_BYTE, o->left,
                  i, o->comm, request_new(o));
    for (int i = 0; i < PIECES; i++)
        MPI_Isend(o->send + (size_t)i * piece, (int)piece, MPI_BYTE, o->right,
                  i, o->comm, request_new(o));
}

static void
by_wait(struct operation *o)
{
    for (int i = o->count; i > 0; i--)
        MPI_Wait(&o->requests[i - 1], MPI_STATUS_IGNORE);
}

static void
by_test(struct operation *o)
{
    for (int i = 0; i < o->count; i++)
        for (int done = 0; !done;)
            MPI_Test(&o->requests[i], &done, MPI_STATUS_IGNORE);
}

static void
by_waitall(struct operation *o)
{
    MPI_Status statuses[CALL_REQUESTS];
    int        count;

    MPI_Waitall(o->count, o->requests, statuses);
    for (int i = 0; i < PIECES; i++) {
        MPI_Get_count(&statuses[i], MPI_BYTE, &count);
        expect_eq(count, (int)o->bytes / PIECES);
    }
}

static void
by_testall(struct operation *o)
{
    for (int done = 0; !done;)
        MPI_Testall(o->count, o->requests, &done, MPI_STATUSES_IGNORE);
}

static void
by_waitany(struct operation *o)
{
    int which;

    for (int i = 0; i < o->count; i++) {
        MPI_Waitany(o->count, o->requests, &which, MPI_STATUS_IGNORE);
        expect(which != MPI_UNDEFINED);
    }
    MPI_Waitany(o->count, o->requests, &which, MPI_STATUS_IGNORE);
    expect_eq(which, MPI_UNDEFINED);
}

static void
by_testany(struct operation *o)
{
    int which = 0, done;

    while (which != MPI_UNDEFINED)
        do
            MPI_Testany(o->count, o->requests, &which, &done,
                        MPI_STATUS_IGNORE);
        while (!done);
}

static void
by_waitsome(struct operation *o)
{
    int some = 0, which[CALL_REQUESTS], sum = 0;

    while (some != MPI_UNDEFINED) {
        MPI_Waitsome(o->count, o->requests, &some, which, MPI_STATUSES_IGNORE);
        sum += some == MPI_UNDEFINED ? 0 : some;
    }
    expect_eq(sum, o->count);
}

static void
by_testsome(struct operation *o)
{
    int some = 0, which[CALL_REQUESTS];

    while (some != MPI_UNDEFINED)
        MPI_Testsome(o->count, o->requests, &some, which, MPI_STATUSES_IGNORE);
}

/* Asking does not end a request. */
static void
by_get_status(struct operation *o)
{
    for (int i = 0; i < o->count; i++)
        for (int done = 0; !done;)
            MPI_Request_get_status(o->requests[i], &done, MPI_STATUS_IGNORE);
    by_wait(o);
}

/* A receive that nobody sends to is cancelled, beside one that is sent to. */
static void
cancelled_start(struct operation *o)
{
    int half = (int)o->bytes / 2;

    MPI_Irecv(o->recv, half, MPI_BYTE, o->left, 99, o->comm, request_new(o));
    MPI_Irecv(o->recv + half, half, MPI_BYTE, o->left, 0, o->comm,
              request_new(o));
    MPI_Isend(o->send, half, MPI_BYTE, o->right, 0, o->comm, request_new(o));
}

static void
cancelled_end(struct operation *o)
{
    MPI_Status status;
    int        cancelled;

    MPI_Cancel(&o->requests[0]);
    MPI_Wait(&o->requests[0], &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(cancelled);
    MPI_Waitall(2, o->requests + 1, MPI_STATUSES_IGNORE);
}

/* A send that is let go of at once, under way: who received it says so. */
static void
freed_start(struct operation *o)
{
    MPI_Request request;

    MPI_Irecv(o->recv, (int)o->bytes, MPI_BYTE, o->left, 0, o->comm,
              request_new(o));
    MPI_Isend(o->send, (int)o->bytes, MPI_BYTE, o->right, 0, o->comm,
              &request);
    MPI_Request_free(&request);
}

static void
freed_end(struct operation *o)
{
    requests_wait(o);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, o->left, 1, NULL, 0, MPI_BYTE, o->right, 1,
                 o->comm, MPI_STATUS_IGNORE);
}

/* Persistent requests may go without ever having begun. */
static void
unused(struct operation *o)
{
    MPI_Request request;

    MPI_Recv_init(o->recv, (int)o->bytes, MPI_BYTE, o->left, 0, o->comm,
                  &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    pieces_start(o);
}

const struct call calls_completion[] = {
    { "Wait", CALL_PENDS, pieces_start, by_wait, NULL, 0 },
    { "Test", CALL_PENDS, pieces_start, by_test, NULL, 0 },
    { "Waitall", CALL_PENDS, pieces_start, by_waitall, NULL, 0 },
    { "Testall", CALL_PENDS, pieces_start, by_testall, NULL, 0 },
    { "Waitany", CALL_PENDS, pieces_start, by_waitany, NULL, 0 },
    { "Testany", CALL_PENDS, pieces_start, by_testany, NULL, 0 },
    { "Waitsome", CALL_PENDS, pieces_start, by_waitsome, NULL, 0 },
    { "Testsome", CALL_PENDS, pieces_start, by_testsome, NULL, 0 },
    { "Request_get_status", CALL_PENDS, pieces_start, by_get_status, NULL, 0 },
    { "Cancel", CALL_PENDS, cancelled_start, cancelled_end, NULL, 0 },
    { "Request_free", CALL_PENDS, freed_start, freed_end, NULL, 0 },
    { "Request_free unused", CALL_PENDS, unused, NULL, NULL, 0 },
    { 0 },
};
