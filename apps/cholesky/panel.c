/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <string.h>

#include "panel.h"

enum { BLOCK = 4 };

void
panel_start(const struct plan *p, const struct panel *q, double *value)
{
    const size_t width = (size_t)q->width;

    memset(value, 0, (size_t)q->rows * width * sizeof *value);
    for (int32_t r = 0; r < q->rows; r++)
        for (int32_t c = 0; c < q->width && c <= r; c++) {
            const double a =
                plan_entry(p, p->point[q->row[r]], p->point[q->first + c]);

            if (a != 0)
                value[(size_t)r * width + (size_t)c] = a;
        }
}

/* Divide a row by the transpose of the diagonal block, whose rows are the
 * columns of `block`. */
static void
row_solve(double *restrict x, const double (*restrict block)[PANEL_MOST],
          int32_t width)
{
    for (int32_t j = 0; j < width; j++) {
        const double factor = x[j] /= block[j][j];

#pragma omp simd
        for (int32_t k = j + 1; k < width; k++)
            x[k] -= factor * block[j][k];
    }
}

/* Row r of the diagonal block is a row as all others, but for its end; and it
 * is a column for those below. */
void
panel_factor(const struct panel *q, double *value)
{
    const int32_t width = q->width;
    double        block[PANEL_MOST][PANEL_MOST];

    for (int32_t r = 0; r < width; r++) {
        double *x = &value[r * width];

        row_solve(x, block, r);
        for (int32_t k = 0; k < r; k++)
            x[r] -= x[k] * x[k];
        x[r] = sqrt(x[r]);
        for (int32_t k = 0; k <= r; k++)
            block[k][r] = x[k];
    }
    for (int32_t r = width; r < q->rows; r++)
        row_solve(&value[(size_t)r * (size_t)width], block, width);
}

/* out += the sum of BLOCK numbers, each times a row of columns. */
static inline void
block_add(double *restrict out, const double *restrict number,
          const double (*restrict row)[PANEL_MOST], int32_t count)
{
#pragma omp simd
    for (int32_t j = 0; j < count; j++)
        out[j] += number[0] * row[0][j] + number[1] * row[1][j] +
                  number[2] * row[2][j] + number[3] * row[3][j];
}

void
panel_product(const struct panel *q, const double *value, int32_t from,
              int32_t to, double *out)
{
    const int32_t width = q->width, count = to - from;
    const int32_t whole = width / BLOCK * BLOCK;
    double        column[PANEL_MOST][PANEL_MOST];

    for (int32_t j = 0; j < count; j++)
        for (int32_t k = 0; k < width; k++)
            column[k][j] = value[(from + j) * width + k];
    for (int32_t r = from; r < q->rows; r++, out += count) {
        const double *x = &value[(size_t)r * (size_t)width];

        for (int32_t j = 0; j < count; j++)
            out[j] = 0;
        for (int32_t k = 0; k < whole; k += BLOCK)
            block_add(out, x + k, &column[k], count);
        for (int32_t k = whole; k < width; k++)
            for (int32_t j = 0; j < count; j++)
                out[j] += x[k] * column[k][j];
    }
}

void
panel_subtract(const struct panel *target, double *value,
               const struct panel *q, int32_t from, int32_t to,
               const double *product)
{
    const int32_t count = to - from;
    const double *x = product;
    int32_t       at = 0;

    for (int32_t r = from; r < q->rows; r++, x += count) {
        double *y;

        while (target->row[at] != q->row[r])
            at++;
        y = &value[(size_t)at * (size_t)target->width];
        for (int32_t j = 0; j < count && from + j <= r; j++)
            y[q->row[from + j] - target->first] -= x[j];
    }
}
