/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "cells.h"

/* Cells that were made one after the other are neighbours, and have one lock:
 * who puts bodies there takes it again and again. */
enum { LOCK_CELLS = 8 };

/* A cube on the way down. */
struct cube {
    int32_t cell;
    double  centre[3], quarter; /* of its edge */
};

static int
cell_lock(const struct cells *t, int32_t cell)
{
    return app_lock(t->run, cell / t->room,
                    (size_t)(cell % t->room) / LOCK_CELLS);
}

static void
section_enter(const struct cells *t, int32_t cell)
{
    if (!t->alone)
        hearth_lock(cell_lock(t, cell));
}

static void
section_leave(const struct cells *t, int32_t cell)
{
    if (!t->alone)
        hearth_unlock(cell_lock(t, cell));
}

/* A new cell of this rank, which nobody else knows of yet. */
static int32_t
cell_new(struct cells *t, const double centre[3])
{
    const int32_t number = t->rank * t->room + t->used++;
    struct cell  *c = &t->cell[number];

    if (t->used > t->room)
        app_fail(t->run, "there are more than %d cells", (int)t->room);
    memset(c, 0, sizeof *c);
    memcpy(c->centre, centre, sizeof c->centre);
    c->left = 1;
    return number;
}

void
cells_clear(struct cells *t)
{
    static const double origin[3] = { 0 };

    t->used = 0;
    if (t->rank == 0)
        cell_new(t, origin);
    memset(t->known, 0,
           (size_t)t->room * (size_t)(t->alone ? 1 : t->run->ranks) *
               sizeof *t->known);
}

static int
part_of(const double centre[3], const double x[3])
{
    return (x[0] >= centre[0]) << 2 | (x[1] >= centre[1]) << 1 |
           (x[2] >= centre[2]);
}

/* The cube of a slot. */
static struct cube
cube_part(const struct cube *c, int32_t cell, int part)
{
    struct cube to = { .cell = cell, .quarter = c->quarter / 2 };

    for (int d = 0; d < 3; d++)
        to.centre[d] =
            c->centre[d] + (part >> (2 - d) & 1 ? c->quarter : -c->quarter);
    return to;
}

/* Make a cell of a slot whose cell's lock is held, with the bodies there. */
static void
slot_divide(struct cells *t, const struct cube *c, int part)
{
    const struct cube to = cube_part(c, 0, part);
    const int32_t     number = cell_new(t, to.centre);
    struct slot      *s = &t->cell[c->cell].slot[part];
    struct cell      *cell = &t->cell[number];

    for (int32_t i = 0; i < s->count; i++) {
        const double *x = t->body[s->body[i]].x;
        struct slot  *in = &cell->slot[part_of(to.centre, x)];

        in->body[in->count++] = s->body[i];
    }
    cell->parent = c->cell;
    cell->place = part;
    s->count = 0;
    s->cell = number;
    t->cell[c->cell].left++;
}

/* Put a body into a slot; false: that is a cell, which is known now. */
static bool
slot_insert(struct cells *t, const struct cube *c, int part, int32_t body)
{
    struct slot *s = &t->cell[c->cell].slot[part];
    bool         fits;

    section_enter(t, c->cell);
    if (s->cell == 0 && s->count == CELL_LEAF)
        slot_divide(t, c, part);
    fits = s->cell == 0;
    if (fits)
        s->body[s->count++] = body;
    for (int k = 0; k < CELL_PARTS; k++)
        t->known[c->cell][k] = t->cell[c->cell].slot[k].cell;
    section_leave(t, c->cell);
    return fits;
}

static bool
is_foreign(const struct cells *t, int32_t cell)
{
    return cell / t->room != t->rank;
}

bool
cells_insert(struct cells *t, int32_t body, bool later)
{
    const double *x = t->body[body].x;
    struct cube   c = { .quarter = t->side / 4 };

    for (int level = 0; level < CELL_LEVELS; level++) {
        const int part = part_of(c.centre, x);

        if (t->known[c.cell][part] == 0 && later && is_foreign(t, c.cell))
            return false;
        if (t->known[c.cell][part] == 0 && slot_insert(t, &c, part, body))
            return true;
        c = cube_part(&c, t->known[c.cell][part], part);
    }
    app_fail(t->run, "more than %d bodies are at one place", CELL_LEAF);
}

static int
body_compare(const void *a, const void *b)
{
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;

    return (i > j) - (i < j);
}

/* What the bodies of a slot are from afar, in an order that does not depend on
 * who has put them there. */
static void
bodies_sum(const struct cells *t, struct slot *s)
{
    qsort(s->body, (size_t)s->count, sizeof *s->body, body_compare);
    for (int32_t i = 0; i < s->count; i++) {
        const struct body *b = &t->body[s->body[i]];

        moments_add(&s->m, b->mass, b->x);
        s->work += t->work[s->body[i]];
    }
    moments_centre(&s->m);
    for (int32_t i = 0; i < s->count; i++) {
        const struct body *b = &t->body[s->body[i]];

        moments_quad(&s->m, b->mass, b->x);
    }
}

/* What a whole cell is: `to` is zeros. */
static void
cell_sum(const struct cell *c, struct moments *to, int64_t *work)
{
    for (int k = 0; k < CELL_PARTS; k++)
        if (c->slot[k].m.mass > 0) {
            moments_add(to, c->slot[k].m.mass, c->slot[k].m.x);
            *work += c->slot[k].work;
        }
    moments_centre(to);
    for (int k = 0; k < CELL_PARTS; k++)
        if (c->slot[k].m.mass > 0)
            moments_part(to, &c->slot[k].m);
}

/* A part of a cell is summed, whose lock is held, and released.  The last one
 * brings the sum to the parent, and so on. */
static void
cell_bring(struct cells *t, int32_t number)
{
    struct cell *c = &t->cell[number];

    while (--c->left == 0 && number != 0) {
        struct moments sum = { 0 };
        int64_t        work = 0;
        struct slot   *s = &t->cell[c->parent].slot[c->place];

        cell_sum(c, &sum, &work);
        section_leave(t, number);
        number = c->parent;
        c = &t->cell[number];
        section_enter(t, number);
        s->m = sum;
        s->work = work;
    }
    section_leave(t, number);
}

void
cells_sum(struct cells *t)
{
    for (int32_t i = t->used; i-- > 0;) {
        const int32_t number = t->rank * t->room + i;
        struct cell  *c = &t->cell[number];

        section_enter(t, number);
        for (int k = 0; k < CELL_PARTS; k++)
            if (c->slot[k].count > 0)
                bodies_sum(t, &c->slot[k]);
        cell_bring(t, number);
    }
    t->made[t->rank] = t->used;
}

void
cells_fetch(const struct cells *t)
{
    for (int r = 0; r < t->run->ranks && !t->alone; r++)
        hearth_prefetch(&t->cell[r * t->room],
                        (size_t)t->made[r] * sizeof *t->cell);
}
