/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Existing code, more or less: each rank sends what is at home on its right
 * neighbour and receives into what is at home on its left one, with MPI_Send
 * and MPI_Recv and with MPI_Isend, MPI_Irecv and MPI_Wait.
 */
#include <hearth/hearth.h>
#include <stdio.h>

enum { COUNT = 20000 };

static int me, ranks;

static int
value(int rank, int i)
{
    return rank * COUNT + i;
}

static void
exchange(const int *send, int *recv, int round)
{
    int         right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    MPI_Request request;

    if (round % 2 == 0) {
        MPI_Irecv(recv, COUNT, MPI_INT, left, 0, MPI_COMM_WORLD, &request);
        MPI_Send(send, COUNT, MPI_INT, right, 0, MPI_COMM_WORLD);
    } else {
        MPI_Isend(send, COUNT, MPI_INT, right, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(recv, COUNT, MPI_INT, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int
main(int argc, char **argv)
{
    int wrong = 0, level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    ranks = hearth_size();
    int *all = hearth_alloc((size_t)2 * COUNT * (size_t)ranks, sizeof *all,
                            hearth_block());
    for (int round = 0; round < 4; round++) {
        int  to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
        int *recv = all + (size_t)(2 * to + 1) * COUNT;

        for (int i = 0; i < COUNT; i++) /* my part, which my left one sends */
            all[(size_t)2 * (size_t)me * COUNT + (size_t)i] =
                value(me + round, i);
        hearth_barrier();
        exchange(all + (size_t)2 * (size_t)to * COUNT, recv, round);
        for (int i = 0; i < COUNT; i++)
            wrong += recv[i] != value(me + round, i);
        hearth_barrier();
        recv = all + (size_t)(2 * me + 1) * COUNT; /* what my left one got */
        for (int i = 0; i < COUNT; i++)
            wrong += recv[i] != value(from + round, i);
        hearth_barrier();
    }
    printf("exchange: rank %d: %s\n", me, wrong == 0 ? "right" : "wrong");
    fflush(stdout);
    hearth_finalize();
    MPI_Finalize();
    return wrong != 0;
}
