/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "parmacs_entry.h"

#include "cluster.h"
#include "front/direct.h"
#include "parmacs_part.h"
#include "transport/transport.h"

static bool owed; /* the next one waits for this rank */

void
hearthi_parmacs_send(const void *at, size_t bytes, int to, int tag)
{
    MPI_Request request;

    HEARTHI_MPI(MPI_Isend(at, (int)bytes, MPI_BYTE, to, tag,
                          hearthi_parmacs.comm, &request));
    hearthi_requests_wait(&request, 1);
}

void
hearthi_parmacs_receive(void *at, size_t bytes, int from, int tag)
{
    MPI_Request request;

    HEARTHI_MPI(MPI_Irecv(at, (int)bytes, MPI_BYTE, from, tag,
                          hearthi_parmacs.comm, &request));
    hearthi_requests_wait(&request, 1);
}

void
hearthi_parmacs_entry_begin(void)
{
    if (hearthi_parmacs.rank > 0)
        hearthi_parmacs_receive(NULL, 0, hearthi_parmacs.rank - 1,
                                HEARTHI_TAG_ENTER);
    owed = hearthi_parmacs.rank + 1 < hearthi_parmacs.size;
}

void
hearthi_parmacs_entry_pass(void)
{
    if (!owed)
        return;
    owed = false;
    hearthi_parmacs_send(NULL, 0, hearthi_parmacs.rank + 1, HEARTHI_TAG_ENTER);
}
