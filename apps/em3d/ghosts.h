/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plain MPI version: a rank's own values of a field, and behind them
 * copies of those that it needs of others, in the order of the nodes.  Edges
 * have places in that array in the place of nodes.  Before a half iteration
 * the copies are brought up to date by one exchange of what is needed.
 */
#ifndef APPS_EM3D_GHOSTS_H
#define APPS_EM3D_GHOSTS_H

#include "common.h"

/* The edges of nodes [from, to) of one field. */
struct edges {
    size_t    from, to;
    size_t    nodes, degree; /* of the whole field; of each node */
    uint32_t *neighbour;     /* of one node after the other */
    double   *weight;
};

struct ghosts {
    int    *send, *send_at; /* by rank: how many of mine, from where on */
    int    *get, *get_at;   /* by rank: how many of theirs, to where */
    int    *mine;           /* my nodes that others need, from 0 on */
    double *packed;         /* their values */
};

/* The copies that edges need; from here on, they have places for nodes. */
struct ghosts ghosts_make(const struct app_run *run, struct edges *e);

void ghosts_free(struct ghosts *g);

/* How many copies there are, behind a rank's own values. */
size_t ghosts_count(const struct app_run *run, const struct ghosts *g);

/* Bring the copies behind the `own` values up to date.  Collective. */
void ghosts_update(const struct app_run *run, struct ghosts *g, double *value,
                   size_t own);

#endif
