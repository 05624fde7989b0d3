/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "cycle.h"
#include "npb.h"

struct grid
grid_make(const struct app_run *run, size_t n)
{
    struct grid g = { .n = n, .to = n };

    g.plane = app_private(run, n + 2, sizeof *g.plane);
    g.plane++; /* to begin with -1 */
    return g;
}

void
grid_place(struct grid *g, double *base)
{
    const size_t n = g->n;

    g->base = base;
    for (size_t k = 0; k < n; k++)
        g->plane[k] = base + k * n * n;
    g->plane[-1] = g->plane[n - 1];
    g->plane[n] = g->plane[0];
}

/* A grid that a rank has for itself. */
static struct grid
grid_alone(const struct app_run *run, int level)
{
    struct grid g = grid_make(run, (size_t)1 << level);

    grid_place(&g, app_private(run, (size_t)1 << 3 * level, sizeof *g.base));
    return g;
}

static void
grid_free(struct grid *g, void (*memory_free)(void *base))
{
    memory_free(g->base);
    free(g->plane - 1);
}

struct multigrid
multigrid_make(struct app_run *run, const struct memory *memory, int top)
{
    struct multigrid m = { .run = run, .memory = memory, .top = top };

    for (int k = 1; k <= top; k++) {
        m.u[k] = (k > MG_ALONE ? memory->make : grid_alone)(run, k);
        m.r[k] = (k > MG_ALONE ? memory->make : grid_alone)(run, k);
    }
    m.bottom = memory->make(run, MG_ALONE);
    m.v = memory->make(run, top);
    return m;
}

void
multigrid_free(struct multigrid *m)
{
    grid_free(&m->v, m->memory->free);
    grid_free(&m->bottom, m->memory->free);
    for (int k = m->top; k > 0; k--) {
        grid_free(&m->r[k], k > MG_ALONE ? m->memory->free : free);
        grid_free(&m->u[k], k > MG_ALONE ? m->memory->free : free);
    }
}

/* Before an operator reads a plane of others on either side. */
static void
grid_share(struct multigrid *m, int level, struct grid *g)
{
    if (level > MG_ALONE)
        m->memory->share(m->run, g, (ptrdiff_t)g->from - 1,
                         (ptrdiff_t)g->to + 1);
}

void
multigrid_residual(struct multigrid *m)
{
    grid_share(m, m->top, &m->u[m->top]);
    grid_residual(&m->r[m->top], &m->v, &m->u[m->top]);
}

static void
level_restrict(struct multigrid *m, int level)
{
    struct grid *fine = &m->r[level];
    struct grid *coarse =
        level - 1 == MG_ALONE ? &m->bottom : &m->r[level - 1];

    if (level > MG_ALONE)
        m->memory->share(m->run, fine, 2 * (ptrdiff_t)coarse->from,
                         2 * (ptrdiff_t)coarse->to + 1);
    grid_restrict(coarse, fine);
}

/* Take the correction of the level below, and improve it. */
static void
level_correct(struct multigrid *m, int level)
{
    struct grid *u = &m->u[level], *r = &m->r[level];
    struct grid *coarse = &m->u[level - 1];

    if (level - 1 > MG_ALONE) /* from - 1 may be -1, and half of it is, too */
        m->memory->share(m->run, coarse, (ptrdiff_t)(u->from + 1) / 2 - 1,
                         (ptrdiff_t)(u->to + 1) / 2);
    grid_prolong(u, coarse, level == m->top);
    grid_share(m, level, u);
    grid_residual(r, level == m->top ? &m->v : r, u);
    grid_share(m, level, r);
    grid_smooth(u, r);
}

/* What is the residual of the first of the levels that all ranks compute. */
static void
bottom_fetch(struct multigrid *m)
{
    const struct grid *to = &m->r[MG_ALONE];

    m->memory->gather(m->run, &m->bottom);
    for (size_t k = 0; k < to->n; k++)
        memcpy(to->plane[k], m->bottom.plane[k], grid_plane_bytes(to));
}

void
multigrid_cycle(struct multigrid *m)
{
    for (int k = m->top; k > 1; k--) {
        level_restrict(m, k);
        if (k - 1 == MG_ALONE)
            bottom_fetch(m);
    }
    grid_zero(&m->u[1]);
    grid_smooth(&m->u[1], &m->r[1]);
    for (int k = 2; k <= m->top; k++)
        level_correct(m, k);
}

/* Put a charge into a list that begins with the greatest number. */
static void
charge_insert(struct charge *list, struct charge c, bool least)
{
    for (int i = 0; i < MG_CHARGES; i++)
        if (least ? c.number < list[i].number : c.number > list[i].number) {
            struct charge moved = list[i];

            list[i] = c;
            c = moved;
        }
}

/* Point i, in the order of memory, has number i of NPB's sequence. */
void
charges_find(struct charges *c, const struct grid *g)
{
    const uint64_t area = (uint64_t)g->n * g->n;
    uint64_t       x = npb_jump(314159265, area * g->from);

    memset(c, 0, sizeof *c);
    for (int i = 0; i < MG_CHARGES; i++)
        c->least[i].number = UINT64_MAX;
    for (uint64_t at = area * g->from; at < area * g->to; at++) {
        x = npb_next(x);
        if (x > c->most[MG_CHARGES - 1].number)
            charge_insert(c->most, (struct charge){ x, at }, false);
        if (x < c->least[MG_CHARGES - 1].number)
            charge_insert(c->least, (struct charge){ x, at }, true);
    }
}

void
charges_merge(struct charges *c, const struct charges *other)
{
    for (int i = 0; i < MG_CHARGES; i++) {
        charge_insert(c->most, other->most[i], false);
        charge_insert(c->least, other->least[i], true);
    }
}

static void
charge_put(const struct grid *v, uint64_t at, double value)
{
    const uint64_t area = (uint64_t)v->n * v->n;

    if (at / area >= v->from && at / area < v->to)
        v->plane[at / area][at % area] = value;
}

void
charges_put(const struct charges *c, const struct grid *v)
{
    for (int i = 0; i < MG_CHARGES; i++) {
        charge_put(v, c->most[i].at, 1);
        charge_put(v, c->least[i].at, -1);
    }
}
