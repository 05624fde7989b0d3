/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Parallel HDF5 on heap buffers: what H5Dwrite takes is at home on the right
 * neighbour, and H5Dread reads into a half-written copy.
 */
#include <hdf5.h>
#include <hearth/hearth.h>
#include <stdio.h>

enum { COUNT = 100000 };

static hid_t part, whole, access, transfer;

static void
spaces_new(int me, int ranks)
{
    hsize_t all = (hsize_t)COUNT * (hsize_t)ranks, mine = COUNT;
    hsize_t first = (hsize_t)COUNT * (hsize_t)me;

    whole = H5Screate_simple(1, &all, NULL);
    part = H5Screate_simple(1, &mine, NULL);
    H5Sselect_hyperslab(whole, H5S_SELECT_SET, &first, NULL, &mine, NULL);
    access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
}

int
main(int argc, char **argv)
{
    int level, me, ranks, wrong = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    ranks = hearth_size();
    double *a =
        hearth_alloc((size_t)COUNT * (size_t)ranks, sizeof *a, hearth_block());
    double *b =
        hearth_alloc((size_t)COUNT * (size_t)ranks, sizeof *b, hearth_block());
    size_t here = (size_t)me * COUNT,
           there = (here + COUNT) % ((size_t)ranks * COUNT);

    for (size_t i = here; i < here + COUNT; i++)
        a[i] = (double)i;
    hearth_barrier();
    spaces_new(me, ranks);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t data = H5Dcreate2(file, "a", H5T_NATIVE_DOUBLE, whole, H5P_DEFAULT,
                            H5P_DEFAULT, H5P_DEFAULT);
    wrong += H5Dwrite(data, H5T_NATIVE_DOUBLE, part, whole, transfer,
                      a + there) < 0;
    for (size_t i = there; i < there + COUNT; i += 1000)
        b[i] = -1;
    wrong +=
        H5Dread(data, H5T_NATIVE_DOUBLE, part, whole, transfer, b + there) < 0;
    for (size_t i = there; i < there + COUNT; i++)
        wrong += b[i] != (double)i;
    hearth_barrier();
    for (size_t i = 0; i < (size_t)ranks * COUNT; i++)
        wrong += b[i] != (double)i;
    H5Dclose(data);
    H5Fclose(file);
    printf("hdf5: rank %d: %s\n", me, wrong == 0 ? "right" : "wrong");
    fflush(stdout);
    hearth_finalize();
    MPI_Finalize();
    return wrong != 0;
}
