/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done with a tree that is complete, and read only. */
#include <config.h>

#include <string.h>

#include "cells.h"

/* Bodies of which the work begins in [from, to). */
struct part {
    int64_t  from, to, before;
    int32_t *body, count;
};

static void
bodies_part(const struct cells *t, const struct slot *s, struct part *p)
{
    for (int32_t i = 0; i < s->count; i++) {
        if (p->before >= p->from && p->before < p->to)
            p->body[p->count++] = s->body[i];
        p->before += t->work[s->body[i]];
    }
}

static void
cell_part(const struct cells *t, int32_t number, struct part *p)
{
    for (int k = 0; k < CELL_PARTS; k++) {
        const struct slot *s = &t->cell[number].slot[k];

        if (p->before + s->work <= p->from || p->before >= p->to)
            p->before += s->work;
        else if (s->cell != 0)
            cell_part(t, s->cell, p);
        else
            bodies_part(t, s, p);
    }
}

int32_t
cells_part(const struct cells *t, int part, int parts, int32_t *body)
{
    struct part p = { .body = body };
    int64_t     work = 0;

    for (int k = 0; k < CELL_PARTS; k++)
        work += t->cell[0].slot[k].work;
    p.from = (int64_t)app_part((size_t)work, part, parts);
    p.to = (int64_t)app_part((size_t)work, part + 1, parts);
    cell_part(t, 0, &p);
    return p.count;
}

/* A body on its way through the tree. */
struct walk {
    const struct cells *tree;
    double              x[3], acceleration[3];
    int32_t             body;
    int64_t             met;
};

static void
bodies_meet(struct walk *w, const struct slot *s)
{
    double d[3];

    for (int32_t i = 0; i < s->count; i++) {
        const struct body *b = &w->tree->body[s->body[i]];
        const double       square = gravity_way(d, w->x, b->x);

        if (s->body[i] != w->body)
            gravity_body(w->acceleration, d, square, b->mass);
    }
    w->met += s->count;
}

/* A cell's parts, which are afar at a square of `reach`; `home`: the body is
 * in this cell.  The part that has it is near, however far off its centre; and
 * a body alone is met as what it is. */
static void
cell_meet(struct walk *w, int32_t number, double reach, bool home)
{
    const struct cell *c = &w->tree->cell[number];
    double             d[3];

    for (int k = 0; k < CELL_PARTS; k++) {
        const struct slot *s = &c->slot[k];
        const bool inside = home && k == ((w->x[0] >= c->centre[0]) << 2 |
                                          (w->x[1] >= c->centre[1]) << 1 |
                                          (w->x[2] >= c->centre[2]));
        double     square;

        if (s->cell == 0 && s->count == 0)
            continue;
        w->met++;
        square = gravity_way(d, w->x, s->m.x);
        if (square > reach && !inside && s->count != 1)
            gravity_cell(w->acceleration, d, square, &s->m);
        else if (s->cell != 0)
            cell_meet(w, s->cell, reach / 4, inside);
        else
            bodies_meet(w, s);
    }
}

int64_t
cells_pull(const struct cells *t, int32_t body, double acceleration[3])
{
    const double edge = t->side / 2, far = edge / t->theta;
    struct walk  w = { .tree = t, .body = body };

    memcpy(w.x, t->body[body].x, sizeof w.x);
    cell_meet(&w, 0, far * far, true);
    memcpy(acceleration, w.acceleration, sizeof w.acceleration);
    return w.met;
}
