/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "verify.h"

enum { VECTORS = 4 };

/* y = A x. */
static void
matrix_times(const struct plan *p, const double *x, double *y)
{
    int32_t        room[4];
    const int32_t *next;

    for (int32_t c = 0; c < p->n; c++) {
        const int32_t i = p->point[c];

        y[c] = plan_entry(p, i, i) * x[c];
        for (int k = plan_neighbours(p, i, room, &next); k-- > 0;)
            y[c] += plan_entry(p, i, next[k]) * x[p->place[next[k]]];
    }
}

/* to += L from of a panel, or L^T from; the diagonal block's upper part is not
 * there. */
static void
panel_times(const struct panel *q, const double *value, const double *from,
            double *to, bool transposed)
{
    for (int32_t r = 0; r < q->rows; r++)
        for (int32_t c = 0; c < q->width && c <= r; c++) {
            const double l = value[r * q->width + c];

            if (transposed)
                to[q->first + c] += l * from[q->row[r]];
            else
                to[q->row[r]] += l * from[q->first + c];
        }
}

static double
vector_error(const struct plan *p, const double *values, const double *x)
{
    const size_t n = (size_t)p->n;
    double      *want = app_private(p->run, n, sizeof *want);
    double      *half = app_private(p->run, n, sizeof *half);
    double      *got = app_private(p->run, n, sizeof *got);
    double       off = 0, most = 0;

    matrix_times(p, x, want);
    for (int32_t i = 0; i < p->panels; i++)
        panel_times(&p->panel[i], &values[p->panel[i].at + 1], x, half, true);
    for (int32_t i = 0; i < p->panels; i++)
        panel_times(&p->panel[i], &values[p->panel[i].at + 1], half, got,
                    false);
    for (size_t i = 0; i < n; i++) {
        most = app_worse(most, fabs(want[i]));
        off = app_worse(off, fabs(got[i] - want[i]));
    }
    free(got);
    free(half);
    free(want);
    return off / most;
}

double
factor_error(const struct plan *p, const double *values)
{
    double *x = app_private(p->run, (size_t)p->n, sizeof *x);
    double  error = 0;

    for (int v = 0; v < VECTORS; v++) {
        for (int32_t i = 0; i < p->n; i++)
            x[i] = app_random((uint64_t)v << 40 | (uint64_t)i) - 0.5;
        error = app_worse(error, vector_error(p, values, x));
    }
    free(x);
    return error;
}
