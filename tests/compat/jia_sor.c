/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Red-black relaxation, written as a user of JIAJIA would write it, against
 * nothing but "jia.h": rows dealt to the hosts, locks for the sum, the result
 * compared with one host's own.
 *
 *   jia_sor [-i iterations] [-m rows] [-Q hosts] [-S]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jia.h"

#define N 512 /* floats in a row: half a page */

int M = 64;
int iterations = 10;

float (*a)[N];
double *total;

void sweep(float (*g)[N], int from, int to, int colour)
{
    int i, j;

    for (i = from; i <= to; i++)
        for (j = 1 + (i + colour) % 2; j < N - 1; j += 2)
            g[i][j] = (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1])
                      / 4;
}

void fill(float (*g)[N])
{
    int i, j;

    for (i = 0; i < M + 2; i++)
        for (j = 0; j < N; j++)
            g[i][j] = (i == 0 || i == M + 1 || j == 0 || j == N - 1) ? 1 : 0;
}

double sum(float (*g)[N], int from, int to)
{
    double s = 0;
    int i, j;

    for (i = from; i <= to; i++)
        for (j = 0; j < N; j++)
            s += g[i][j];
    return s;
}

/* The whole thing again, alone. */
int check()
{
    float (*own)[N] = (float (*)[N])malloc((M + 2) * sizeof(*own));
    double want;
    int k, same;

    fill(own);
    for (k = 0; k < iterations; k++) {
        sweep(own, 1, M, 0);
        sweep(own, 1, M, 1);
    }
    want = sum(own, 1, M);
    same = memcmp(own, a, (M + 2) * sizeof(*own)) == 0 &&
           fabs(*total - want) < 1e-6 * fabs(want);
    printf("sum %f, wanted %f\n", *total, want);
    free(own);
    return same;
}

int main(int argc, char **argv)
{
    int begin, end, k, ok = 1;
    double part;
    float t1, t2;

    for (k = 1; k < argc - 1; k++) {
        if (strcmp(argv[k], "-i") == 0)
            iterations = atoi(argv[k + 1]);
        if (strcmp(argv[k], "-m") == 0)
            M = atoi(argv[k + 1]);
    }
    jia_init(argc, argv);
    a = (float (*)[N])jia_alloc3((M + 2) * N * sizeof(float),
                                 (M + 2) * N * sizeof(float) / jiahosts, 0);
    total = (double *)jia_alloc(sizeof(double));
    jia_barrier();
    if (jiapid == 0)
        fill(a);
    jia_barrier();
    begin = 1;
    end = M;
    jia_divtask(&begin, &end);
    jia_startstat();
    t1 = jia_clock();
    for (k = 0; k < iterations; k++) {
        sweep(a, begin, end, 0);
        jia_barrier();
        sweep(a, begin, end, 1);
        jia_barrier();
    }
    part = sum(a, begin, end);
    jia_lock(5);
    *total += part;
    jia_unlock(5);
    jia_barrier();
    t2 = jia_clock();
    jia_stopstat();
    if (jiapid == 0) {
        ok = check();
        printf("hosts %d\nElapsed time: %.2f seconds\n", jiahosts, t2 - t1);
    }
    jia_exit();
    if (jiapid == 0)
        printf("%s\n", ok ? "right" : "WRONG");
    return ok ? 0 : 1;
}
