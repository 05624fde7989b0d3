/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ScaLAPACK on heap memory: pdgesv with each rank's part of the matrix and of
 * the right side at home on its right neighbour; the solution is known.
 */
#include <hearth/hearth.h>
#include <math.h>
#include <stdio.h>

enum { N = 256, BLOCK = 32 };

void Cblacs_get(int, int, int *);
void Cblacs_gridinit(int *, const char *, int, int);
void Cblacs_gridexit(int);
int  numroc_(const int *, const int *, const int *, const int *, const int *);
void descinit_(int *, const int *, const int *, const int *, const int *,
               const int *, const int *, const int *, const int *, int *);
void pdgesv_(const int *, const int *, double *, const int *, const int *,
             const int *, int *, double *, const int *, const int *,
             const int *, int *);

/* Diagonally dominant; x[i] = i + 1 solves it. */
static double
element(int i, int j)
{
    return i == j ? 2 * N : (i * 7 + j * 3) % 11 / 11.0;
}

int
main(int argc, char **argv)
{
    int level, me, ranks, grid, info, zero = 0, one = 1, n = N, block = BLOCK;
    int wrong = 0, pivots[N + BLOCK], of_a[9], of_b[9];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    ranks = hearth_size();
    Cblacs_get(-1, 0, &grid);
    Cblacs_gridinit(&grid, "R", ranks, 1); /* rows of blocks in turn */
    int     rows = numroc_(&n, &block, &me, &zero, &ranks);
    double *all =
        hearth_alloc((size_t)ranks * N * (N + 2), sizeof *all, hearth_block());
    double *a = all + (size_t)((me + 1) % ranks) * N * (N + 2);
    double *b = a + (size_t)N * N;

    descinit_(of_a, &n, &n, &block, &block, &zero, &zero, &grid, &rows, &info);
    descinit_(of_b, &n, &one, &block, &block, &zero, &zero, &grid, &rows,
              &info);
    for (int r = 0; r < rows; r++) {
        int i = (r / BLOCK * ranks + me) * BLOCK + r % BLOCK;

        b[r] = 0;
        for (int j = 0; j < N; j++) {
            a[r + j * rows] = element(i, j);
            b[r] += element(i, j) * (j + 1);
        }
    }
    hearth_barrier();
    pdgesv_(&n, &one, a, &one, &one, of_a, pivots, b, &one, &one, of_b, &info);
    for (int r = 0; r < rows; r++) {
        int i = (r / BLOCK * ranks + me) * BLOCK + r % BLOCK;

        wrong += !(fabs(b[r] - (i + 1)) < 1e-8);
    }
    printf("scalapack: rank %d: %s\n", me,
           wrong == 0 && info == 0 ? "right" : "wrong");
    fflush(stdout);
    hearth_finalize();
    MPI_Finalize();
    return wrong != 0 || info != 0;
}
