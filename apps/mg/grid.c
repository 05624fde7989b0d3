/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A, C and P are one operator with different weights: the value of a point is
 * a sum over itself and its 26 neighbours, and the weight of a neighbour
 * follows from the number of directions in which it is off: in none
 * (weight[0], the point itself) to three (weight[3]).  With the sum over the
 * four points beside it in the plane across the row, and that over the four
 * at the corners, two lines hold all that a row of points needs: what a point
 * gives to itself (`near`), and what it gives to both neighbours in the row
 * (`beside`).
 *
 * The weights are those of NPB's classes S, W and A.  NPB leaves out the two
 * that are zero; here they cost nothing that can be measured.
 */
#include <config.h>

#include <string.h>

#include "grid.h"

enum { PAD = 8 }; /* doubles in a cache line */

static const double weights_a[] = { -8.0 / 3, 0, 1.0 / 6, 1.0 / 12 };
static const double weights_c[] = { -3.0 / 8, 1.0 / 32, -1.0 / 64, 0 };
static const double weights_p[] = { 1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16 };

/* A row's lines; beside[-1] and beside[n] are there, too. */
struct lines {
    _Alignas(64) double near[MG_MOST];
    _Alignas(64) double padded[PAD + MG_MOST + PAD];
};

void
grid_zero(const struct grid *g)
{
    for (size_t k = g->from; k < g->to; k++)
        memset(g->plane[k], 0, grid_plane_bytes(g));
}

/* The lines of row j in plane k. */
static inline void
row_weigh(struct lines *lines, const struct grid *g, size_t k, size_t j,
          const double weight[4])
{
    const size_t   n = g->n;
    const size_t   row = j * n;
    const size_t   last = (j > 0 ? j - 1 : n - 1) * n;
    const size_t   next = (j + 1 < n ? j + 1 : 0) * n;
    double *const *plane = g->plane + k;
    const double  *below = plane[-1], *here = plane[0], *above = plane[1];
    const double   w0 = weight[0], w1 = weight[1];
    const double   w2 = weight[2], w3 = weight[3];
    double *restrict near = lines->near;
    double *restrict beside = lines->padded + PAD;

#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        double centre = here[row + i];
        double side = (here[last + i] + here[next + i]) +
                      (below[row + i] + above[row + i]);
        double corner = (below[last + i] + below[next + i]) +
                        (above[last + i] + above[next + i]);

        near[i] = (w0 * centre + w1 * side) + w2 * corner;
        beside[i] = (w1 * centre + w2 * side) + w3 * corner;
    }
    beside[-1] = beside[n - 1];
    beside[n] = beside[0];
}

void
grid_residual(const struct grid *r, const struct grid *v, const struct grid *u)
{
    const size_t  n = r->n;
    struct lines  lines;
    const double *near = lines.near, *beside = lines.padded + PAD;

    for (size_t k = r->from; k < r->to; k++)
        for (size_t j = 0; j < n; j++) {
            const double *right = v->plane[k] + j * n;
            double       *out = r->plane[k] + j * n;

            row_weigh(&lines, u, k, j, weights_a);
#pragma omp simd
            for (size_t i = 0; i < n; i++)
                out[i] =
                    right[i] - (near[i] + (beside[i - 1] + beside[i + 1]));
        }
}

void
grid_smooth(const struct grid *u, const struct grid *r)
{
    const size_t  n = u->n;
    struct lines  lines;
    const double *near = lines.near, *beside = lines.padded + PAD;

    for (size_t k = u->from; k < u->to; k++)
        for (size_t j = 0; j < n; j++) {
            double *out = u->plane[k] + j * n;

            row_weigh(&lines, r, k, j, weights_c);
#pragma omp simd
            for (size_t i = 0; i < n; i++)
                out[i] += near[i] + (beside[i - 1] + beside[i + 1]);
        }
}

/* Point i of the coarse grid is in the middle of point 2 i + 1. */
void
grid_restrict(const struct grid *coarse, const struct grid *fine)
{
    const size_t  n = coarse->n;
    struct lines  lines;
    const double *near = lines.near, *beside = lines.padded + PAD;

    for (size_t k = coarse->from; k < coarse->to; k++)
        for (size_t j = 0; j < n; j++) {
            double *out = coarse->plane[k] + j * n;

            row_weigh(&lines, fine, 2 * k + 1, 2 * j + 1, weights_p);
#pragma omp simd
            for (size_t i = 0; i < n; i++)
                out[i] = near[2 * i + 1] + (beside[2 * i] + beside[2 * i + 2]);
        }
}

/* A row of the fine grid, from the mean of four coarse rows. */
static inline void
row_prolong(double *restrict out, const double *restrict line, size_t coarse_n,
            bool add)
{
#pragma omp simd
    for (size_t i = 0; i < coarse_n; i++) {
        double even = 0.5 * (line[i - 1] + line[i]);
        double odd = line[i];

        out[2 * i] = add ? out[2 * i] + even : even;
        out[2 * i + 1] = add ? out[2 * i + 1] + odd : odd;
    }
}

/*
 * Fine planes and rows of odd number are at those of the coarse grid, the
 * others between two of them: an odd one is the mean of four equal rows or of
 * two pairs, to the bit the same as the row or the mean of two.
 */
void
grid_prolong(const struct grid *fine, const struct grid *coarse, bool add)
{
    const size_t        n = coarse->n;
    _Alignas(64) double padded[PAD + MG_MOST / 2];
    double *restrict line = padded + PAD;

    for (size_t k = fine->from; k < fine->to; k++)
        for (size_t j = 0; j < fine->n; j++) {
            double *const *plane = coarse->plane + k / 2;
            const double  *below = plane[k % 2 == 1 ? 0 : -1];
            const double  *above = plane[0];
            const size_t   next = j / 2 * n;
            const size_t   last = (j / 2 + j % 2 + n - 1) % n * n;

#pragma omp simd
            for (size_t i = 0; i < n; i++)
                line[i] = 0.25 * ((below[last + i] + below[next + i]) +
                                  (above[last + i] + above[next + i]));
            line[-1] = line[n - 1];
            if (add)
                row_prolong(fine->plane[k] + j * fine->n, line, n, true);
            else
                row_prolong(fine->plane[k] + j * fine->n, line, n, false);
        }
}

void
grid_square(const struct grid *g, double *square)
{
    for (size_t k = g->from; k < g->to; k++) {
        double sum = 0;

#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < g->n * g->n; i++)
            sum += g->plane[k][i] * g->plane[k][i];
        square[k] = sum;
    }
}
