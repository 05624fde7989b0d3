/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The raw side: what a careful MPI programmer would write.  Two windows, one
 * passive epoch for the whole run, contiguous operations on MPI_BYTE, all
 * memory touched before anything is timed.
 */
#define _GNU_SOURCE
#include "perf.h"

#include <stdlib.h>
#include <string.h>

/* MPICH 4.0.2 places the target of a Put or an accumulate wrongly in
 * MPI_Win_allocate windows unless the size is a multiple of 16. */
enum { WINDOW_UNIT = 64 };

static void
windows_open(struct perf *p)
{
    struct perf_raw *r = &p->raw;
    bool             mine = perf_is_peer(p);
    size_t           create = mine ? r->bytes : p->page;
    size_t           allocate = mine ? r->allocated : WINDOW_UNIT;
    char            *base;

    r->target = perf_memory(create);
    memset(r->target, 1, create);
    MPI_Win_create(r->target, (MPI_Aint)create, 1, MPI_INFO_NULL, r->comm,
                   &r->create);
    MPI_Win_allocate((MPI_Aint)allocate, 1, MPI_INFO_NULL, r->comm, &base,
                     &r->allocate);
    memset(base, 0, allocate);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, r->create);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, r->allocate);
    perf_meet(p);
}

void
perf_raw_open(struct perf *p)
{
    struct perf_raw *r = &p->raw;

    r->bytes = p->stream_bytes;
    r->allocated = p->fault_pages * p->page;
    r->buffer = perf_memory(r->bytes);
    if (perf_acting(p))
        memset(r->buffer, 1, r->bytes);
    /* Open MPI 4.1.4 has no MPI_Win_create in a job of one rank, and with
     * one node there is nothing to compare. */
    if (p->peer >= 0)
        windows_open(p);
}

void
perf_raw_close(struct perf *p)
{
    struct perf_raw *r = &p->raw;

    if (p->peer >= 0) {
        MPI_Win_unlock_all(r->create);
        MPI_Win_unlock_all(r->allocate);
        MPI_Win_free(&r->create);
        MPI_Win_free(&r->allocate);
        perf_memory_free(r->target, perf_is_peer(p) ? r->bytes : p->page);
    }
    perf_memory_free(r->buffer, r->bytes);
}

/* One MPI_Get of a page and a flush for each page, in the given order. */
double
perf_raw_gets(struct perf *p, MPI_Win win, const size_t *order)
{
    double start = perf_now();

    for (size_t i = 0; i < p->fault_pages; i++) {
        size_t at = order[i] * p->page;

        MPI_Get(p->raw.buffer + at, (int)p->page, MPI_BYTE, p->peer,
                (MPI_Aint)at, (int)p->page, MPI_BYTE, win);
        MPI_Win_flush(p->peer, win);
    }
    return perf_now() - start;
}

/* One MPI_Put of a word for each page, flushed in batches. */
double
perf_raw_puts(struct perf *p, MPI_Win win)
{
    double start = perf_now();

    for (size_t i = 0; i < p->fault_pages; i++) {
        size_t at = i * p->page;

        MPI_Put(p->raw.buffer + at, 8, MPI_BYTE, p->peer, (MPI_Aint)at, 8,
                MPI_BYTE, win);
        if (i % PERF_OUTSTANDING == PERF_OUTSTANDING - 1)
            MPI_Win_flush(p->peer, win);
    }
    MPI_Win_flush(p->peer, win);
    return perf_now() - start;
}

/* One copy of a page for each page, between touched memory.  A fault has the
 * page it copies in hand already, so the source is read once beforehand. */
double
perf_raw_twins(struct perf *p)
{
    size_t         half = p->raw.bytes / 2;
    char          *to = p->raw.buffer + half;
    double         start;
    volatile char *seen = p->raw.buffer;

    for (size_t i = 0; i < p->fault_pages; i++)
        (void)seen[i * p->page];
    start = perf_now();
    for (size_t i = 0; i < p->fault_pages; i++)
        memcpy(to + i * p->page, p->raw.buffer + i * p->page, p->page);
    return perf_now() - start;
}

/* MPI_Fetch_and_op on one word of the peer, each flushed. */
double
perf_raw_atomics(struct perf *p, MPI_Win win, size_t count)
{
    int64_t one = 1;
    int64_t was;
    double  start = perf_now();

    for (size_t i = 0; i < count; i++) {
        MPI_Fetch_and_op(&one, &was, MPI_INT64_T, p->peer, 0, MPI_SUM, win);
        MPI_Win_flush(p->peer, win);
    }
    return perf_now() - start;
}

/* ---- messages, by the actor and the peer; the others wait ---- */

/* MPI_Send and MPI_Recv of so many bytes, there and back.  `sending` (or NULL)
 * gets the part of it that the calls of MPI_Send took. */
double
perf_raw_bounce(const struct perf *p, size_t bytes, size_t turns,
                double *sending)
{
    int    n = (int)bytes;
    int    other = perf_other(p);
    double sent = 0;
    double start;

    perf_meet(p);
    start = perf_now();
    for (size_t i = 0; perf_taking_part(p) && i < turns; i++) {
        double begin;

        if (perf_is_peer(p))
            MPI_Recv(p->raw.buffer, n, MPI_BYTE, other, 2, p->raw.comm,
                     MPI_STATUS_IGNORE);
        begin = sending ? perf_now() : 0;
        MPI_Send(p->raw.buffer, n, MPI_BYTE, other, 2, p->raw.comm);
        sent += sending ? perf_now() - begin : 0;
        if (perf_acting(p))
            MPI_Recv(p->raw.buffer, n, MPI_BYTE, other, 2, p->raw.comm,
                     MPI_STATUS_IGNORE);
    }
    start = perf_now() - start;
    if (sending)
        *sending = sent;
    perf_meet(p);
    return start;
}

static void
batch_pass(const struct perf *p, size_t bytes)
{
    int         other = perf_other(p);
    MPI_Request request[PERF_BATCH];

    for (size_t k = 0; k < PERF_BATCH; k++) {
        char *at = p->raw.buffer + k * bytes;

        if (perf_acting(p))
            MPI_Irecv(at, (int)bytes, MPI_BYTE, other, 3, p->raw.comm,
                      &request[k]);
        else
            MPI_Isend(at, (int)bytes, MPI_BYTE, other, 3, p->raw.comm,
                      &request[k]);
    }
    MPI_Waitall(PERF_BATCH, request, MPI_STATUSES_IGNORE);
}

/* Messages from the peer to the actor, in batches, each answered. */
double
perf_raw_stream(const struct perf *p, size_t bytes, size_t count)
{
    double start;

    perf_meet(p);
    start = perf_now();
    for (size_t i = 0; perf_taking_part(p) && i < count; i += PERF_BATCH) {
        batch_pass(p, bytes);
        if (perf_acting(p))
            MPI_Send(NULL, 0, MPI_BYTE, p->peer, 4, p->raw.comm);
        else
            MPI_Recv(NULL, 0, MPI_BYTE, PERF_ACTOR, 4, p->raw.comm,
                     MPI_STATUS_IGNORE);
    }
    start = perf_now() - start;
    perf_meet(p);
    return start;
}

/* One MPI_Recv of a message that is there: what was sent after it has come. */
double
perf_raw_receive(const struct perf *p, size_t bytes)
{
    int    n = (int)bytes;
    int    other = perf_other(p);
    double start = 0;

    if (perf_is_peer(p)) {
        for (int i = 0; i < PERF_BATCH; i++)
            MPI_Send(p->raw.buffer, n, MPI_BYTE, other, 5, p->raw.comm);
        MPI_Send(NULL, 0, MPI_BYTE, other, 6, p->raw.comm);
    }
    if (perf_acting(p)) {
        MPI_Recv(NULL, 0, MPI_BYTE, other, 6, p->raw.comm, MPI_STATUS_IGNORE);
        start = perf_now();
        for (int i = 0; i < PERF_BATCH; i++)
            MPI_Recv(p->raw.buffer, n, MPI_BYTE, other, 5, p->raw.comm,
                     MPI_STATUS_IGNORE);
        start = perf_now() - start;
    }
    perf_meet(p);
    return start / PERF_BATCH;
}
