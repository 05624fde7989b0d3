/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gravity between n bodies, by the method of Barnes and Hut.
 *
 * Problem: bodies of equal mass in Plummer's model of a cluster, or those of a
 * file (initial.h), for some steps of 0.025.  What pulls at a body is a cell
 * of a tree as a whole, its mass and quadrupole moments, if the cell is
 * further away than its edge over theta, and else what is in it.
 *
 * Source: Barnes of SPLASH-2 (Woo et al., The SPLASH-2 Programs, ISCA 1995;
 * Barnes, Hut: A hierarchical O(N log N) force-calculation algorithm, Nature
 * 324, 1986), as in the papers on JIAJIA and HLRC; the cluster after Aarseth,
 * Henon, Wielen (Astronomy and Astrophysics 37, 1974).  Time step, softening,
 * theta and bodies in a leaf are SPLASH-2's, bodies are dealt by the work of
 * the step before as there, and the number of steps is Hearth's own.
 *
 * The tree is built another way.  In SPLASH-2 all ranks put their bodies into
 * one tree, with a lock for each cell, and go down to the place without one:
 * a race, and even if it were none, a rank would under scope consistency not
 * see cells that were made under another lock.  Here the keys of the bodies
 * tell each rank which cells there are (tree.h).  It builds those of
 * its own bodies without a lock, each sum has one order, and the result is
 * that of a sequential run.
 *
 * Sharing: the bodies, their keys and their work, the tree.  A step has four
 * barriers: after the size of the cluster, a maximum under a lock; after the
 * keys, which each rank orders for itself; after the cells within a rank's
 * zone of that order, to which the bodies in it are copied; and after the few
 * cells above, by rank 0.  Then all ranks read all over the tree, and a rank
 * stores only to where bodies of its zone are.
 *
 * Limit: the pages of the tree that a node reads, nearly all of it with a few
 * nodes.  All ranks order all keys, which is a few thousandths of a sequential
 * run.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "check.h"
#include "common.h"
#include "initial.h"
#include "order.h"
#include "plummer.h"
#include "tree.h"

static long        bodies, steps, theta;
static const char *input;

static const struct app_option options[] = {
    APP_NUMBER('n', "bodies", &bodies, 16384, 2048, 1, 1 << 26,
               "bodies, if there is no file"),
    APP_NUMBER('s', "steps", &steps, 20, 4, 0, 1L << 40, "time steps"),
    APP_NUMBER('t', "theta", &theta, 100, 100, 0, 100,
               "opening angle, in hundredths"),
    APP_TEXT('f', "input", &input, NULL, NULL,
             "a file of bodies, as SPLASH-2's Barnes and NEMO's stoa have it"),
};

static const double time_step = 0.025; /* as in SPLASH-2 */

struct cluster {
    bool          alone; /* a sequential run: nothing is shared */
    bool          again; /* it goes on: bodies are where they were */
    int           rank;
    struct body  *body;  /* shared, in the order of the step before */
    struct entry *entry; /* shared: of body[i] */
    double       *size;  /* shared: the largest coordinate, of each step */
    struct point *point; /* shared, in order */
    struct node  *node;  /* shared */
    int32_t      *built; /* shared: the end of the nodes of each zone */
    struct order  order;
    struct tree   tree;
    struct body  *own; /* bodies of my zone, in order */
};

static void
cluster_barrier(const struct cluster *c)
{
    if (!c->alone)
        hearth_barrier();
}

/* Bodies [*from, *to) of the last order are mine. */
static void
zone_find(const struct cluster *c, size_t *from, size_t *to)
{
    *from = c->order.zone[c->rank];
    *to = c->order.zone[c->rank + 1];
}

/* Rank 0: of the file. */
static struct body *initial;

static void
cluster_start(struct cluster *c)
{
    size_t from, to;

    zone_find(c, &from, &to);
    for (size_t i = from; i < to; i++) {
        if (input == NULL)
            c->body[i] = plummer_body(i, (size_t)bodies);
        c->entry[i].work = 1;
    }
    if (initial != NULL)
        memcpy(c->body, initial, (size_t)bodies * sizeof *initial);
}

/* The edge of a cube about the origin for all bodies: a power of two, so that
 * all lengths in the tree are exact. */
static double
cluster_measure(const struct cluster *c, double *size)
{
    double most = 0;
    size_t from, to;
    int    exponent;

    zone_find(c, &from, &to);
    for (size_t i = from; i < to; i++)
        for (int d = 0; d < 3; d++)
            most = fmax(most, fabs(c->body[i].x[d]));
    if (!c->alone)
        hearth_lock(0);
    *size = fmax(*size, most);
    if (!c->alone)
        hearth_unlock(0);
    cluster_barrier(c);
    frexp(*size, &exponent);
    return ldexp(1, exponent + 1);
}

/* Order all bodies, and copy those of my new zone. */
static void
bodies_order(struct cluster *c)
{
    size_t from, to;

    zone_find(c, &from, &to);
    for (size_t i = from; i < to; i++)
        c->entry[i].key = order_key(c->body[i].x, c->tree.side);
    cluster_barrier(c);
    if (!c->alone)
        hearth_prefetch(c->entry, (size_t)bodies * sizeof *c->entry);
    order_make(&c->order, c->entry);
    zone_find(c, &from, &to);
    for (size_t i = from; i < to; i++) {
        const struct body *b = &c->body[c->order.from[i]];

        c->own[i - from] = *b;
        memcpy(c->point[i].x, b->x, sizeof b->x);
        c->point[i].mass = b->mass;
    }
}

/* Fetch the bodies of all zones, and their part of the tree. */
static void
tree_prefetch(const struct cluster *c)
{
    const int zones = c->order.zones;

    hearth_prefetch(c->point, (size_t)bodies * sizeof *c->point);
    for (int z = 0; z < zones; z++) {
        size_t first = tree_nodes(zones, c->order.zone[z]);

        hearth_prefetch(&c->node[first],
                        ((size_t)c->built[z] - first) * sizeof *c->node);
    }
}

static void
tree_build(struct cluster *c)
{
    c->tree.key = c->order.key;
    tree_build_zone(&c->tree, c->rank);
    c->built[c->rank] = c->tree.free;
    cluster_barrier(c); /* all zones are built */
    if (c->rank == 0)
        tree_build_top(&c->tree);
    cluster_barrier(c);
    if (!c->alone)
        tree_prefetch(c);
}

/* Find the forces on my bodies, and move them; `kick` is for velocities,
 * which are half a step behind. */
static void
bodies_move(struct cluster *c, double kick)
{
    size_t from, to;

    zone_find(c, &from, &to);
    for (size_t i = from; i < to; i++) {
        struct body *b = &c->own[i - from];
        double       acceleration[3];

        c->entry[i].work = tree_walk(&c->tree, i, acceleration);
        for (int d = 0; d < 3; d++) {
            b->v[d] += kick * acceleration[d];
            b->x[d] += time_step * b->v[d];
        }
        c->body[i] = *b;
    }
}

/* Step s, from 0 on; the first one is where velocities fall behind. */
static void
cluster_step(struct cluster *c, long s)
{
    c->tree.side = cluster_measure(c, &c->size[s]);
    bodies_order(c);
    tree_build(c);
    bodies_move(c, s == 0 ? time_step / 2 : time_step);
}

/* The private part of a cluster; the shared arrays are there. */
static void
cluster_open(struct cluster *c, const struct app_run *run, int ranks)
{
    order_open(&c->order, run, (size_t)bodies, ranks);
    c->own = app_private(run, (size_t)bodies, sizeof *c->own);
    c->tree = (struct tree){
        .node = c->node,
        .point = c->point,
        .zone = c->order.zone,
        .zones = ranks,
        .root = app_private(run, (size_t)ranks, sizeof *c->tree.root),
        .theta = (double)theta / 100,
    };
    if (!c->again)
        cluster_start(c);
}

static void
cluster_close(struct cluster *c)
{
    free(c->tree.root);
    free(c->own);
    order_close(&c->order);
}

/* The same steps on one rank, in private memory. */
static struct cluster
sequential_run(struct app_run *run)
{
    const size_t   n = (size_t)bodies;
    struct cluster c = { .alone = true };

    c.body = app_private(run, n, sizeof *c.body);
    c.entry = app_private(run, n, sizeof *c.entry);
    c.size = app_private(run, (size_t)steps + 1, sizeof *c.size);
    c.point = app_private(run, n, sizeof *c.point);
    c.node = app_private(run, tree_nodes(1, n), sizeof *c.node);
    c.built = app_private(run, 1, sizeof *c.built);
    cluster_open(&c, run, 1);
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
    free(c->built);
    free(c->node);
    free(c->point);
    free(c->size);
    free(c->entry);
    free(c->body);
}

/*
 * The forces on some bodies, beside direct sums: by the tree of the last step
 * with a fourth of its angle.  Forces hide a wrong moment among many that are
 * right, so each cell is looked at by itself.
 */
static void
forces_verify(struct app_run *run, struct tree *t)
{
    const size_t n = (size_t)bodies, stride = check_stride(n);
    struct check check = { 0 };
    double       cell;

    t->theta /= 4;
    tree_build_zone(t, 0);
    tree_build_top(t);
    cell = tree_error(t);
    app_verdict(run, cell <= 1,
                "the pull of a cell is off by %.3g times what it leaves out",
                cell);
    for (size_t i = 0; i < n; i += stride) {
        double got[3], want[3];

        tree_walk(t, i, got);
        tree_sum(t, i, want);
        check_add(&check, got, want);
    }
    check_forces(run, &check, t->theta);
}

/* Rank 0: the bodies are those of a sequential run, bit for bit. */
static void
cluster_verify(struct app_run *run, const struct body *got)
{
    struct cluster want = sequential_run(run);

    check_bodies(run, got, want.body, (size_t)bodies);
    if (steps > 0)
        forces_verify(run, &want.tree);
    sequential_free(&want);
}

/* What rank 0 has read, and 0 on the others. */
static double
initial_count(void)
{
    return initial != NULL ? (double)bodies : 0;
}

/* What a run needs to go on.  The tree is made anew in each step. */
static struct {
    struct body  *body;
    struct entry *entry;
    double       *size;
    struct point *point;
    struct node  *node;
    int32_t      *built;
    long          done; /* steps */
} own;

/* Of the run before: room for the zones of other ranks is made anew. */
static void
cluster_share(struct cluster *c, const struct app_run *run, size_t n)
{
    c->again = app_saved(run, &own, sizeof own, "barnes");
    if (c->again) {
        hearth_free(own.node);
        hearth_free(own.built);
    } else {
        own.body = app_alloc(run, n, sizeof *own.body, hearth_block());
        own.entry = app_alloc(run, n, sizeof *own.entry, hearth_block());
        own.size =
            app_alloc(run, (size_t)steps + 1, sizeof *own.size, hearth_on(0));
        own.point = app_alloc(run, n, sizeof *own.point, hearth_block());
    }
    own.node = app_alloc(run, tree_nodes(run->ranks, n), sizeof *own.node,
                         hearth_block());
    own.built =
        app_alloc(run, (size_t)run->ranks, sizeof *own.built, hearth_on(0));
    c->body = own.body;
    c->entry = own.entry;
    c->size = own.size;
    c->point = own.point;
    c->node = own.node;
    c->built = own.built;
}

static void
barnes_run(struct app_run *run)
{
    const size_t n =
        input != NULL ? (size_t)app_max(run, initial_count()) : (size_t)bodies;
    struct cluster c = { .rank = run->rank };

    bodies = (long)n;
    cluster_share(&c, run, n);
    cluster_open(&c, run, run->ranks);
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
    hearth_free(c.built);
    hearth_free(c.node);
    hearth_free(c.point);
    hearth_free(c.size);
    hearth_free(c.entry);
    hearth_free(c.body);
    free(initial);
}

static const char *
barnes_check(const struct app_run *run)
{
    (void)run;
    return input == NULL ? NULL
                         : initial_read(&initial, &bodies, 1 << 26, input);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "barnes",
        .about = "Gravity between bodies, by the method of Barnes and Hut.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = barnes_check,
        .run = barnes_run,
        .saves = true,
    };

    return app_main(&app, argc, argv);
}
