/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Point to point: each rank sends to its right neighbour and receives from
 * the left one.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"

typedef int send_call(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int start_call(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                       MPI_Request *);

struct sender {
    send_call  *send;
    start_call *start, *init;
    bool        buffered, ready;
};

static const struct sender sender = { MPI_Send, MPI_Isend, MPI_Send_init,
                                      false, false };
static const struct sender synchronous = { MPI_Ssend, MPI_Issend,
                                           MPI_Ssend_init, false, false };
static const struct sender buffered = { MPI_Bsend, MPI_Ibsend, MPI_Bsend_init,
                                        true, false };
static const struct sender ready = { MPI_Rsend, MPI_Irsend, MPI_Rsend_init,
                                     false, true };

/* Room for two messages: the first may still be there at the second. */
static void
buffer_attach(struct operation *o)
{
    const struct sender *s = o->call->what;
    int                  bytes = 2 * ((int)o->bytes + MPI_BSEND_OVERHEAD);

    if (!s->buffered)
        return;
    o->own = malloc((size_t)bytes);
    MPI_Buffer_attach(o->own, bytes);
}

static void
buffer_detach(struct operation *o)
{
    const struct sender *s = o->call->what;
    int                  bytes;

    if (!s->buffered)
        return;
    MPI_Buffer_detach(&o->own, &bytes);
    free(o->own);
}

static void
receive_start(struct operation *o)
{
    const struct sender *s = o->call->what;

    MPI_Irecv(o->recv, (int)o->bytes, MPI_BYTE, o->left, 0, o->comm,
              request_new(o));
    if (s->ready)
        MPI_Barrier(o->comm);
}

static void
receive(struct operation *o)
{
    MPI_Status status;
    int        count;

    MPI_Recv(o->recv, (int)o->bytes, MPI_BYTE, o->left, 0, o->comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    expect_eq(count, (int)o->bytes);
}

/* Some send first and some receive first. */
static void
sent(struct operation *o)
{
    const struct sender *s = o->call->what;

    buffer_attach(o);
    if (s->ready)
        receive_start(o);
    else if (me % 2 == 1)
        receive(o);
    s->send(o->send, (int)o->bytes, MPI_BYTE, o->right, 0, o->comm);
    if (s->ready)
        requests_wait(o);
    else if (me % 2 == 0)
        receive(o);
    buffer_detach(o);
}

static void
sendrecv(struct operation *o)
{
    MPI_Sendrecv(o->send, (int)o->bytes, MPI_BYTE, o->right, 0, o->recv,
                 (int)o->bytes, MPI_BYTE, o->left, 0, o->comm,
                 MPI_STATUS_IGNORE);
}

static void
sendrecv_replace(struct operation *o)
{
    MPI_Sendrecv_replace(o->recv, (int)o->bytes, MPI_BYTE, o->right, 0,
                         o->left, 0, o->comm, MPI_STATUS_IGNORE);
}

static void
isend(struct operation *o)
{
    MPI_Isend(o->send, (int)o->bytes, MPI_BYTE, o->right, 0, o->comm,
              request_new(o));
}

static void
probe(struct operation *o)
{
    MPI_Status status;

    isend(o);
    MPI_Probe(o->left, 0, o->comm, &status);
    receive(o);
    requests_wait(o);
}

static void
mrecv(struct operation *o)
{
    MPI_Message message;

    isend(o);
    MPI_Mprobe(o->left, MPI_ANY_TAG, o->comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(o->recv, (int)o->bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    requests_wait(o);
}

/* The attached buffer is heap memory itself, of the region to receive into. */
static void
bsend_through_the_heap(struct operation *o)
{
    int   half = (int)o->bytes / 2, room = half + MPI_BSEND_OVERHEAD;
    char *got = malloc((size_t)half);
    void *buffer = o->recv;
    bool  fits = (size_t)room <= o->bytes;

    if (!fits)
        half = 0;
    if (fits)
        MPI_Buffer_attach(buffer, (int)o->bytes);
    isend(o);
    if (fits)
        MPI_Bsend(o->send, half, MPI_BYTE, o->right, 1, o->comm);
    MPI_Recv(got, half, MPI_BYTE, fits ? o->left : MPI_PROC_NULL, 1, o->comm,
             MPI_STATUS_IGNORE);
    if (fits)
        MPI_Buffer_detach(&buffer, &room);
    memset(o->recv, 0, o->bytes); /* MPI's own bookkeeping was there */
    receive(o);
    memcpy(o->recv, got, (size_t)half);
    requests_wait(o);
    free(got);
}

static void
nobody(struct operation *o)
{
    MPI_Sendrecv(o->send, (int)o->bytes, MPI_BYTE, MPI_PROC_NULL, 0, o->recv,
                 (int)o->bytes, MPI_BYTE, MPI_PROC_NULL, 0, o->comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(o->send, 0, MPI_BYTE, o->right, 0, o->recv, 0, MPI_BYTE,
                 o->left, 0, o->comm, MPI_STATUS_IGNORE);
    receive_start(o);
    isend(o);
    requests_wait(o);
}

const struct call calls_blocking[] = {
    { "Send", CALL_BLOCKS, sent, NULL, &sender, 0 },
    { "Ssend", CALL_BLOCKS, sent, NULL, &synchronous, 0 },
    { "Bsend", CALL_BLOCKS, sent, NULL, &buffered, 0 },
    { "Rsend", CALL_BLOCKS, sent, NULL, &ready, 0 },
    { "Sendrecv", CALL_BLOCKS, sendrecv, NULL, NULL, 0 },
    { "Sendrecv_replace", CALL_BLOCKS, sendrecv_replace, NULL, NULL, 0 },
    { "Probe and Recv", CALL_BLOCKS, probe, NULL, NULL, 0 },
    { "Mprobe and Mrecv", CALL_BLOCKS, mrecv, NULL, NULL, 0 },
    { "Buffer_attach", CALL_BLOCKS, bsend_through_the_heap, NULL, NULL, 0 },
    { "PROC_NULL", CALL_BLOCKS, nobody, NULL, &sender, 0 },
    { 0 },
};

static void
started(struct operation *o)
{
    const struct sender *s = o->call->what;

    buffer_attach(o);
    receive_start(o);
    s->start(o->send, (int)o->bytes, MPI_BYTE, o->right, 0, o->comm,
             request_new(o));
}

static void
ended(struct operation *o)
{
    requests_wait(o);
    buffer_detach(o);
}

static void
persistent(struct operation *o)
{
    const struct sender *s = o->call->what;

    buffer_attach(o);
    MPI_Recv_init(o->recv, (int)o->bytes, MPI_BYTE, o->left, 0, o->comm,
                  request_new(o));
    s->init(o->send, (int)o->bytes, MPI_BYTE, o->right, 0, o->comm,
            request_new(o));
    MPI_Start(&o->requests[0]);
    if (s->ready)
        MPI_Barrier(o->comm);
    MPI_Start(&o->requests[1]);
}

static void
persistent_once_more(struct operation *o)
{
    const struct sender *s = o->call->what;

    memset(o->recv, 0, o->bytes);
    if (s->ready) {
        MPI_Start(&o->requests[0]);
        MPI_Barrier(o->comm);
        MPI_Start(&o->requests[1]);
    } else {
        MPI_Startall(o->count, o->requests);
    }
    requests_wait(o);
}

/* Twice, and in between the request is there and does nothing.  A buffered one
 * begins once: begun again, with the first message on its way, Open MPI 4.1.4
 * delivers a wrong one, on private memory too. */
static void
persistent_again(struct operation *o)
{
    const struct sender *s = o->call->what;

    requests_wait(o);
    if (!s->buffered)
        persistent_once_more(o);
    MPI_Request_free(&o->requests[0]);
    MPI_Request_free(&o->requests[1]);
    buffer_detach(o);
}

static void
imrecv(struct operation *o)
{
    MPI_Message message;
    int         there = 0;

    isend(o);
    if (o->turn % 2 == 0)
        MPI_Mprobe(o->left, 0, o->comm, &message, MPI_STATUS_IGNORE);
    while (o->turn % 2 == 1 && !there)
        MPI_Improbe(o->left, 0, o->comm, &there, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(o->recv, (int)o->bytes, MPI_BYTE, &message, request_new(o));
}

const struct call calls_pending[] = {
    { "Isend", CALL_PENDS, started, ended, &sender, 0 },
    { "Issend", CALL_PENDS, started, ended, &synchronous, 0 },
    { "Ibsend", CALL_PENDS, started, ended, &buffered, 0 },
    { "Irsend", CALL_TOGETHER, started, ended, &ready, 0 },
    { "Send_init", CALL_PENDS, persistent, persistent_again, &sender, 0 },
    { "Ssend_init", CALL_PENDS, persistent, persistent_again, &synchronous,
      0 },
    { "Bsend_init", CALL_PENDS, persistent, persistent_again, &buffered, 0 },
    { "Rsend_init", CALL_TOGETHER, persistent, persistent_again, &ready, 0 },
    { "Imrecv", CALL_TOGETHER, imrecv, NULL, NULL, 0 },
    { 0 },
};
