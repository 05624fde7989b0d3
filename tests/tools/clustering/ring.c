/* A plain MPI program: the ranks of one cluster find each other, and no
 * others. Each says the sum of all numbers of ranks, and what its left has
 * sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    char        host[64] = "";
    int         rank, size, sum, left;
    const char *cluster = getenv("HEARTH_CLUSTER");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &left, 1, MPI_INT,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    gethostname(host, sizeof host - 1);
    printf("%s: rank %d of %d on %s, sum %d, left %d\n",
           cluster == NULL ? "no cluster" : cluster, rank, size, host, sum,
           left);
    MPI_Finalize();
    return 0;
}
