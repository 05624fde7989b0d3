/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Collectives, each blocking and pending: of all, and of neighbours in a ring.
 */
#include <stdlib.h>

#include "calls.h"

enum { WORD = 8 };

/* What a call is told beside buffers; there until the operation ends. */
struct parts {
    int          each, words;         /* bytes, and words, of a part */
    int          parts[CALL_RANKS];   /* bytes of each, not all the same */
    int          pairs[CALL_RANKS];   /* the same, between me and each */
    int          inwords[CALL_RANKS]; /* words of each */
    int          places[CALL_RANKS];
    MPI_Aint     distances[CALL_RANKS];
    MPI_Datatype types[CALL_RANKS];
};

/* Among so many. */
static struct parts *
parts_new(struct operation *o, int count)
{
    struct parts *p = o->own = calloc(1, sizeof *p);

    p->words = (int)(o->bytes / (size_t)count / WORD);
    p->each = p->words * WORD;
    for (int r = 0; r < count; r++) {
        p->parts[r] = p->each - r % 2 * 4;
        p->pairs[r] = p->each - (me + r) % 2 * 4;
        p->inwords[r] = p->words - r % 2;
        p->places[r] = r * p->each;
        p->distances[r] = p->places[r];
        p->types[r] = MPI_BYTE;
    }
    return p;
}

/* A function NAME that calls MPI_UPPER or MPI_Ilower with such arguments. */
#define COLLECTIVE(name, lower, upper, ...)                     \
    static void name(struct operation *o)                       \
    {                                                           \
        struct parts *p = parts_new(o, ranks);                  \
                                                                \
        if (o->pending)                                         \
            MPI_I##lower(__VA_ARGS__, o->comm, request_new(o)); \
        else                                                    \
            MPI_##upper(__VA_ARGS__, o->comm);                  \
        (void)p;                                                \
    }

/* Arguments. */
#define SEND(n) o->send, (n), MPI_BYTE
#define RECV(n) o->recv, (n), MPI_BYTE
#define RECVV   o->recv, p->parts, p->places, MPI_BYTE
#define ROOTS   (o->root == me ? MPI_IN_PLACE : (void *)o->send)
/* In place at another root than 0, MPICH 4.0.2 ends by SIGSEGV with 4 ranks and
 * more than 4 KiB; so does a program without Hearth. */
#ifdef MPICH_VERSION
#define REDUCES (o->root == me && me == 0 ? MPI_IN_PLACE : (void *)o->send)
#else
#define REDUCES ROOTS
#endif
#define XOR     (int)(o->bytes / WORD), MPI_UINT64_T, MPI_BXOR

COLLECTIVE(bcast, bcast, Bcast, RECV((int)o->bytes), o->root)
COLLECTIVE(gather, gather, Gather, SEND(p->each), RECV(p->each), o->root)
COLLECTIVE(gather_in, gather, Gather, ROOTS, p->each, MPI_BYTE, RECV(p->each),
           o->root)
COLLECTIVE(gatherv, gatherv, Gatherv, SEND(p->parts[me]), RECVV, o->root)
COLLECTIVE(scatter, scatter, Scatter, SEND(p->each), RECV(p->each), o->root)
COLLECTIVE(scatter_in, scatter, Scatter, SEND(p->each),
           o->root == me ? MPI_IN_PLACE : (void *)o->recv, p->each, MPI_BYTE,
           o->root)
COLLECTIVE(scatterv, scatterv, Scatterv, o->send, p->parts, p->places,
           MPI_BYTE, RECV(p->parts[me]), o->root)
COLLECTIVE(allgather, allgather, Allgather, SEND(p->each), RECV(p->each))
COLLECTIVE(allgather_in, allgather, Allgather, MPI_IN_PLACE, 0, MPI_BYTE,
           RECV(p->each))
COLLECTIVE(allgatherv, allgatherv, Allgatherv, SEND(p->parts[me]), RECVV)
COLLECTIVE(allgatherv_in, allgatherv, Allgatherv, MPI_IN_PLACE, 0, MPI_BYTE,
           RECVV)
COLLECTIVE(alltoall, alltoall, Alltoall, SEND(p->each), RECV(p->each))
COLLECTIVE(alltoall_in, alltoall, Alltoall, MPI_IN_PLACE, 0, MPI_BYTE,
           RECV(p->each))
COLLECTIVE(alltoallv, alltoallv, Alltoallv, o->send, p->pairs, p->places,
           MPI_BYTE, o->recv, p->pairs, p->places, MPI_BYTE)
COLLECTIVE(alltoallw, alltoallw, Alltoallw, o->send, p->pairs, p->places,
           p->types, o->recv, p->pairs, p->places, p->types)
COLLECTIVE(alltoallw_in, alltoallw, Alltoallw, MPI_IN_PLACE, NULL, NULL, NULL,
           o->recv, p->pairs, p->places, p->types)
COLLECTIVE(reduce, reduce, Reduce, o->send, o->recv, XOR, o->root)
COLLECTIVE(reduce_in, reduce, Reduce, REDUCES, o->recv, XOR, o->root)
COLLECTIVE(allreduce, allreduce, Allreduce, o->send, o->recv, XOR)
COLLECTIVE(allreduce_in, allreduce, Allreduce, MPI_IN_PLACE, o->recv, XOR)
COLLECTIVE(scan, scan, Scan, o->send, o->recv, XOR)
COLLECTIVE(scan_in, scan, Scan, MPI_IN_PLACE, o->recv, XOR)
COLLECTIVE(exscan, exscan, Exscan, o->send, o->recv, XOR)
COLLECTIVE(reduce_scatter, reduce_scatter, Reduce_scatter, o->send, o->recv,
           p->inwords, MPI_UINT64_T, MPI_BXOR)
COLLECTIVE(reduce_scatter_in, reduce_scatter, Reduce_scatter, MPI_IN_PLACE,
           o->recv, p->inwords, MPI_UINT64_T, MPI_BXOR)
COLLECTIVE(reduce_scatter_block, reduce_scatter_block, Reduce_scatter_block,
           o->send, o->recv, p->words, MPI_UINT64_T, MPI_BXOR)

/* By a function of the program's own, which MPI calls on its own buffers. */
static void
combine(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint64_t *from = in;
    uint64_t       *to = inout;

    (void)type;
    for (int i = 0; i < *count; i++)
        to[i] = to[i] * 3 ^ from[i] * 3;
}

static void
user_defined(struct operation *o)
{
    int    words = (int)(o->bytes / WORD);
    MPI_Op op;

    MPI_Op_create(combine, 1, &op);
    if (o->pending)
        MPI_Iallreduce(o->send, o->recv, words, MPI_UINT64_T, op, o->comm,
                       request_new(o));
    else
        MPI_Allreduce(o->send, o->recv, words, MPI_UINT64_T, op, o->comm);
    requests_wait(o); /* an operation may be freed earlier, not used later */
    o->count = 0;
    MPI_Op_free(&op);
}

static void
reduce_local(struct operation *o)
{
    MPI_Reduce_local(o->send, o->recv, XOR);
}

#define ROW(name) #name, CALL_PENDS, name, own_end, NULL, 0

const struct call calls_collectives[] = {
    { ROW(bcast) },
    { ROW(gather) },
    { ROW(gather_in) },
    { ROW(gatherv) },
    { ROW(scatter) },
    { ROW(scatter_in) },
    { ROW(scatterv) },
    { ROW(allgather) },
    { ROW(allgather_in) },
    { ROW(allgatherv) },
    { ROW(allgatherv_in) },
    { ROW(alltoall) },
    { ROW(alltoall_in) },
    { ROW(alltoallv) },
    { ROW(alltoallw) },
    { ROW(alltoallw_in) },
    { ROW(reduce) },
    { ROW(reduce_in) },
    { ROW(allreduce) },
    { ROW(allreduce_in) },
    { ROW(scan) },
    { ROW(scan_in) },
    { ROW(exscan) },
    { ROW(reduce_scatter) },
    { ROW(reduce_scatter_in) },
    { ROW(reduce_scatter_block) },
    { "a reduction by hand", CALL_TOGETHER, user_defined, NULL, NULL, 0 },
    { "reduce_local", CALL_BLOCKS, reduce_local, NULL, NULL, 0 },
    { 0 },
};
