/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Collectives of neighbours, on a ring of all ranks; blocking and pending.
 */
#include "calls.h"

enum { LEFT_AND_RIGHT = 2 };

static MPI_Comm ring;

/* What the calls are told beside buffers; there until they end, and with the
 * same sizes either way. */
static int          bytes[LEFT_AND_RIGHT], places[LEFT_AND_RIGHT];
static MPI_Aint     distances[LEFT_AND_RIGHT];
static MPI_Datatype types[LEFT_AND_RIGHT] = { MPI_DATATYPE_NULL };

static int
halves(const struct operation *o)
{
    int half = (int)o->bytes / LEFT_AND_RIGHT;

    for (int i = 0; i < LEFT_AND_RIGHT; i++) {
        bytes[i] = half - 5;
        places[i] = i * half + 3;
        distances[i] = places[i];
        types[i] = MPI_BYTE;
    }
    return half;
}

#define NEIGHBOURS(name, ...)                                        \
    static void name(struct operation *o)                            \
    {                                                                \
        int half = halves(o);                                        \
                                                                     \
        if (o->pending)                                              \
            MPI_Ineighbor_##name(__VA_ARGS__, ring, request_new(o)); \
        else                                                         \
            MPI_Neighbor_##name(__VA_ARGS__, ring);                  \
        (void)half;                                                  \
    }

NEIGHBOURS(allgather, o->send, half, MPI_BYTE, o->recv, half, MPI_BYTE)
NEIGHBOURS(allgatherv, o->send, bytes[0], MPI_BYTE, o->recv, bytes, places,
           MPI_BYTE)
NEIGHBOURS(alltoall, o->send, half, MPI_BYTE, o->recv, half, MPI_BYTE)
NEIGHBOURS(alltoallv, o->send, bytes, places, MPI_BYTE, o->recv, bytes, places,
           MPI_BYTE)
NEIGHBOURS(alltoallw, o->send, bytes, distances, types, o->recv, bytes,
           distances, types)

const struct call calls_neighbours[] = {
    { "Neighbor_allgather", CALL_PENDS, allgather, NULL, NULL, 0 },
    { "Neighbor_allgatherv", CALL_PENDS, allgatherv, NULL, NULL, 0 },
    { "Neighbor_alltoall", CALL_PENDS, alltoall, NULL, NULL, 0 },
    { "Neighbor_alltoallv", CALL_PENDS, alltoallv, NULL, NULL, 0 },
    { "Neighbor_alltoallw", CALL_PENDS, alltoallw, NULL, NULL, 0 },
    { 0 },
};

void
calls_neighbours_begin(MPI_Comm comm)
{
    int round = 1;

    MPI_Cart_create(comm, 1, &ranks, &round, 0, &ring);
}

void
calls_neighbours_end(void)
{
    MPI_Comm_free(&ring);
}
