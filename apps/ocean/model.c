/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include <hearth/hearth.h>

#include "model.h"

#define SIDE     5.12e6 /* of the basin, m */
#define CORIOLIS 9.3e-5 /* in the middle, 1/s */
#define BETA     2e-11  /* how it grows northwards, 1/(m s) */
#define UPPER    1000.0 /* depths, m */
#define LOWER    4000.0
#define LIGHTER  0.02 /* gravity between the layers, m/s^2 */
#define WIND     1e-4 /* stress over density, m^2/s^2 */
#define DRAG     1e-7 /* at the bottom, 1/s */
#define EDDIES   3e4  /* of the stream function at the start, m^2/s */
#define ASSELIN  0.05

/* Friction and step at a distance of 10 km; both follow the distance so that
 * the steps stay stable. */
#define FRICTION 8e9 /* m^4/s */
#define STEP     7200.0

static void
grids_each(struct ocean_model *m, bool make)
{
    struct ocean_grid *const grid[] = {
        &m->now[0],   &m->now[1],   &m->before[0], &m->before[1], &m->twist[0],
        &m->twist[1], &m->old[0],   &m->old[1],    &m->bend[0],   &m->bend[1],
        &m->right[0], &m->right[1], &m->change[0], &m->change[1], &m->shore,
    };

    for (size_t i = 0; i < sizeof grid / sizeof grid[0]; i++)
        if (make)
            ocean_grid_init(grid[i], &m->solver.plane[0]);
        else
            ocean_grid_free(grid[i]);
}

/*
 * The sum over all points off the coast, whose terms are always added in the
 * same order: in a row, piece by piece, as the parts are.  Collective.
 */
static double
points_sum(struct ocean_model *m, const struct ocean_grid *g)
{
    const struct ocean_plane *p = g->plane;
    double                    all = 0;

    for (size_t i = p->first_row; i < p->last_row; i++)
        for (size_t b = 0; b < m->pieces; b++) {
            const double *x = ocean_row(g, i);
            double        sum = 0;

            if (m->piece[b] < p->left || m->piece[b + 1] > p->right)
                continue; /* another rank's */
            for (size_t j = m->piece[b]; j < m->piece[b + 1]; j++)
                if (j >= p->first_column && j < p->last_column)
                    sum += x[j - p->first_column];
            m->sums[i * m->pieces + b] = sum;
        }
    ocean_team_barrier(&m->team);
    for (size_t e = 0; e < (p->n + 2) * m->pieces; e++)
        all += m->sums[e];
    ocean_team_barrier(&m->team); /* before they are used again */
    return all;
}

/* Some eddies in the upper layer; no more water than there was. */
static void
model_stir(struct ocean_model *m)
{
    const struct ocean_plane *p = m->now[0].plane;
    const double              unit = APP_PI / (double)(p->n + 1);

    for (size_t i = p->first_row; i < p->last_row; i++)
        for (size_t j = p->first_column; j < p->last_column; j++) {
            const size_t at = j - p->first_column;
            const double x =
                EDDIES * sin(4 * unit * (double)i) * sin(3 * unit * (double)j);

            ocean_row(&m->now[OCEAN_UPPER], i)[at] = x;
            ocean_row(&m->before[OCEAN_UPPER], i)[at] = x;
        }
}

/* The solution that takes the mean away from a. */
static void
shore_solve(struct ocean_model *m)
{
    const struct ocean_plane *p = m->shore.plane;

    for (size_t i = p->top; i < p->bottom; i++)
        for (size_t j = p->left; j < p->right; j++)
            if (i == 0 || j == 0 || i == p->n + 1 || j == p->n + 1)
                *ocean_view_at(&m->shore.mine, i, j) = 1;
    ocean_team_barrier(&m->team);
    ocean_grid_refresh(&m->shore, OCEAN_ALL);
    ocean_solve(&m->solver, &m->shore, &m->right[0], m->coupling,
                m->accuracy * m->coupling);
    m->shore_sum = points_sum(m, &m->shore);
}

void
ocean_model_init(struct ocean_model *m, const struct app_run *run,
                 const struct ocean_division *division, size_t n,
                 double accuracy, const struct ocean_model *like)
{
    const struct ocean_plane *cut;

    ocean_team_init(&m->team, run, division);
    m->distance = SIDE / (double)(n + 1);
    m->seconds = fmin(4 * STEP, STEP * m->distance / 1e4);
    m->friction = FRICTION * pow(m->distance / 1e4, 3);
    m->coupling =
        CORIOLIS * CORIOLIS * (UPPER + LOWER) / (LIGHTER * UPPER * LOWER);
    m->accuracy = accuracy;
    ocean_solver_init(&m->solver, &m->team, n, m->distance);
    grids_each(m, true);
    cut = like != NULL ? &like->solver.plane[0] : &m->solver.plane[0];
    m->pieces = (size_t)cut->team->across;
    m->piece = cut->column;
    m->sums = like != NULL
                  ? app_private(run, (n + 2) * m->pieces, sizeof *m->sums)
                  : app_alloc(run, (n + 2) * m->pieces, sizeof *m->sums,
                              hearth_block());
    model_stir(m);
    shore_solve(m);
}

void
ocean_model_free(struct ocean_model *m)
{
    if (m->team.shared)
        hearth_free(m->sums);
    else
        free(m->sums);
    grids_each(m, false);
    ocean_solver_free(&m->solver);
    ocean_team_free(&m->team);
}

/* to = lap from, at my points. */
static void
laplacian(const struct ocean_grid *to, const struct ocean_grid *from,
          double distance)
{
    const struct ocean_plane *p = to->plane;
    const size_t              width = ocean_width(p);
    const double              scale = 1 / (distance * distance);

    for (size_t i = p->first_row; i < p->last_row; i++) {
        double *restrict y = ocean_row(to, i);
        const double *restrict here = ocean_row(from, i);
        const double *restrict west = here - 1;
        const double *restrict south = ocean_row(from, i - 1);
        const double *restrict north = ocean_row(from, i + 1);

#pragma omp simd
        for (size_t j = 0; j < width; j++)
            y[j] = scale * ((north[j] + south[j]) + (west[j] + west[j + 2]) -
                            4 * here[j]);
    }
}

/* Rows i - 1, i, i + 1 from one column before the first on. */
struct rows {
    const double *south, *here, *north;
};

static struct rows
rows_at(const struct ocean_grid *g, size_t i)
{
    struct rows r = { ocean_row(g, i - 1) - 1, ocean_row(g, i) - 1,
                      ocean_row(g, i + 1) - 1 };

    return r;
}

/* 12 d^2 J(a, b) at column j + 1 of the rows. */
static inline double
jacobian(const struct rows *a, const struct rows *b, size_t j)
{
    const double an = a->north[j + 1], as = a->south[j + 1];
    const double aw = a->here[j], ae = a->here[j + 2];
    const double bn = b->north[j + 1], bs = b->south[j + 1];
    const double bw = b->here[j], be = b->here[j + 2];
    const double bnw = b->north[j], bne = b->north[j + 2];
    const double bsw = b->south[j], bse = b->south[j + 2];

    return (((ae - aw) * (bn - bs) - (an - as) * (be - bw)) +
            ((ae * (bne - bse) - aw * (bnw - bsw)) -
             (an * (bne - bnw) - as * (bse - bsw)))) +
           ((a->north[j + 2] * (bn - be) - a->south[j] * (bw - bs)) -
            (a->north[j] * (bn - bw) - a->south[j + 2] * (be - bs)));
}

static inline double
lap(const struct rows *x, size_t j)
{
    return (x->north[j + 1] + x->south[j + 1]) +
           (x->here[j] + x->here[j + 2]) - 4 * x->here[j + 1];
}

/* Row i of the right sides: F and G, and what is made of them. */
static void
right_row(const struct ocean_model *m, size_t i)
{
    const struct ocean_plane *plane = m->right[0].plane;
    const size_t              width = ocean_width(plane);
    const double              d = m->distance;
    const double              turn = 1 / (12 * d * d), beta = BETA / (2 * d);
    const double              rub = m->friction / (d * d);
    const double              latitude = (double)i / (double)(plane->n + 1);
    const double              wind =
        -WIND * 2 * APP_PI / (SIDE * UPPER) * sin(2 * APP_PI * latitude);
    const struct rows p = rows_at(&m->now[OCEAN_UPPER], i);
    const struct rows q = rows_at(&m->now[OCEAN_LOWER], i);
    const struct rows u = rows_at(&m->twist[OCEAN_UPPER], i);
    const struct rows v = rows_at(&m->twist[OCEAN_LOWER], i);
    const struct rows x = rows_at(&m->bend[OCEAN_UPPER], i);
    const struct rows y = rows_at(&m->bend[OCEAN_LOWER], i);
    const double     *slow = ocean_row(&m->old[OCEAN_LOWER], i);
    double           *a = ocean_row(&m->right[0], i);
    double           *b = ocean_row(&m->right[1], i);

#pragma omp simd
    for (size_t j = 0; j < width; j++) {
        double upper = turn * jacobian(&u, &p, j) -
                       beta * (p.here[j + 2] - p.here[j]) + wind -
                       rub * lap(&x, j);
        double lower = turn * jacobian(&v, &q, j) -
                       beta * (q.here[j + 2] - q.here[j]) - rub * lap(&y, j) -
                       DRAG * slow[j];

        a[j] = upper - lower - m->coupling * turn * jacobian(&p, &q, j);
        b[j] = UPPER * upper + LOWER * lower;
    }
}

/* Vorticities, friction, right sides: each needs a neighbour's of the last. */
static void
rights_find(struct ocean_model *m)
{
    const struct ocean_plane *p = m->right[0].plane;

    for (int l = OCEAN_UPPER; l < OCEAN_LAYERS; l++) {
        ocean_grid_refresh(&m->now[l], OCEAN_ALL);
        ocean_grid_refresh(&m->before[l], OCEAN_ALL);
        laplacian(&m->twist[l], &m->now[l], m->distance);
        laplacian(&m->old[l], &m->before[l], m->distance);
    }
    ocean_team_barrier(&m->team);
    for (int l = OCEAN_UPPER; l < OCEAN_LAYERS; l++) {
        ocean_grid_refresh(&m->twist[l], OCEAN_ALL);
        ocean_grid_refresh(&m->old[l], OCEAN_ALL);
        laplacian(&m->bend[l], &m->old[l], m->distance);
    }
    ocean_team_barrier(&m->team);
    for (int l = OCEAN_UPPER; l < OCEAN_LAYERS; l++)
        ocean_grid_refresh(&m->bend[l], OCEAN_ALL);
    for (size_t i = p->first_row; i < p->last_row; i++)
        right_row(m, i);
}

/* The greatest of a grid's numbers, without their signs.  Collective. */
static double
greatest_find(struct ocean_model *m, const struct ocean_grid *g)
{
    const struct ocean_plane *p = g->plane;
    const size_t              width = ocean_width(p);
    double                    greatest = 0;

    for (size_t i = p->first_row; i < p->last_row; i++) {
        const double *x = ocean_row(g, i);

        for (size_t j = 0; j < width; j++) {
            double size = fabs(x[j]);

            greatest = size > greatest ? size : greatest;
        }
    }
    return ocean_team_max(&m->team, greatest);
}

/* All my points, the coast too, by the two changes. */
static void
layers_move(const struct ocean_model *m, double coast)
{
    const struct ocean_plane *p = m->shore.plane;
    const double              upper = UPPER / (UPPER + LOWER);
    const double              lower = LOWER / (UPPER + LOWER);
    const double mean = 1 / (UPPER + LOWER), twice = 2 * m->seconds;

    for (size_t i = p->top; i < p->bottom; i++) {
        const double *a = ocean_view_at(&m->change[0].mine, i, p->left);
        const double *b = ocean_view_at(&m->change[1].mine, i, p->left);
        const double *s = ocean_view_at(&m->shore.mine, i, p->left);

        for (int l = OCEAN_UPPER; l < OCEAN_LAYERS; l++) {
            const double part = l == OCEAN_UPPER ? lower : -upper;
            double      *now = ocean_view_at(&m->now[l].mine, i, p->left);
            double *before = ocean_view_at(&m->before[l].mine, i, p->left);

#pragma omp simd
            for (size_t j = 0; j < p->right - p->left; j++) {
                double rate = mean * b[j] + part * (a[j] + coast * s[j]);
                double next = before[j] + twice * rate;

                before[j] = now[j] + ASSELIN * (next - 2 * now[j] + before[j]);
                now[j] = next;
            }
        }
    }
}

void
ocean_model_step(struct ocean_model *m)
{
    double coast;

    rights_find(m);
    for (int e = 0; e < 2; e++)
        ocean_solve(&m->solver, &m->change[e], &m->right[e],
                    e == 0 ? m->coupling : 0,
                    m->accuracy * greatest_find(m, &m->right[e]));
    coast = -points_sum(m, &m->change[0]) / m->shore_sum;
    layers_move(m, coast);
    ocean_team_barrier(&m->team);
}
