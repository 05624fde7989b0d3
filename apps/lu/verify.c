/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The matrix that LU factors, and the residual of its factors by plain loops
 * that share no code with the factorisation.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "lu.h"

double
lu_element(size_t n, size_t i, size_t j)
{
    if (i >= n || j >= n)
        return i == j;
    return 2 * app_random(i * n + j) - 1 + (i == j ? (double)n : 0);
}

/* A residual column, A e_j - L (U e_j). */
static void
residual_column(size_t n, const double *lu, size_t j, double *residual)
{
    for (size_t i = 0; i < n; i++)
        residual[i] = lu_element(n, i, j);
    for (size_t k = 0; k <= j; k++) {
        const double *l = lu + k * n;
        const double  u = lu[j * n + k];

        residual[k] -= u; /* L's diagonal of ones */
        for (size_t i = k + 1; i < n; i++)
            residual[i] -= l[i] * u;
    }
}

static double
column_norm(size_t n, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += fabs(x[i]);
    return sum;
}

static bool
factors_finite(struct app_run *run, size_t n, const double *lu)
{
    for (size_t i = 0; i < n * n; i++)
        if (!isfinite(lu[i])) {
            app_verdict(run, false, "row %zu column %zu is not finite", i % n,
                        i / n);
            return false;
        }
    return true;
}

void
lu_verify(struct app_run *run, size_t n, const double *lu)
{
    double *x = app_private(run, n, sizeof *x);
    double  a_norm = 0, norm = 0;

    if (!factors_finite(run, n, lu))
        norm = NAN;
    for (size_t j = 0; j < n && !run->failed; j++) {
        for (size_t i = 0; i < n; i++)
            x[i] = lu_element(n, i, j);
        a_norm = app_worse(a_norm, column_norm(n, x));
        residual_column(n, lu, j, x);
        norm = app_worse(norm, column_norm(n, x));
    }
    norm = norm / a_norm / (double)n;
    if (!run->failed)
        app_verdict(run, norm < 1e-15,
                    "norm(A - LU) / norm(A) / n is %.3e, not below 1e-15",
                    norm);
    app_field(run, "residual=%.3e", norm);
    free(x);
}
