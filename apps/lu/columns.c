/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "columns.h"

#include "block.h"
#include "lu.h"

struct layout
layout_make(size_t n, size_t b, size_t page)
{
    size_t        blocks = (n + b - 1) / b;
    size_t        pages = (blocks * b * b + page - 1) / page;
    struct layout l = { n, b, blocks, pages * page };

    return l;
}

void
column_start(const struct layout *l, double *column, size_t j)
{
    const size_t b = l->b;

    for (size_t i = 0; i < l->blocks * b; i++)
        for (size_t k = 0; k < b; k++)
            column[i / b * b * b + k * b + i % b] =
                lu_element(l->n, i, j * b + k);
}

void
column_factor(const struct layout *l, double *column, size_t k)
{
    const size_t area = l->b * l->b;

    block_factor(column + k * area, l->b);
    for (size_t i = k + 1; i < l->blocks; i++)
        block_divide(column + i * area, column + k * area, l->b);
}

void
column_update(const struct layout *l, double *column, const double *panel,
              size_t k)
{
    const size_t area = l->b * l->b;
    double      *u = column + k * area;

    block_solve(u, panel, l->b);
    for (size_t i = k + 1; i < l->blocks; i++)
        block_subtract(column + i * area, panel + (i - k) * area, u, l->b);
}

void
column_copy(const struct layout *l, double *plain, const double *column,
            size_t j)
{
    const size_t b = l->b, n = l->n;

    for (size_t k = 0; k < b && j * b + k < n; k++)
        for (size_t i = 0; i < n; i++)
            plain[(j * b + k) * n + i] = column[i / b * b * b + k * b + i % b];
}
