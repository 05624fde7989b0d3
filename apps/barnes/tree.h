/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree of Barnes and Hut over bodies in the order of their keys.
 *
 * A cell is the smallest cube, of those that halving the whole one makes, that
 * has all of certain consecutive bodies; so the keys alone say which cells
 * there are.  A leaf has at most TREE_LEAF bodies, another cell at least two
 * children.  Bodies are dealt to ranks in zones, which are consecutive too: a
 * rank builds the cells that lie within its zone, as far up as they do, and
 * then one rank the cells above, the top.  The sums in a cell are those of its
 * children in the order of the keys, whoever adds them.
 */
#ifndef APPS_BARNES_TREE_H
#define APPS_BARNES_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "gravity.h"

enum {
    TREE_LEAF = 10,            /* bodies, as in SPLASH-2 */
    TREE_LEVELS = 21,          /* of cubes: bits of a coordinate in a key */
    TREE_TOP = 8 * TREE_LEVELS /* nodes above the border of two zones */
};

struct point {
    double x[3], mass;
};

/* A cell, and what its bodies are from afar. */
struct node {
    struct moments m;
    double         reach; /* square of the distance from which it is afar */
    int32_t        first, last; /* bodies [first, last) */
    int32_t        down, end;   /* children [down, end); none in a leaf */
    int32_t        next;        /* the node after all that are below */
};

/*
 * Of the nodes, 0 is the root and the top begins with it; those of the zone
 * that begins with body i begin at tree_nodes(t->zones, i).
 */
struct tree {
    struct node        *node;  /* shared */
    const struct point *point; /* shared: bodies in the order of their keys */
    const uint64_t     *key;   /* of all bodies */
    const size_t       *zone;  /* first body of each, and the end */
    int32_t            *root;  /* the next of each zone for the top */
    int                 zones;
    int32_t             free;  /* the next node */
    double              side;  /* of the whole cube */
    double              theta; /* a cell is afar at side / theta */
};

/* Where the nodes of body i and the later ones begin; with i = n: how many
 * nodes there have to be. */
static inline size_t
tree_nodes(int zones, size_t i)
{
    return 1 + (size_t)TREE_TOP * (size_t)(zones - 1) + 2 * i;
}

/* Build what lies within one zone. */
void tree_build_zone(struct tree *t, int zone);

/* Build the top, when all zones are there. */
void tree_build_top(struct tree *t);

/* The acceleration of body i by all others; how many it met. */
int64_t tree_walk(const struct tree *t, size_t i, double acceleration[3]);

/* The same without a tree, body by body. */
void tree_sum(const struct tree *t, size_t i, double acceleration[3]);

/*
 * Of all cells, the one whose pull at a point far away differs most from that
 * of its bodies: how much, with what a mass and quadrupole moments have to
 * leave out as 1.
 */
double tree_error(const struct tree *t);

#endif
