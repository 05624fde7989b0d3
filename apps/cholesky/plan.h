/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known before a number is: the matrix, an order of its rows, which
 * entries its factor has, and who owns them.  Each rank works it out for
 * itself.
 *
 * The matrix belongs to a grid of k x k points, each coupled with its four
 * neighbours, or comes from a file (matrix.h; dissect.h for its order).  The
 * order is nested dissection (George: Nested dissection of a
 * regular finite element mesh, SIAM J. Numer. Anal. 10(2), 1973): a line of
 * points separates the two halves of a grid and comes after them.  The columns
 * of a separator, or of a piece that is not divided further, make a supernode:
 * all have the same rows below them; and these are cut into panels.
 */
#ifndef APPS_CHOLESKY_PLAN_H
#define APPS_CHOLESKY_PLAN_H

#include "common.h"
#include "matrix.h"

enum { PANEL_MOST = 32 }; /* columns of a panel */

struct panel {
    int32_t        first, width; /* columns [first, first + width) */
    int32_t        rows;         /* in it, its own columns' first */
    const int32_t *row;          /* their numbers, ascending */
    int32_t        owner;        /* rank */
    bool           shared;       /* of a line between the parts of ranks */
    int32_t        needs;        /* panels that are subtracted from it */
    size_t         at;           /* place in the values, in words */
};

/* Columns [first, last) and all rows that they have. */
struct supernode {
    int32_t  first, last;
    int32_t  rows;
    int32_t *row;                /* its own columns first */
    int32_t  child, sibling;     /* whose separator this is, or -1 */
    int32_t  from_rank, to_rank; /* its panels' owners */
};

struct plan {
    const struct app_run *run;
    const struct matrix  *matrix; /* or NULL: the grid's */
    int32_t               k, ranks;
    int32_t               n;      /* columns: k * k, or those of the matrix */
    int32_t               placed; /* points in the order so far */
    int32_t              *place;  /* of a point of the grid in the order */
    int32_t              *point;  /* and the other way round */
    struct supernode     *node;
    int32_t               nodes;
    struct panel         *panel;
    int32_t               panels;
    int32_t              *panel_of; /* the panel of a column */
    int32_t               own;      /* panels of this rank */
    size_t                words;    /* of the values of each rank */
    double                entries;  /* of the factor */
};

/* Of a matrix, or if that is NULL of a grid; `piece`: points that are not
 * divided further. */
void plan_make(struct plan *p, const struct app_run *run,
               const struct matrix *m, long k, long piece);
void plan_free(struct plan *p);

/* An entry of the matrix, by the points of the grid: 0 unless they are the
 * same or neighbours.  The grid's is positive definite, as its diagonal
 * dominates.  Points of a matrix from a file are its rows. */
double plan_entry(const struct plan *p, int32_t i, int32_t j);

/* The neighbours of a point; how many.  There is room for those of a grid. */
int plan_neighbours(const struct plan *p, int32_t point, int32_t room[4],
                    const int32_t **next);

/* ---- for an order ---- */

/* The next point; and a supernode of those that were added from `first` on,
 * which separates two others, of which -1 is none. */
void    plan_point_add(struct plan *p, int32_t point);
int32_t plan_node_add(struct plan *p, int32_t first, int32_t from_rank,
                      int32_t to_rank, const int32_t child[2]);

#endif
