/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FFTW-MPI on heap arrays: each rank's part is at home on its right neighbour;
 * a wave has one line of a spectrum, and the way back gives it again.
 */
#include <complex.h>
#include <fftw3-mpi.h>
#include <hearth/hearth.h>
#include <math.h>
#include <stdio.h>

enum { N = 128 };

static double
difference(double complex a, double complex b)
{
    return cabs(a - b);
}

int
main(int argc, char **argv)
{
    int       level, me, ranks;
    ptrdiff_t rows, first, room;
    double    error = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    hearth_init(MPI_COMM_WORLD);
    fftw_mpi_init();
    me = hearth_rank();
    ranks = hearth_size();
    room = fftw_mpi_local_size_2d(N, N, MPI_COMM_WORLD, &rows, &first);
    room = (room + 255) / 256 * 256; /* whole pages, the same on all */
    fftw_complex *all =
        hearth_alloc((size_t)(room * ranks), sizeof *all, hearth_block());
    fftw_complex *a = all + room * ((me + 1) % ranks);
    fftw_plan     forth = fftw_mpi_plan_dft_2d(N, N, a, a, MPI_COMM_WORLD,
                                               FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan     back = fftw_mpi_plan_dft_2d(N, N, a, a, MPI_COMM_WORLD,
                                              FFTW_BACKWARD, FFTW_ESTIMATE);

    for (ptrdiff_t i = 0; i < rows * N; i++)
        a[i] =
            cexp(2 * I * acos(-1) *
                 (3.0 * (double)(first + i / N) + 5.0 * (double)(i % N)) / N);
    fftw_execute(forth);
    for (ptrdiff_t i = 0; i < rows * N; i++)
        error = fmax(error, difference(a[i], first + i / N == 3 && i % N == 5
                                                 ? (double)N * N
                                                 : 0));
    hearth_barrier();
    fftw_execute(back);
    for (ptrdiff_t i = 0; i < rows * N; i++)
        error = fmax(error, difference(a[i] / N / N,
                                       cexp(2 * I * acos(-1) *
                                            (3.0 * (double)(first + i / N) +
                                             5.0 * (double)(i % N)) /
                                            N)));
    printf("fftw: rank %d: %s\n", me, error < 1e-8 ? "right" : "wrong");
    fflush(stdout);
    fftw_destroy_plan(forth);
    fftw_destroy_plan(back);
    hearth_finalize();
    MPI_Finalize();
    return error >= 1e-8;
}
