/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of cells that all ranks build together, a body at a time.
 *
 * A cell is a cube with a slot for each of its eight parts.  A slot has up to
 * CELL_LEAF bodies, or the number of a cell, and what it is from afar.  So all
 * that is said of a part is under one lock, that of the cell whose part it is.
 *
 * What becomes a cell stays one; so a rank that has found a cell in a slot
 * remembers it, for itself, and goes through that slot without the lock from
 * then on: it takes the lock of the last cell that it knows of, where it puts
 * its body, or finds a cell that it goes on to.  Which cells there are follows
 * from the bodies, and not from who came first.
 */
#ifndef APPS_OCTREE_CELLS_H
#define APPS_OCTREE_CELLS_H

#include "common.h"
#include "gravity.h"
#include "plummer.h"

enum {
    CELL_LEAF = 10, /* bodies, as in SPLASH-2 */
    CELL_PARTS = 8,
    CELL_LEVELS = 60 /* bodies that need more are at one place */
};

struct slot {
    struct moments m;
    int64_t        work;            /* of its bodies in the last step */
    int32_t        cell;            /* or 0 */
    int32_t        count;           /* of bodies */
    int32_t        body[CELL_LEAF]; /* ascending when they are summed */
};

struct cell {
    struct slot slot[CELL_PARTS];
    double      centre[3];
    int32_t     parent, place; /* the slot there */
    int64_t     left;          /* cells that have to be summed before it, and
                                  one for the bodies in its slots */
};

/* Cell 0 is the root.  Each rank has `room` cells. */
struct cells {
    const struct app_run *run;
    bool                  alone; /* a sequential run: nothing is shared */
    int                   rank;
    const struct body    *body;   /* shared */
    int64_t              *work;   /* shared: of each body, in the last step */
    struct cell          *cell;   /* shared */
    int32_t               room;   /* cells of a rank */
    int32_t               used;   /* of mine */
    int64_t              *made;   /* shared: the same of each rank */
    int32_t (*known)[CELL_PARTS]; /* of all cells: slots that are cells */
    double side;                  /* of the root */
    double theta;
};

/* Forget the tree.  Rank 0 makes the root of the next one. */
void cells_clear(struct cells *t);

/* Put a body into the tree; false: with `later` it is not put into another
 * rank's cell. */
bool cells_insert(struct cells *t, int32_t body, bool later);

/* Fetch the tree of all ranks, when it is complete. */
void cells_fetch(const struct cells *t);

/* What cells are from afar: every rank for its own, when all bodies are in;
 * who is the last to sum a part of a cell sums the cell. */
void cells_sum(struct cells *t);

/* The bodies that are number `part` of so many parts of equal work: how many.
 * They follow each other in space. */
int32_t cells_part(const struct cells *t, int part, int parts, int32_t *body);

/* The acceleration of a body by all others; how many it met. */
int64_t cells_pull(const struct cells *t, int32_t body,
                   double acceleration[3]);

#endif
