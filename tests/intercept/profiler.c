/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A profiler, as tools for MPI are: its own MPI_ calls count, and pass on to
 * PMPI_.  Linked or preloaded; says at the end what it saw of long messages,
 * which are none of Hearth's own.
 */
#include <mpi.h>
#include <stdio.h>

enum { LONG = 10000 };

static int         sends, receives, waits;
static MPI_Request noted; /* of a long message */

int
MPI_Send(const void *p, int count, MPI_Datatype type, int to, int tag,
         MPI_Comm comm)
{
    sends += count > LONG;
    return PMPI_Send(p, count, type, to, tag, comm);
}

int
MPI_Isend(const void *p, int count, MPI_Datatype type, int to, int tag,
          MPI_Comm comm, MPI_Request *request)
{
    int error = PMPI_Isend(p, count, type, to, tag, comm, request);

    sends += count > LONG;
    if (count > LONG)
        noted = *request;
    return error;
}

int
MPI_Recv(void *p, int count, MPI_Datatype type, int from, int tag,
         MPI_Comm comm, MPI_Status *status)
{
    receives += count > LONG;
    return PMPI_Recv(p, count, type, from, tag, comm, status);
}

int
MPI_Irecv(void *p, int count, MPI_Datatype type, int from, int tag,
          MPI_Comm comm, MPI_Request *request)
{
    int error = PMPI_Irecv(p, count, type, from, tag, comm, request);

    receives += count > LONG;
    if (count > LONG)
        noted = *request;
    return error;
}

int
MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    waits += noted == *request;
    return PMPI_Wait(request, status);
}

int
MPI_Finalize(void)
{
    printf("profiler: %d sends, %d receives, %d waits\n", sends, receives,
           waits);
    fflush(stdout);
    return PMPI_Finalize();
}
