/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ocean: eddies and currents in a basin.
 *
 * Problem: the water of a square basin, in two layers, is driven by the wind
 * (model.h).  In each time step the rates of change of two stream
 * functions are found by finite differences, then two elliptic equations are
 * solved on a grid of 514 x 514 points, by multigrid (solve.h).
 *
 * Source: Ocean of SPLASH-2 (Woo, Ohara, Torrie, Singh, Gupta: The SPLASH-2
 * programs, ISCA 1995; Singh and Hennessy: Finding and exploiting parallelism
 * in an ocean simulation program, J. Parallel and Distributed Computing 15,
 * 1992), written anew from these and from the papers on its model and its
 * solver.  So it does the same kind of work but not the same steps.
 *
 * Sharing: as there, each rank has a part of all grids, and the grids lie in
 * memory in one of two ways (grid.h); barriers part the phases, and
 * twice in each sweep of the solver, which ends with a maximum under a lock.
 * Sums are not formed under a lock, so that they do not depend on the order of
 * the ranks.  By default a part is a strip of rows, which takes one row of
 * each neighbour and suits pages; with --parts squares it is as square as in
 * SPLASH-2, which takes fewer points and many more pages.
 *
 * Half of the sweeps are on planes of a few pages.  Unlike SPLASH-2's, this
 * program leaves those to one rank (--alone), since what there is to compute
 * is less than what it takes to synchronise.  (Two nodes of one rank take
 * 1.7 times as long as one rank when all planes are divided, 1.07 times so;
 * with 1024 points a row they take 0.65 times as long.)
 *
 * Limit: between nodes, synchronisation.  A sweep costs two barriers, a lock
 * and a few pages on any plane.  In arrays of rows, two ranks also store to
 * the pages where their strips meet.  On one node, the arithmetic of the
 * sweeps on the two finest planes.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include <hearth/hearth.h>

#include "common.h"
#include "model.h"

static long        points, steps, digits, alone;
static const char *layout = "rows", *parts = "strips";

static const struct app_option options[] = {
    APP_NUMBER('n', "points", &points, 512, 64, 4, 1 << 14,
               "points of a row off the coast, a power of two"),
    APP_NUMBER('s', "steps", &steps, 200, 4, 0, 1L << 40, "time steps"),
    APP_NUMBER('d', "digits", &digits, 7, 7, 1, 10,
               "decimal digits of a solution"),
    APP_NUMBER('a', "alone", &alone, 128, 16, 0, 1 << 14,
               "planes of no more points a row are left to one rank"),
    APP_TEXT('l', "layout", &layout, "rows|contiguous", NULL,
             "two-dimensional arrays, or each part by itself"),
    APP_TEXT('p', "parts", &parts, "strips|squares", NULL,
             "what a rank has of a grid"),
};

/* How many parts are side by side: no more than one above the other. */
static int
parts_across(int ranks)
{
    int across = 1;

    if (strcmp(parts, "strips") == 0)
        return 1;
    for (int a = 1; a * a <= ranks; a++)
        if (ranks % a == 0)
            across = a;
    return across;
}

static void
layer_compare(struct app_run *run, const struct ocean_grid *got,
              const struct ocean_grid *want, const char *name)
{
    const size_t size = got->plane->n + 2;

    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++) {
            double g = ocean_grid_point(got, i, j);
            double w = ocean_grid_point(want, i, j);

            if (memcmp(&g, &w, sizeof g) != 0) {
                app_verdict(run, false,
                            "the %s layer at row %zu column %zu is %.17g, "
                            "sequentially %.17g",
                            name, i, j, g, w);
                return;
            }
        }
}

/* The layers exchange no water: the mean of their difference stays 0. */
static void
water_verify(struct app_run *run, const struct ocean_model *m)
{
    const size_t n = m->solver.plane[0].n;
    double       sum = 0, all = 0;

    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= n; j++) {
            double difference = ocean_grid_point(&m->now[OCEAN_UPPER], i, j) -
                                ocean_grid_point(&m->now[OCEAN_LOWER], i, j);

            sum += difference;
            all += fabs(difference);
        }
    app_verdict(run, fabs(sum) <= 1e-9 * all,
                "the depth of the layers changed by %.3g of its variation",
                sum / all);
}

/* Rank 0 compares with a sequential run, bit for bit. */
static void
model_verify(struct app_run *run, const struct ocean_model *m)
{
    struct ocean_model want;

    ocean_model_init(&want, run, NULL, (size_t)points,
                     pow(10, -(double)digits), m);
    app_sequential_start(run);
    for (long n = 0; n < steps; n++)
        ocean_model_step(&want);
    app_sequential_stop(run);
    layer_compare(run, &m->now[OCEAN_UPPER], &want.now[OCEAN_UPPER], "upper");
    layer_compare(run, &m->now[OCEAN_LOWER], &want.now[OCEAN_LOWER], "lower");
    water_verify(run, &want);
    ocean_model_free(&want);
}

static void
ocean_run(struct app_run *run)
{
    const struct ocean_division division = {
        .contiguous = strcmp(layout, "contiguous") == 0,
        .across = parts_across(run->ranks),
        .sole = (size_t)alone,
    };
    struct ocean_model m;

    ocean_model_init(&m, run, &division, (size_t)points,
                     pow(10, -(double)digits), NULL);
    app_start(run);
    for (long n = 0; n < steps; n++) {
        ocean_model_step(&m);
        app_progress(run, "step", n + 1, steps);
    }
    app_stop(run);
    if (run->verify && run->rank == 0)
        model_verify(run, &m);
    app_field(run, "sweeps=%ld", m.solver.sweeps);
    app_barrier(run);
    ocean_model_free(&m);
}

static const char *
ocean_check(const struct app_run *run)
{
    (void)run;
    if ((points & (points - 1)) != 0)
        return "--points is not a power of two";
    return NULL;
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "ocean",
        .about = "SPLASH-2's Ocean: eddies and currents in a basin.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = ocean_check,
        .run = ocean_run,
    };

    return app_main(&app, argc, argv);
}
