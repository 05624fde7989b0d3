/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"
#include "transfer.h"

/* Sweeps are slow when they leave more of the residual than this; a
 * correction is good when it leaves no more than that. */
#define SLOW 0.6
#define GOOD 0.2

enum { MOST_SWEEPS = 10000 }; /* of one solution */

/* The planes from level `finer` on, whose finest one x and b are given for. */
static void
levels_init(struct ocean_solver *s, struct ocean_team *t, size_t n,
            double distance, size_t finer)
{
    *s = (struct ocean_solver){ .team = t,
                                .distance = distance,
                                .finer = finer };
    do {
        const size_t l = s->levels++;

        if (l == 0)
            ocean_plane_init(&s->plane[l], t, n);
        else
            ocean_plane_halve(&s->plane[l], &s->plane[l - 1]);
        if (!s->plane[l].sole)
            ocean_grid_init(&s->rest[l], &s->plane[l]);
        if (l > 0) {
            ocean_grid_init(&s->x[l], &s->plane[l]);
            ocean_grid_init(&s->b[l], &s->plane[l]);
        }
    } while (s->levels < OCEAN_LEVELS && s->plane[s->levels - 1].n > 2 &&
             !s->plane[s->levels - 1].sole);
}

/* A solver of rank 0 with memory of its own, but for x and b. */
static struct ocean_solver *
alone_start(const struct ocean_solver *s)
{
    const struct app_run *run = s->team->run;
    const size_t          last = s->levels - 1;
    struct ocean_solver  *alone = app_private(run, 1, sizeof *alone);
    struct ocean_team    *team = app_private(run, 1, sizeof *team);

    ocean_team_init(team, run, NULL);
    levels_init(alone, team, s->plane[last].n,
                s->distance * (double)((size_t)1 << last), last);
    return alone;
}

static void
levels_free(struct ocean_solver *s)
{
    for (size_t l = s->levels; l-- > 0;) {
        if (l > 0) {
            ocean_grid_free(&s->b[l]);
            ocean_grid_free(&s->x[l]);
        }
        if (!s->plane[l].sole)
            ocean_grid_free(&s->rest[l]);
        ocean_plane_free(&s->plane[l]);
    }
}

static void
alone_stop(struct ocean_solver *alone)
{
    levels_free(alone);
    ocean_team_free(alone->team);
    free(alone->team);
    free(alone);
}

void
ocean_solver_init(struct ocean_solver *s, struct ocean_team *t, size_t n,
                  double distance)
{
    levels_init(s, t, n, distance, 0);
    if (s->plane[s->levels - 1].sole && t->run->rank == 0)
        s->alone = alone_start(s);
}

void
ocean_solver_free(struct ocean_solver *s)
{
    if (s->alone != NULL)
        alone_stop(s->alone);
    levels_free(s);
}

/*
 * What an equation is made of when all is multiplied with d^2.  The points
 * of a coarser plane are between those of the finer one, so that its first
 * point is not d but only (1 + 1/2^level) d/2 off the coast.  Beyond the coast
 * x is negative there, such that it is 0 at the coast: `beyond` times as
 * much.
 */
struct factors {
    double square, centre, beyond;
};

static double
beyond_find(const struct ocean_solver *s, size_t level)
{
    const size_t finer = s->finer + level;
    const double distance = (1 + 1 / (double)((size_t)1 << finer)) / 2;

    return (1 - distance) / distance;
}

static struct factors
factors_find(const struct ocean_solver *s, size_t level, double k)
{
    const double   d = s->distance * (double)((size_t)1 << level);
    struct factors f = { d * d, 4 + k * d * d, beyond_find(s, level) };

    return f;
}

/* Is this row or column next to the coast, perhaps to both? */
static double
coasts_count(const struct ocean_plane *p, size_t at)
{
    return (at == 1) + (at == p->n);
}

/* A row and its neighbours, all from the first column off the coast on. */
struct row {
    double       *here;
    const double *south, *north, *want;
    double        square, greatest;
};

/* Relax a point; how much it changes. */
static inline double
point_relax(const struct row *r, size_t j, double scale)
{
    double *x = r->here + j;
    double  next = ((r->north[j] + r->south[j]) + (x[-1] + x[1]) -
                   r->square * r->want[j]) *
                  scale;
    double change = fabs(next - *x);

    *x = next;
    return change;
}

/*
 * Relax every second point of [from, to); keep the greatest change: of every
 * other one of them apart, as a comparison takes as long as the rest.
 */
static void
points_relax(struct row *keep, size_t from, size_t to, double centre)
{
    const struct row r = *keep;
    const double     scale = 1 / centre;
    double           one = r.greatest, other = 0;
    size_t           j = from;

    for (; j + 2 < to; j += 4) {
        double change = point_relax(&r, j, scale);
        double next = point_relax(&r, j + 2, scale);

        one = change > one ? change : one;
        other = next > other ? next : other;
    }
    if (j < to) {
        double change = point_relax(&r, j, scale);

        one = change > one ? change : one;
    }
    keep->greatest = one > other ? one : other;
}

/* Relax the points of one colour in my part; the greatest change. */
static double
colour_relax(const struct ocean_grid *x, const struct ocean_grid *b,
             enum ocean_colour c, struct factors f)
{
    const struct ocean_plane *p = x->plane;
    const size_t              width = ocean_width(p);
    struct row                r = { .square = f.square };

    for (size_t i = p->first_row; i < p->last_row && width > 0; i++) {
        const double centre = f.centre + f.beyond * coasts_count(p, i);
        const size_t first = (i + p->first_column + c) % 2;
        const size_t last = first + (width - 1 - first) / 2 * 2;

        r.here = ocean_row(x, i);
        r.south = ocean_row(x, i - 1);
        r.north = ocean_row(x, i + 1);
        r.want = ocean_row(b, i);
        if (first >= width)
            continue;
        points_relax(&r, first, first + 1,
                     centre +
                         f.beyond * coasts_count(p, p->first_column + first));
        points_relax(&r, first + 2, last, centre);
        if (last > first)
            points_relax(&r, last, last + 1,
                         centre + f.beyond *
                                      coasts_count(p, p->first_column + last));
    }
    return r.greatest;
}

/* One sweep over all parts; the greatest residual that it met. */
static double
sweep_run(struct ocean_solver *s, const struct ocean_grid *x,
          const struct ocean_grid *b, struct factors f)
{
    double red, black;

    s->sweeps++;
    ocean_grid_refresh(x, OCEAN_BLACK);
    red = colour_relax(x, b, OCEAN_RED, f);
    ocean_team_barrier(s->team);
    ocean_grid_refresh(x, OCEAN_RED);
    black = colour_relax(x, b, OCEAN_BLACK, f);
    return ocean_team_max(s->team, fmax(red, black)) * f.centre / f.square;
}

/* What is left of b at my points. */
static void
rest_find(const struct ocean_grid *rest, const struct ocean_grid *x,
          const struct ocean_grid *b, struct factors f)
{
    const struct ocean_plane *p = x->plane;
    const size_t              width = ocean_width(p);
    const double              scale = 1 / f.square;

    for (size_t i = p->first_row; i < p->last_row && width > 0; i++) {
        const double centre = f.centre + f.beyond * coasts_count(p, i);
        double *restrict r = ocean_row(rest, i);
        const double *restrict here = ocean_row(x, i);
        const double *restrict west = here - 1;
        const double *restrict south = ocean_row(x, i - 1);
        const double *restrict north = ocean_row(x, i + 1);
        const double *restrict want = ocean_row(b, i);

#pragma omp simd
        for (size_t j = 0; j < width; j++)
            r[j] = want[j] - ((north[j] + south[j]) + (west[j] + west[j + 2]) -
                              centre * here[j]) *
                                 scale;
        r[0] += f.beyond * coasts_count(p, p->first_column) * scale * here[0];
        if (width > 1)
            r[width - 1] += f.beyond * coasts_count(p, p->last_column - 1) *
                            scale * here[width - 1];
    }
}

static void
level_descend(const struct ocean_solver *s, size_t level,
              const struct ocean_grid *x, const struct ocean_grid *b,
              struct factors f)
{
    ocean_grid_refresh(x, OCEAN_ALL);
    rest_find(&s->rest[level], x, b, f);
    ocean_team_barrier(s->team);
    ocean_grid_refresh(&s->rest[level], OCEAN_ALL);
    ocean_restrict(s, level + 1);
    ocean_team_barrier(s->team);
}

/* All of the last level's sweeps, and those below it, by rank 0. */
static void
last_solve(struct ocean_solver *s, double k, double tolerance)
{
    const size_t             last = s->levels - 1;
    const struct ocean_plane *whole = &s->alone->plane[0];
    const long               before = s->alone->sweeps;
    struct ocean_grid        x, b;

    memset(s->x[last].base, 0,
           (whole->n + 2) * (whole->n + 2) * sizeof(double));
    ocean_grid_over(&x, whole, s->x[last].base);
    ocean_grid_over(&b, whole, s->b[last].base);
    ocean_solve(s->alone, &x, &b, k, tolerance);
    s->sweeps += s->alone->sweeps - before;
}

/* The same for all ranks; nothing is left that would matter. */
static double
alone_solve(struct ocean_solver *s, double k, double tolerance)
{
    if (s->alone != NULL)
        last_solve(s, k, tolerance);
    ocean_team_barrier(s->team);
    return 0;
}

void
ocean_solve(struct ocean_solver *s, const struct ocean_grid *x,
            const struct ocean_grid *b, double k, double tolerance)
{
    const long start = s->sweeps;
    double     enough[OCEAN_LEVELS] = { tolerance };
    double     before = HUGE_VAL;
    size_t     l = 0;

    for (;;) {
        const struct ocean_grid *lx = l > 0 ? &s->x[l] : x;
        const struct ocean_grid *lb = l > 0 ? &s->b[l] : b;
        const struct factors     f = factors_find(s, l, k);
        const double             rest = s->plane[l].sole
                                            ? alone_solve(s, k, enough[l])
                                            : sweep_run(s, lx, lb, f);

        if (s->sweeps - start > MOST_SWEEPS)
            app_fail(s->team->run, "no solution in %d sweeps: %.3g, not %.3g",
                     MOST_SWEEPS, rest, tolerance);
        if (rest <= enough[l]) {
            if (l == 0)
                return;
            ocean_correct(l > 1 ? &s->x[l - 1] : x, &s->x[l],
                          beyond_find(s, l));
            ocean_team_barrier(s->team);
            l--;
            before = HUGE_VAL;
        } else if (rest > SLOW * before && l + 1 < s->levels) {
            level_descend(s, l, lx, lb, f);
            enough[++l] = GOOD * rest;
            before = HUGE_VAL;
        } else {
            before = rest;
        }
    }
}
