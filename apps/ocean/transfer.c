/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <string.h>

#include "transfer.h"

void
ocean_restrict(const struct ocean_solver *s, size_t level)
{
    const struct ocean_plane *p = &s->plane[level];
    const struct ocean_view  *from = &s->rest[level - 1].mine;
    const size_t width = ocean_width(p), column = 2 * p->first_column - 1;

    for (size_t i = p->first_row; i < p->last_row; i++) {
        double       *b = ocean_row(&s->b[level], i);
        double       *x = ocean_row(&s->x[level], i);
        const double *r = ocean_view_at(from, 2 * i - 1, column);
        const double *up = ocean_view_at(from, 2 * i, column);

        for (size_t j = 0; j < width; j++)
            b[j] = 0.25 *
                   ((r[2 * j] + r[2 * j + 1]) + (up[2 * j] + up[2 * j + 1]));
        if (!p->sole)
            memset(x, 0, width * sizeof *x);
    }
}

/* The part of a correction that is of the nearer row or column. */
static double
near_part(const struct ocean_plane *p, size_t at, double beyond)
{
    return 0.75 - (at == 1 || at == p->n ? 0.25 * beyond : 0);
}

/* Add to row i what two coarse rows, from one point before the first that
 * is needed on, have between them. */
static void
row_correct(const struct ocean_grid *x, size_t i, const double *near,
            const double *far, double beyond)
{
    const struct ocean_plane *p = x->plane;
    const size_t              first = p->first_column, last = p->last_column;
    const double              part = near_part(p, i, beyond);
    double                   *here = ocean_row(x, i);
    double                    west = part * near[0] + 0.25 * far[0];
    double                    middle = part * near[1] + 0.25 * far[1];

    for (size_t j = (first - 1) / 2 * 2 + 1, k = 2; j < last; j += 2, k++) {
        double east;

        if (j >= first)
            here[j - first] += near_part(p, j, beyond) * middle + 0.25 * west;
        if (j + 1 == last)
            break; /* what is to the east may not be in the margin */
        east = part * near[k] + 0.25 * far[k];
        here[j + 1 - first] +=
            near_part(p, j + 1, beyond) * middle + 0.25 * east;
        west = middle;
        middle = east;
    }
}

void
ocean_correct(const struct ocean_grid *x, const struct ocean_grid *coarse,
              double beyond)
{
    const struct ocean_plane *p = x->plane;
    const struct ocean_view  *from = &coarse->mine;
    const size_t              column = (p->first_column + 1) / 2 - 1;

    ocean_grid_refresh(coarse, OCEAN_ALL);
    for (size_t i = p->first_row; i < p->last_row; i++) {
        const size_t near = (i + 1) / 2, far = i % 2 ? near - 1 : near + 1;

        row_correct(x, i, ocean_view_at(from, near, column),
                    ocean_view_at(from, far, column), beyond);
    }
}
