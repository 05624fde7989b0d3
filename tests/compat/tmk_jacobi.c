/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The Jacobi program of the papers on TreadMarks, against nothing but "Tmk.h":
 * process 0 allocates and initialises, each process sweeps its rows.  The
 * result is compared with one process's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Tmk.h"

#define M 64
#define N 512

float (*grid)[N]; /* shared */
float scratch[M][N]; /* private */
float own[M][N];
int iterations = 10;

void sweep(float (*from)[N], float (*to)[N], int begin, int end)
{
    int i, j;

    for (i = begin; i < end; i++)
        for (j = 0; j < N; j++)
            to[i][j] = i == 0 || i == M - 1 || j == 0 || j == N - 1
                           ? from[i][j]
                           : (from[i - 1][j] + from[i + 1][j] +
                              from[i][j - 1] + from[i][j + 1]) / 4;
}

void fill(float (*g)[N])
{
    int i, j;

    for (i = 0; i < M; i++)
        for (j = 0; j < N; j++)
            g[i][j] = i == 0 || j == 0 ? 1 : 0;
}

int right()
{
    int k;

    fill(own);
    for (k = 0; k < iterations; k++) {
        sweep(own, scratch, 0, M);
        memcpy(own, scratch, sizeof(own));
    }
    return memcmp(own, grid, sizeof(own)) == 0;
}

int main(int argc, char **argv)
{
    int begin, end, k;

    Tmk_startup(argc, argv);
    if (Tmk_proc_id == 0) {
        grid = (float (*)[N])Tmk_malloc(M * sizeof(*grid));
        Tmk_distribute((char *)&grid, sizeof(grid));
        fill(grid);
    }
    Tmk_barrier(0);
    begin = M * Tmk_proc_id / Tmk_nprocs;
    end = M * (Tmk_proc_id + 1) / Tmk_nprocs;
    for (k = 0; k < iterations; k++) {
        sweep(grid, scratch, begin, end);
        Tmk_barrier(1);
        memcpy(grid[begin], scratch[begin], (end - begin) * sizeof(*grid));
        Tmk_barrier(2);
    }
    if (Tmk_proc_id == 0) {
        printf("processes %d\n", (int)Tmk_nprocs);
        printf("%s\n", right() ? "right" : "WRONG");
        fflush(stdout);
        Tmk_free(grid);
    }
    Tmk_exit(0);
}
