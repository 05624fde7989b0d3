/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tree.h"

/* The level of the smallest cube that has both: a key has three bits a level,
 * from bit 62 on. */
static int
level_of(uint64_t a, uint64_t b)
{
    return a == b ? TREE_LEVELS : (__builtin_clzll(a ^ b) - 1) / 3;
}

static bool
range_is_leaf(const struct tree *t, size_t first, size_t last)
{
    return last - first <= TREE_LEAF || t->key[first] == t->key[last - 1];
}

/* Where the first child of a cell of that level ends, whose bodies are
 * [first, last). */
static size_t
child_end(const struct tree *t, size_t first, size_t last, int level)
{
    const int      shift = 3 * (TREE_LEVELS - 1 - level);
    const uint64_t child = t->key[first] >> shift;
    size_t         low = first + 1, high = last;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->key[middle] >> shift == child)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The zone of all bodies [first, last), or -1. */
static int
zone_of(const struct tree *t, size_t first, size_t last)
{
    int low = 0, high = t->zones;

    while (high - low > 1) {
        int middle = low + (high - low) / 2;

        if (t->zone[middle] <= first)
            low = middle;
        else
            high = middle;
    }
    return last <= t->zone[low + 1] ? low : -1;
}

/* What the bodies of a leaf are from afar. */
static void
leaf_sum(const struct tree *t, struct node *n)
{
    for (int32_t i = n->first; i < n->last; i++)
        moments_add(&n->m, t->point[i].mass, t->point[i].x);
    moments_centre(&n->m);
    for (int32_t i = n->first; i < n->last; i++)
        moments_quad(&n->m, t->point[i].mass, t->point[i].x);
}

/* What the children of a cell are. */
static void
cell_sum(const struct tree *t, struct node *n)
{
    for (int32_t c = n->down; c < n->end; c = t->node[c].next)
        moments_add(&n->m, t->node[c].m.mass, t->node[c].m.x);
    moments_centre(&n->m);
    for (int32_t c = n->down; c < n->end; c = t->node[c].next)
        moments_part(&n->m, &t->node[c].m);
}

/* The next node, without children so far.  A body alone is never afar, since
 * to meet it costs less. */
static struct node *
node_new(struct tree *t, size_t first, size_t last)
{
    struct node *n = &t->node[t->free++];
    const int    level = level_of(t->key[first], t->key[last - 1]);
    const double far = ldexp(t->side, -level) / t->theta;

    *n = (struct node){ .first = (int32_t)first, .last = (int32_t)last };
    n->reach = last - first == 1 ? INFINITY : far * far;
    return n;
}

/* Copy the root of a cell that lies within one zone to the top. */
static void
cell_hang(struct tree *t, int zone)
{
    struct node *n = &t->node[t->free++];

    *n = t->node[t->root[zone]];
    t->root[zone] = n->next;
    n->next = t->free;
}

/* A cell and all below: within a zone, or of the top. */
static void
cell_build(struct tree *t, size_t first, size_t last, bool top)
{
    const int    level = level_of(t->key[first], t->key[last - 1]);
    const int    zone = top ? zone_of(t, first, last) : -1;
    struct node *n;

    if (zone >= 0) {
        cell_hang(t, zone);
        return;
    }
    n = node_new(t, first, last);
    if (range_is_leaf(t, first, last)) {
        leaf_sum(t, n);
    } else {
        n->down = t->free;
        for (size_t end; first < last; first = end) {
            end = child_end(t, first, last, level);
            cell_build(t, first, end, top);
        }
        n->end = t->free;
        cell_sum(t, n);
    }
    n->next = t->free;
}

/* All cells of [first, last) that lie within a zone. */
static void
zone_build(struct tree *t, int zone, size_t first, size_t last)
{
    const int level = level_of(t->key[first], t->key[last - 1]);
    const int whole = zone_of(t, first, last);

    if (last <= t->zone[zone] || first >= t->zone[zone + 1])
        return;
    if (whole == zone) {
        cell_build(t, first, last, false);
        return;
    }
    if (range_is_leaf(t, first, last))
        return; /* of several zones: it belongs to the top */
    for (size_t end; first < last; first = end) {
        end = child_end(t, first, last, level);
        zone_build(t, zone, first, end);
    }
}

void
tree_build_zone(struct tree *t, int zone)
{
    t->free = (int32_t)tree_nodes(t->zones, t->zone[zone]);
    zone_build(t, zone, 0, t->zone[t->zones]);
}

void
tree_build_top(struct tree *t)
{
    for (int z = 0; z < t->zones; z++)
        t->root[z] = (int32_t)tree_nodes(t->zones, t->zone[z]);
    t->free = 0;
    cell_build(t, 0, t->zone[t->zones], true);
}

/* A body on its way through the tree. */
struct walk {
    const struct tree *tree;
    double             x[3], acceleration[3];
    int32_t            body;
    int64_t            met;
};

/* The bodies [first, last), but for the one that walks. */
static void
bodies_meet(struct walk *w, int32_t first, int32_t last)
{
    double d[3];

    for (int32_t i = first; i < last; i++) {
        const struct point *p = &w->tree->point[i];
        const double        square = gravity_way(d, w->x, p->x);

        if (i != w->body)
            gravity_body(w->acceleration, d, square, p->mass);
    }
    w->met += last - first;
}

/* The nodes [at, end) of one cell.  A cell that has the body is near, however
 * far off its centre: with a theta of 1 that can be. */
static void
nodes_meet(struct walk *w, int32_t at, int32_t end)
{
    const struct node *n;
    double             d[3], square;

    for (; at < end; at = n->next) {
        n = &w->tree->node[at];
        square = gravity_way(d, w->x, n->m.x);
        w->met++;
        if (square > n->reach && (w->body < n->first || w->body >= n->last))
            gravity_cell(w->acceleration, d, square, &n->m);
        else if (n->down < n->end)
            nodes_meet(w, n->down, n->end);
        else
            bodies_meet(w, n->first, n->last);
    }
}

static struct walk
walk_begin(const struct tree *t, size_t i)
{
    const struct point *p = &t->point[i];
    struct walk         w = { .tree = t, .body = (int32_t)i };

    memcpy(w.x, p->x, sizeof w.x);
    return w;
}

int64_t
tree_walk(const struct tree *t, size_t i, double acceleration[3])
{
    struct walk w = walk_begin(t, i);

    nodes_meet(&w, 0, 1);
    memcpy(acceleration, w.acceleration, sizeof w.acceleration);
    return w.met;
}

void
tree_sum(const struct tree *t, size_t i, double acceleration[3])
{
    struct walk w = walk_begin(t, i);

    bodies_meet(&w, 0, (int32_t)t->zone[t->zones]);
    memcpy(acceleration, w.acceleration, sizeof w.acceleration);
}

static double
length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/*
 * A point a thousand times further away than any of the cell's bodies is from
 * its centre, so that octupoles are a thousandth of quadrupoles; and 20 at
 * least, so that what softening does to the trace, which a traceless moment
 * leaves out, is less than that.
 */
static double
cell_error(const struct tree *t, const struct node *n)
{
    static const double toward[3] = { 0.36, 0.48, 0.8 };
    double x[3], d[3], off[3] = { 0 }, got[3] = { 0 }, size2 = 0, far, part;

    for (int32_t i = n->first; i < n->last; i++)
        size2 = fmax(size2, gravity_way(d, n->m.x, t->point[i].x));
    far = fmax(1000 * sqrt(size2), 20);
    part = sqrt(size2) / far;
    for (int k = 0; k < 3; k++)
        x[k] = n->m.x[k] - far * toward[k];
    gravity_cell(got, d, gravity_way(d, x, n->m.x), &n->m);
    for (int32_t i = n->first; i < n->last; i++)
        gravity_body(off, d, gravity_way(d, x, t->point[i].x),
                     t->point[i].mass);
    for (int k = 0; k < 3; k++)
        off[k] -= got[k];
    return length(off) / length(got) /
           ((5 * part + 20 * GRAVITY_SOFT / (far * far)) * part * part +
            1e-14);
}

/* Of the nodes [at, end) and all below. */
static double
cells_error(const struct tree *t, int32_t at, int32_t end)
{
    double worst = 0;

    for (const struct node *n; at < end; at = n->next) {
        n = &t->node[at];
        worst = fmax(worst, cell_error(t, n));
        worst = fmax(worst, cells_error(t, n->down, n->end));
    }
    return worst;
}

double
tree_error(const struct tree *t)
{
    return cells_error(t, 0, 1);
}
