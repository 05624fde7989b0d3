/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "grid.h"

enum { SLOTS = 3, LOCK = 0 };

static void *
team_alloc(const struct ocean_team *t, size_t count, hearth_layout layout)
{
    if (t->shared)
        return app_alloc(t->run, count, sizeof(double), layout);
    return app_private(t->run, count, sizeof(double));
}

static void
team_release(const struct ocean_team *t, void *p)
{
    if (t->shared)
        hearth_free(p);
    else
        free(p);
}

void
ocean_team_init(struct ocean_team *t, const struct app_run *run,
                const struct ocean_division *division)
{
    t->run = run;
    t->shared = division != NULL;
    t->contiguous = t->shared && division->contiguous;
    t->across = t->shared ? division->across : 1;
    t->down = t->shared ? run->ranks / t->across : 1;
    t->sole = t->shared ? division->sole : 0;
    t->greatest = team_alloc(t, SLOTS, hearth_on(0));
    t->turn = 0;
}

void
ocean_team_free(struct ocean_team *t)
{
    team_release(t, t->greatest);
}

void
ocean_team_barrier(const struct ocean_team *t)
{
    if (t->shared)
        hearth_barrier();
}

/*
 * A shared number under a lock.  The one of the next call is cleared in this
 * one: everybody read it two calls ago, before the last barrier.
 */
double
ocean_team_max(struct ocean_team *t, double value)
{
    double *slot = &t->greatest[t->turn % SLOTS];

    if (!t->shared)
        return value;
    t->turn++;
    hearth_lock(LOCK);
    if (value > *slot)
        *slot = value;
    if (t->run->rank == 0)
        t->greatest[t->turn % SLOTS] = 0;
    hearth_unlock(LOCK);
    hearth_barrier();
    return *slot;
}

static size_t
min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t
max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The part of so many that has a row or column. */
static size_t
part_find(const size_t *begin, size_t at)
{
    size_t part = 0;

    while (begin[part + 1] <= at)
        part++;
    return part;
}

/* All that follows from where the parts begin. */
static void
plane_measure(struct ocean_plane *p)
{
    const struct ocean_team *t = p->team;
    const size_t down = (size_t)t->down, across = (size_t)t->across;
    const size_t part = t->shared ? (size_t)t->run->rank : 0;
    const size_t page = app_page_size(t->run) / sizeof(double);
    size_t       rows = 0, columns = 0;

    p->top = p->row[part / across];
    p->bottom = p->row[part / across + 1];
    p->left = p->column[part % across];
    p->right = p->column[part % across + 1];
    p->first_row = max(p->top, 1);
    p->last_row = max(min(p->bottom, p->n + 1), p->first_row);
    p->first_column = max(p->left, 1);
    p->last_column = max(min(p->right, p->n + 1), p->first_column);
    for (size_t a = 0; a < down; a++)
        rows = max(rows, p->row[a + 1] - p->row[a]);
    for (size_t b = 0; b < across; b++)
        columns = max(columns, p->column[b + 1] - p->column[b]);
    p->chunk = ((rows + 2) * (columns + 2) + page - 1) / page * page;
}

/* Does each part of this plane lie by itself? */
static bool
is_contiguous(const struct ocean_plane *p)
{
    return p->team->contiguous && !p->sole;
}

static void
plane_alloc(struct ocean_plane *p, const struct ocean_team *t, size_t n)
{
    p->team = t;
    p->n = n;
    p->sole = false;
    p->row = app_private(t->run, (size_t)t->down + 1, sizeof *p->row);
    p->column = app_private(t->run, (size_t)t->across + 1, sizeof *p->column);
}

/*
 * Rows are cut so that a rank's are at home on it: where those of an array
 * of rows are, or evenly.
 */
void
ocean_plane_init(struct ocean_plane *p, const struct ocean_team *t, size_t n)
{
    const bool homes = t->shared && !t->contiguous;
    double    *array =
        homes ? team_alloc(t, (n + 2) * (n + 2), hearth_block()) : NULL;

    plane_alloc(p, t, n);
    for (int a = 1; a < t->down; a++)
        p->row[a] =
            homes ? app_home_first(t->run, array, n + 2,
                                   (n + 2) * sizeof(double), a * t->across)
                  : 1 + app_part(n, a, t->down);
    for (int b = 1; b < t->across; b++)
        p->column[b] = 1 + app_part(n, b, t->across);
    p->row[t->down] = n + 2;
    p->column[t->across] = n + 2;
    if (homes)
        team_release(t, array);
    plane_measure(p);
}

/*
 * Point i stands for points 2 i - 1 and 2 i.  In parts by themselves it is
 * where the latter is, so that the margins have all that is near; so it is
 * where rank 0 has all.  In other arrays of rows everything can be reached.
 */
void
ocean_plane_halve(struct ocean_plane *coarse, const struct ocean_plane *fine)
{
    const struct ocean_team *t = fine->team;
    const bool               sole = fine->n / 2 <= t->sole;

    if (!t->contiguous && !sole) {
        ocean_plane_init(coarse, t, fine->n / 2);
        return;
    }
    plane_alloc(coarse, t, fine->n / 2);
    coarse->sole = sole;
    for (int a = 1; a < t->down; a++)
        coarse->row[a] = (fine->row[a] + 1) / 2;
    for (int b = 1; b < t->across; b++)
        coarse->column[b] = (fine->column[b] + 1) / 2;
    coarse->row[t->down] = coarse->n + 2;
    coarse->column[t->across] = coarse->n + 2;
    plane_measure(coarse);
}

void
ocean_plane_free(struct ocean_plane *p)
{
    free(p->column);
    free(p->row);
}

/* The array of rows, without a margin, or a part with its own. */
static struct ocean_view
part_view(const struct ocean_grid *g, size_t part)
{
    const struct ocean_plane *p = g->plane;
    const size_t              across = (size_t)p->team->across;
    const size_t              column = part % across;
    struct ocean_view         v = { g->base, 1, 1, p->n + 2 };

    if (is_contiguous(p)) {
        v.margin = g->base + part * p->chunk;
        v.top = p->row[part / across];
        v.left = p->column[column];
        v.pitch = p->column[column + 1] - v.left + 2;
    }
    return v;
}

void
ocean_grid_init(struct ocean_grid *g, const struct ocean_plane *p)
{
    const struct ocean_team *t = p->team;
    const size_t             parts = (size_t)(t->down * t->across);

    ocean_grid_over(g, p,
                    team_alloc(t,
                               is_contiguous(p) ? parts * p->chunk
                                                : (p->n + 2) * (p->n + 2),
                               p->sole ? hearth_on(0) : hearth_block()));
}

void
ocean_grid_over(struct ocean_grid *g, const struct ocean_plane *p,
                double *base)
{
    g->plane = p;
    g->base = base;
    g->mine = part_view(g, p->team->shared ? (size_t)p->team->run->rank : 0);
}

void
ocean_grid_free(struct ocean_grid *g)
{
    team_release(g->plane->team, g->base);
}

static struct ocean_view
owner_view(const struct ocean_grid *g, size_t i, size_t j)
{
    const struct ocean_plane *p = g->plane;

    return part_view(g, part_find(p->row, i) * (size_t)p->team->across +
                            part_find(p->column, j));
}

double
ocean_grid_point(const struct ocean_grid *g, size_t i, size_t j)
{
    const struct ocean_view v = owner_view(g, i, j);

    return *ocean_view_at(&v, i, j);
}

/* Points of a row of my margin, from each part that has some of them. */
static void
row_copy(const struct ocean_grid *g, size_t i, enum ocean_colour c)
{
    const struct ocean_plane *p = g->plane;
    const size_t              step = c == OCEAN_ALL ? 1 : 2;
    const size_t              to = min(p->right + 1, p->n + 2);
    size_t                    j = p->left > 0 ? p->left - 1 : 0;

    while (j < to) {
        const struct ocean_view v = owner_view(g, i, j);
        const size_t  end = min(to, p->column[part_find(p->column, j) + 1]);
        double       *mine = ocean_view_at(&g->mine, i, j);
        const double *from = ocean_view_at(&v, i, j);

        for (size_t e = c == OCEAN_ALL ? 0 : (i + j + c) % 2; e < end - j;
             e += step)
            mine[e] = from[e];
        j = end;
    }
}

static void
column_copy(const struct ocean_grid *g, size_t j, enum ocean_colour c)
{
    const struct ocean_plane *p = g->plane;
    const size_t              step = c == OCEAN_ALL ? 1 : 2;
    size_t i = p->top + (c == OCEAN_ALL ? 0 : (p->top + j + c) % 2);

    for (; i < p->bottom; i += step) {
        const struct ocean_view v = owner_view(g, i, j);

        *ocean_view_at(&g->mine, i, j) = *ocean_view_at(&v, i, j);
    }
}

/* Ask for the rows from one to before another, as far as they are mine. */
static void
rows_fetch(const struct ocean_grid *g, size_t from, size_t to)
{
    const struct ocean_plane *p = g->plane;
    const double             *first = ocean_view_at(&g->mine, from, p->left);
    const double             *end = ocean_view_at(&g->mine, to - 1, p->right);

    hearth_prefetch(first, (size_t)(end - first) * sizeof *first);
}

/* An array of rows has no margin; ask for what is there in its place. */
static void
neighbours_fetch(const struct ocean_grid *g)
{
    const struct ocean_plane *p = g->plane;

    if (!p->team->shared || p->first_row == p->last_row)
        return;
    if (p->sole) {
        rows_fetch(g, max(p->top, 1) - 1, min(p->bottom, p->n + 1) + 1);
        return;
    }
    if (p->top > 0)
        rows_fetch(g, p->top - 1, p->top);
    if (p->bottom < p->n + 2)
        rows_fetch(g, p->bottom, p->bottom + 1);
}

void
ocean_grid_refresh(const struct ocean_grid *g, enum ocean_colour c)
{
    const struct ocean_plane *p = g->plane;

    if (!is_contiguous(p)) {
        neighbours_fetch(g);
        return;
    }
    if (p->top > 0)
        row_copy(g, p->top - 1, c);
    if (p->bottom < p->n + 2)
        row_copy(g, p->bottom, c);
    if (p->left > 0)
        column_copy(g, p->left - 1, c);
    if (p->right < p->n + 2)
        column_copy(g, p->right, c);
}
