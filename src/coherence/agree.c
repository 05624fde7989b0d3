/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "agree.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "front/direct.h"
#include "transport/transport.h"
#include "world.h"

enum { TAG = 28000 }; /* and one a round */

static void *
memory(size_t bytes)
{
    void *p = malloc(bytes);

    if (p == NULL)
        hearthi_fatal("hearth_barrier", "no memory for %zu bytes", bytes);
    return p;
}

static void
exchange(const void *mine, int to, void *theirs, int from, size_t bytes,
         int round)
{
    MPI_Request request[2];

    HEARTHI_MPI(MPI_Irecv(theirs, (int)bytes, MPI_BYTE, from, TAG + round,
                          hearthi_world.comm, &request[0]));
    HEARTHI_MPI(MPI_Isend(mine, (int)bytes, MPI_BYTE, to, TAG + round,
                          hearthi_world.comm, &request[1]));
    hearthi_requests_wait(request, 2);
}

/* After Bruck et al., as the barrier (transport/mpi/barrier.c). */
void
hearthi_agree_gather(const void *mine, size_t bytes, void *all)
{
    int   n = hearthi_world.size, me = hearthi_world.rank;
    char *from_me = memory((size_t)n * bytes); /* of rank me + i */

    memcpy(from_me, mine, bytes);
    for (int have = 1, round = 0; have < n; have *= 2, round++)
        exchange(from_me, (me - have + n) % n, from_me + (size_t)have * bytes,
                 (me + have) % n,
                 bytes * (size_t)(have < n - have ? have : n - have), round);
    memcpy((char *)all + (size_t)me * bytes, from_me,
           (size_t)(n - me) * bytes);
    memcpy(all, from_me + (size_t)(n - me) * bytes, (size_t)me * bytes);
    free(from_me);
}

/* What comes twice does no harm. */
void
hearthi_agree_join(uint8_t *bits, size_t bytes)
{
    int      n = hearthi_world.size, me = hearthi_world.rank;
    uint8_t *more = memory(bytes);

    for (int have = 1, round = 0; have < n; have *= 2, round++) {
        exchange(bits, (me + have) % n, more, (me - have + n) % n, bytes,
                 round);
        for (size_t i = 0; i < bytes; i++)
            bits[i] |= more[i];
    }
    free(more);
}
