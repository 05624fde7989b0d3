/* SPDX-License-Identifier: BSD-2-Clause
 *
 * PnetCDF on heap buffers, blocking and pending: what is written is at home on
 * the right neighbour, and so is what is read into.
 */
#include <hearth/hearth.h>
#include <pnetcdf.h>
#include <stdio.h>

enum { COUNT = 50000 };

int
main(int argc, char **argv)
{
    int level, me, ranks, file, dimension, variable, request, wrong = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    ranks = hearth_size();
    int *a =
        hearth_alloc((size_t)COUNT * (size_t)ranks, sizeof *a, hearth_block());
    int *b =
        hearth_alloc((size_t)COUNT * (size_t)ranks, sizeof *b, hearth_block());
    MPI_Offset first = (MPI_Offset)COUNT * ((me + 1) % ranks), count = COUNT;

    for (int i = me * COUNT; i < (me + 1) * COUNT; i++)
        a[i] = i;
    hearth_barrier();
    wrong += ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER, MPI_INFO_NULL,
                          &file) != NC_NOERR;
    ncmpi_def_dim(file, "i", (MPI_Offset)COUNT * ranks, &dimension);
    ncmpi_def_var(file, "a", NC_INT, 1, &dimension, &variable);
    ncmpi_enddef(file);
    wrong += ncmpi_put_vara_int_all(file, variable, &first, &count,
                                    a + first) != NC_NOERR;
    ncmpi_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    b[first + 7] = -1;
    ncmpi_iget_vara_int(file, variable, &first, &count, b + first, &request);
    wrong += ncmpi_wait_all(file, 1, &request, NULL) != NC_NOERR;
    for (MPI_Offset i = first; i < first + count; i++)
        wrong += b[i] != (int)i;
    hearth_barrier();
    for (int i = 0; i < COUNT * ranks; i++)
        wrong += b[i] != i;
    ncmpi_close(file);
    printf("pnetcdf: rank %d: %s\n", me, wrong == 0 ? "right" : "wrong");
    fflush(stdout);
    hearth_finalize();
    MPI_Finalize();
    return wrong != 0;
}
