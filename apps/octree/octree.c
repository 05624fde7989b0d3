/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gravity between n bodies, with a tree that all ranks build together.
 *
 * Problem: that of barnes.c, Plummer's cluster for some steps of 0.025.
 *
 * Source: Barnes of SPLASH-2 (Woo et al., The SPLASH-2 Programs, ISCA 1995),
 * for its way to build the tree: each rank puts its bodies into one tree, a
 * cell's lock held where something is changed, in cells of its own; cells are
 * summed from the leaves up by whoever comes last; and the bodies are dealt by
 * the work of the step before, as they lie in the tree.  Other than there, no
 * cell is read without its lock that others may be writing (cells.h), nor
 * waited for in a loop.  barnes.c has no locks.
 *
 * Sharing: the bodies, which stay where they are, in an order in which those
 * of a rank's first zone are at home there, and zones change slowly; the
 * cells, at home with who made them.  A rank first puts those bodies into the
 * tree that come into its own cells, and then those that have come to where
 * another rank's are.  A step has five barriers: after the size of the
 * cluster, a maximum under a lock; when all bodies are in the tree; when it is
 * summed; when bodies are dealt; and when all have their forces.
 *
 * Limit: a lock for each body, which costs little where a rank has the cell to
 * itself, and a message and a page where zones meet; and the pages of the tree
 * and of the bodies that a node reads, nearly all with a few nodes.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "cells.h"
#include "check.h"
#include "order.h"
#include "plummer.h"

static long bodies, steps, theta;

static const struct app_option options[] = {
    APP_NUMBER('n', "bodies", &bodies, 16384, 2048, 1, 1 << 24, "bodies"),
    APP_NUMBER('s', "steps", &steps, 20, 4, 0, 1L << 40, "time steps"),
    APP_NUMBER('t', "theta", &theta, 100, 100, 0, 100,
               "opening angle, in hundredths"),
};

static const double time_step = 0.025; /* as in SPLASH-2 */

enum { EARLY = 16, SIZE_LOCK = HEARTH_LOCKS - 1 };

struct cluster {
    const struct app_run *run;
    bool                  alone; /* a sequential run: nothing is shared */
    bool                  again; /* it goes on: bodies are where they were */
    int                   rank, ranks;
    struct body          *body; /* shared */
    double               *size; /* shared: the largest coordinate, each step */
    struct cells          tree;
    int32_t              *own;  /* my bodies */
    int32_t               owns; /* how many */
    int32_t              *late; /* those that come last into the tree */
    double (*pull)[3];          /* of my bodies */
};

static void
cluster_barrier(const struct cluster *c)
{
    if (!c->alone)
        hearth_barrier();
}

/* The bodies in an order by their places, of which each rank has a part. */
static void
cluster_start(struct cluster *c)
{
    const size_t  n = (size_t)bodies;
    struct entry *entry = app_private(c->run, n, sizeof *entry);
    struct order  o;
    double        most = 0;

    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            most = fmax(most, fabs(plummer_body(i, n).x[d]));
    for (size_t i = 0; i < n; i++)
        entry[i] =
            (struct entry){ .key = order_key(plummer_body(i, n).x, 2 * most),
                            .work = 1 };
    order_open(&o, c->run, n, c->ranks);
    order_make(&o, entry);
    for (size_t i = o.zone[c->rank]; i < o.zone[c->rank + 1]; i++) {
        c->body[i] = plummer_body(o.from[i], n);
        c->tree.work[i] = 1;
        c->own[c->owns++] = (int32_t)i;
    }
    order_close(&o);
    free(entry);
}

/* A run that goes on: any part of the bodies will do until the next step. */
static void
bodies_share(struct cluster *c)
{
    const size_t n = (size_t)bodies, to = app_part(n, c->rank + 1, c->ranks);

    for (size_t i = app_part(n, c->rank, c->ranks); i < to; i++)
        c->own[c->owns++] = (int32_t)i;
}

/* The edge of a cube about the origin for all bodies: a power of two, so that
 * all lengths in the tree are exact. */
static double
cluster_measure(const struct cluster *c, double *size)
{
    double most = 0;
    int    exponent;

    for (int32_t i = 0; i < c->owns; i++)
        for (int d = 0; d < 3; d++)
            most = fmax(most, fabs(c->body[c->own[i]].x[d]));
    if (!c->alone)
        hearth_lock(SIZE_LOCK);
    *size = fmax(*size, most);
    if (!c->alone)
        hearth_unlock(SIZE_LOCK);
    cluster_barrier(c);
    frexp(*size, &exponent);
    return ldexp(1, exponent + 1);
}

/*
 * Put my bodies into the tree: at first some of all, which make its upper
 * cells; and those last which have come to where another rank's are, so that
 * each takes the other's locks when the other does not use them.
 */
static void
bodies_insert(struct cluster *c)
{
    int32_t late = 0;

    for (int32_t i = 0; i < c->owns; i += EARLY)
        cells_insert(&c->tree, c->own[i], false);
    for (int32_t i = 0; i < c->owns; i++)
        if (i % EARLY != 0 && !cells_insert(&c->tree, c->own[i], true))
            c->late[late++] = c->own[i];
    for (int32_t i = 0; i < late; i++)
        cells_insert(&c->tree, c->late[i], false);
}

static void
tree_build(struct cluster *c)
{
    bodies_insert(c);
    cluster_barrier(c); /* all bodies are in it */
    cells_sum(&c->tree);
    cluster_barrier(c);
}

/* Find the forces on the bodies that are mine from now on, and move them;
 * `kick` is for velocities, which are half a step behind. */
static void
bodies_move(struct cluster *c, double kick)
{
    if (!c->alone)
        hearth_prefetch(c->body, (size_t)bodies * sizeof *c->body);
    cells_fetch(&c->tree);
    c->owns = cells_part(&c->tree, c->rank, c->ranks, c->own);
    cluster_barrier(c); /* nobody looks at work any more */
    for (int32_t i = 0; i < c->owns; i++)
        c->tree.work[c->own[i]] = cells_pull(&c->tree, c->own[i], c->pull[i]);
    cluster_barrier(c); /* nor at places */
    for (int32_t i = 0; i < c->owns; i++) {
        struct body *b = &c->body[c->own[i]];

        for (int d = 0; d < 3; d++) {
            b->v[d] += kick * c->pull[i][d];
            b->x[d] += time_step * b->v[d];
        }
    }
}

/* Step s, from 0 on; the first one is where velocities fall behind. */
static void
cluster_step(struct cluster *c, long s)
{
    cells_clear(&c->tree);
    c->tree.side = cluster_measure(c, &c->size[s]);
    tree_build(c);
    bodies_move(c, s == 0 ? time_step / 2 : time_step);
}

/* The private part of a cluster; the shared arrays are there. */
static void
cluster_open(struct cluster *c)
{
    const size_t n = (size_t)bodies;

    c->own = app_private(c->run, n, sizeof *c->own);
    c->late = app_private(c->run, n, sizeof *c->late);
    c->pull = app_private(c->run, n, sizeof *c->pull);
    c->tree.run = c->run;
    c->tree.alone = c->alone;
    c->tree.rank = c->rank;
    c->tree.body = c->body;
    c->tree.theta = (double)theta / 100;
    c->tree.known =
        app_private(c->run, (size_t)c->ranks * (size_t)c->tree.room,
                    sizeof *c->tree.known);
    if (c->again)
        bodies_share(c);
    else
        cluster_start(c);
}

static void
cluster_close(struct cluster *c)
{
    free(c->tree.known);
    free(c->pull);
    free(c->late);
    free(c->own);
}

/* Cells that a rank has room for: there are fewer, unless bodies lie in pairs
 * much closer than others. */
static int32_t
cells_room(void)
{
    return (int32_t)(bodies / 2 + 64);
}

/* The same steps on one rank, in private memory. */
static struct cluster
sequential_run(struct app_run *run)
{
    const size_t   n = (size_t)bodies;
    struct cluster c = { .run = run, .alone = true, .ranks = 1 };

    c.body = app_private(run, n, sizeof *c.body);
    c.size = app_private(run, (size_t)steps + 1, sizeof *c.size);
    c.tree.room = cells_room();
    c.tree.work = app_private(run, n, sizeof *c.tree.work);
    c.tree.made = app_private(run, 1, sizeof *c.tree.made);
    c.tree.cell = app_private(run, (size_t)c.tree.room, sizeof *c.tree.cell);
    cluster_open(&c);
    app_sequential_start(run);
    for (long s = 0; s < steps; s++)
        cluster_step(&c, s);
    app_sequential_stop(run);
    return c;
}

static void
sequential_free(struct cluster *c)
{
    cluster_close(c);
    free(c->tree.cell);
    free(c->tree.made);
    free(c->tree.work);
    free(c->size);
    free(c->body);
}

/* The acceleration of a body, body by body. */
static void
direct_sum(const struct body *body, size_t i, double acceleration[3])
{
    double d[3];

    memset(acceleration, 0, 3 * sizeof *acceleration);
    for (size_t j = 0; j < (size_t)bodies; j++)
        if (j != i)
            gravity_body(acceleration, d, gravity_way(d, body[i].x, body[j].x),
                         body[j].mass);
}

/* The forces on some bodies, beside direct sums: by a tree over where they are
 * now with a fourth of its angle. */
static void
forces_verify(struct app_run *run, struct cluster *c)
{
    const size_t n = (size_t)bodies, stride = check_stride(n);
    struct check check = { 0 };

    cells_clear(&c->tree);
    c->tree.side = cluster_measure(c, &c->size[steps]);
    c->tree.theta /= 4;
    tree_build(c);
    for (size_t i = 0; i < n; i += stride) {
        double got[3], want[3];

        cells_pull(&c->tree, (int32_t)i, got);
        direct_sum(c->body, i, want);
        check_add(&check, got, want);
    }
    check_forces(run, &check, c->tree.theta);
}

/* Rank 0: the bodies are those of a sequential run, bit for bit. */
static void
cluster_verify(struct app_run *run, const struct body *got)
{
    struct cluster want = sequential_run(run);

    check_bodies(run, got, want.body, (size_t)bodies);
    forces_verify(run, &want);
    sequential_free(&want);
}

/* What a run needs to go on.  The tree is made anew in each step. */
static struct {
    struct body *body;
    double      *size;
    int64_t     *work, *made;
    struct cell *cell;
    long         done; /* steps */
} own;

/* Of the run before: room for the cells of other ranks is made anew. */
static void
cluster_share(struct cluster *c, size_t n)
{
    const struct app_run *run = c->run;

    c->tree.room = cells_room();
    c->again = app_saved(run, &own, sizeof own, "octree");
    if (c->again) {
        hearth_free(own.made);
        hearth_free(own.cell);
    } else {
        own.body = app_alloc(run, n, sizeof *own.body, hearth_block());
        own.size =
            app_alloc(run, (size_t)steps + 1, sizeof *own.size, hearth_on(0));
        own.work = app_alloc(run, n, sizeof *own.work, hearth_block());
    }
    own.made =
        app_alloc(run, (size_t)run->ranks, sizeof *own.made, hearth_on(0));
    own.cell = app_alloc(run, (size_t)run->ranks * (size_t)c->tree.room,
                         sizeof *own.cell, hearth_block());
    c->body = own.body;
    c->size = own.size;
    c->tree.work = own.work;
    c->tree.made = own.made;
    c->tree.cell = own.cell;
}

static void
octree_run(struct app_run *run)
{
    const size_t   n = (size_t)bodies;
    struct cluster c = { .run = run, .rank = run->rank, .ranks = run->ranks };

    cluster_share(&c, n);
    cluster_open(&c);
    app_start(run);
    while (own.done < steps) {
        cluster_step(&c, own.done);
        app_progress(run, "step", ++own.done, steps);
        app_checkpoint(run, own.done, steps);
    }
    app_stop(run);

    if (run->verify && run->rank == 0)
        cluster_verify(run, c.body);
    app_barrier(run);
    cluster_close(&c);
    hearth_free(c.tree.cell);
    hearth_free(c.tree.made);
    hearth_free(c.tree.work);
    hearth_free(c.size);
    hearth_free(c.body);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "octree",
        .about =
            "Gravity between bodies, by a tree with a lock for each cell.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .run = octree_run,
        .saves = true,
    };

    return app_main(&app, argc, argv);
}
