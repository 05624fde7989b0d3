/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The V-cycle of MG, and the charges on its right-hand side: what Hearth's
 * and the plain MPI version have in common.
 */
#ifndef APPS_MG_CYCLE_H
#define APPS_MG_CYCLE_H

#include <stdint.h>

#include "common.h"
#include "grid.h"

/* Level k has 2^k points in each direction; the levels up to MG_ALONE are too
 * small to be shared, and every rank computes all of them. */
enum { MG_TOP = 8, MG_ALONE = 4, MG_CHARGES = 10 };

/* Where the grids are that ranks share, and how they see each other's. */
struct memory {
    /* A grid of zeros of a level, and this rank's planes of it. */
    struct grid (*make)(const struct app_run *run, int level);
    void (*free)(void *base);
    /* Let all ranks finish what they write, and bring planes [from, to) here:
     * a rank's own, with one beyond either end or without.  Collective. */
    void (*share)(const struct app_run *run, const struct grid *g,
                  ptrdiff_t from, ptrdiff_t to);
    /* The same for all of a grid. */
    void (*gather)(const struct app_run *run, const struct grid *g);
};

struct multigrid {
    struct app_run      *run;
    const struct memory *memory;
    int                  top;           /* the finest level */
    struct grid          v;             /* right-hand side, at the top */
    struct grid          u[MG_TOP + 1]; /* solution, by level */
    struct grid          r[MG_TOP + 1]; /* residual */
    struct grid          bottom;        /* shared: r[MG_ALONE] of all ranks */
};

/* A grid of n points in each direction, without memory. */
struct grid grid_make(const struct app_run *run, size_t n);

/* Let a periodic grid be in one piece of memory. */
void grid_place(struct grid *g, double *base);

struct multigrid multigrid_make(struct app_run      *run,
                                const struct memory *memory, int top);
void             multigrid_free(struct multigrid *m);

/* r = v - A u, at the top. */
void multigrid_residual(struct multigrid *m);

/* From r, one V-cycle: a better u. */
void multigrid_cycle(struct multigrid *m);

/* A point of the grid, and its random number. */
struct charge {
    uint64_t number, at;
};

/* The points with the greatest and with the least numbers, in order. */
struct charges {
    struct charge most[MG_CHARGES], least[MG_CHARGES];
};

/* The charges among a rank's planes; of two sets; and v of those of all. */
void charges_find(struct charges *c, const struct grid *g);
void charges_merge(struct charges *c, const struct charges *other);
void charges_put(const struct charges *c, const struct grid *v);

#endif
