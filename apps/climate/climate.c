/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A climate model's dynamical core: winds of a layered fluid on the sphere.
 *
 * Problem: the shallow-water equations in a stack of layers that press on
 * each other (core.h), by latitude, longitude and level: 91 x 144 x
 * 18 points, both poles among them, on Arakawa's C grid (grid.h);
 * in time the three stages of Wicker and Skamarock (Monthly Weather Review
 * 130, 2002).  Near the poles, where columns crowd, the tendencies are
 * filtered (filter.h).  It begins with a steady flow that is known in
 * closed form (case.h).
 *
 * Source: this stands in the place of IAP18 in the papers on JIAJIA.  The
 * source of that is not public, and this is not it: no temperature, no
 * moisture, no physics; equations and schemes are chosen from the published
 * ones named here.  What it shares with a model of that kind, and with the
 * papers' table, are the grid, 20 MB of state, the pattern of work and data,
 * and 5400 barriers: five days in steps of four minutes.
 *
 * Sharing: the state, and one more of it for each of the other two stages.
 * Bands of latitudes; a rank stores to the rows at home on it, which are
 * whole pages, and reads one row to the south and two to the north after
 * each stage's barrier, all levels of three fields at once.  Fluxes and the
 * like on both sides of an edge are computed twice and not shared.
 *
 * Limit: arithmetic.  The filter works on the rows within 30 degrees of the
 * poles only, so that with more than two ranks those at the ends have more to
 * do, and the others wait at the barrier.
 */
#include <config.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "case.h"
#include "core.h"

static long rows, columns, levels, steps, dt, angle;

static const struct app_option options[] = {
    APP_NUMBER('m', "rows", &rows, 91, 46, 5, 1 << 14,
               "latitudes, the poles among them"),
    APP_NUMBER('n', "columns", &columns, 144, 72, 4, 1 << 14,
               "longitudes, a product of twos and threes"),
    APP_NUMBER('l', "levels", &levels, 18, 6, 1, 1 << 10, "layers"),
    APP_NUMBER('s', "steps", &steps, 1800, 60, 0, 1L << 40, "time steps"),
    APP_NUMBER('t', "dt", &dt, 240, 480, 1, 86400, "seconds in a time step"),
    APP_NUMBER('a', "angle", &angle, 45, 45, 0, 90,
               "degrees between the axes of the flow and of the grid"),
};

enum { STAGES = 3 };

/* The states between the stages: the first one is that of whole steps. */
struct model {
    struct climate_grid grid;
    struct climate_core core;
    double             *state[STAGES];
    size_t              from, to; /* the rows of this rank */
};

static void
model_start(struct model *m, const struct app_run *run, size_t unit)
{
    climate_grid_init(&m->grid, run, (size_t)rows, (size_t)columns,
                      (size_t)levels, unit);
    climate_case_turn(&m->grid, (double)angle);
    climate_core_init(&m->core, run, &m->grid);
}

static void
model_end(struct model *m)
{
    climate_core_free(&m->core);
    climate_grid_free(&m->grid);
}

/* One stage, from one state to the next. */
static void
stage_run(struct model *m, int stage)
{
    const double part = 1.0 / (STAGES - stage);

    climate_core_advance(&m->core, m->state[(stage + 1) % STAGES], m->state[0],
                         m->state[stage], part * (double)dt, m->from, m->to);
}

/* Ask for all that a stage reads of other ranks' rows at once. */
static void
halo_fetch(const struct model *m, int stage)
{
    const struct climate_grid *g = &m->grid;
    const size_t bytes = g->stride * sizeof(double), from = m->from;
    const size_t end = m->to + CLIMATE_NORTH;
    const size_t to = end < g->rows ? end : g->rows;

    if (m->from >= m->to)
        return;
    if (from > 0)
        hearth_prefetch(m->state[stage] + (from - CLIMATE_SOUTH) * g->stride,
                        CLIMATE_SOUTH * bytes);
    if (m->to < to)
        hearth_prefetch(m->state[stage] + m->to * g->stride,
                        (to - m->to) * bytes);
}

/* The same steps by one rank in its own memory. */
static void
sequential_run(struct app_run *run, struct model *m, size_t unit)
{
    model_start(m, run, unit);
    for (int i = 0; i < STAGES; i++)
        m->state[i] =
            app_private(run, m->grid.rows * m->grid.stride, sizeof(double));
    m->from = 0;
    m->to = m->grid.rows;
    climate_case_fill(&m->grid, m->state[0], (double)angle, 0, m->to);
    app_sequential_start(run);
    for (long n = 0; n < steps; n++)
        for (int i = 0; i < STAGES; i++)
            stage_run(m, i);
    app_sequential_stop(run);
}

static void
state_compare(struct app_run *run, const struct climate_grid *g,
              const double *got, const double *want)
{
    for (size_t j = 0; j < g->rows; j++)
        for (size_t e = 0; e < CLIMATE_FIELDS * g->width; e++) {
            const size_t at = j * g->stride + e;

            if (memcmp(&got[at], &want[at], sizeof got[at]) != 0) {
                app_verdict(run, false,
                            "row %zu: %c is %.17g, sequentially %.17g", j,
                            "uvh"[e / g->width], got[at], want[at]);
                return;
            }
        }
}

/* Every step may round; nothing else may change a mass. */
static void
mass_verify(struct app_run *run, const struct climate_grid *g,
            const double *end, const double *start)
{
    const double bound = DBL_EPSILON * (double)(steps + 1);

    for (size_t k = 0; k < g->levels; k++) {
        double before = climate_case_mass(g, start, k);
        double change = climate_case_mass(g, end, k) / before - 1;

        app_verdict(run, fabs(change) <= bound,
                    "the mass of layer %zu changed by %.2g of itself", k,
                    change);
    }
}

/*
 * The scheme is of second order, and errors grow evenly in time.  Bounds are
 * twice what was found with axes at all angles, in five days and in thirty.
 */
static void
norms_verify(struct app_run *run, const struct climate_grid *g,
             const double *end, const double *start)
{
    const struct climate_norms n = climate_case_norms(g, end, start);
    const double               days = (double)(steps * dt) / 86400;
    const double               step =
        fmax(2.0 / (double)columns, 1.0 / (double)(rows - 1)) * APP_PI;
    const double mean = step * step * (0.1 + 0.12 * days);
    const double most = step * step * (1 + 0.4 * days);

    app_verdict(run, n.l1 <= mean && n.l2 <= mean && n.most <= most,
                "errors l1=%.3g l2=%.3g linf=%.3g, at most %.3g and %.3g",
                n.l1, n.l2, n.most, mean, most);
    app_field(run, "l1=%.3g l2=%.3g linf=%.3g", n.l1, n.l2, n.most);
}

/* Rank 0: mass, errors, and a sequential run, bit for bit. */
static void
model_verify(struct app_run *run, const struct model *m, size_t unit)
{
    struct model want;

    sequential_run(run, &want, unit);
    state_compare(run, &m->grid, m->state[0], want.state[0]);
    climate_case_fill(&m->grid, want.state[0], (double)angle, 0, want.to);
    mass_verify(run, &m->grid, m->state[0], want.state[0]);
    norms_verify(run, &m->grid, m->state[0], want.state[0]);
    for (int i = 0; i < STAGES; i++)
        free(want.state[i]);
    model_end(&want);
}

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * Rows are whole pages, if they are not much smaller than a page, and so many
 * that every rank is home of equally many; the last ones may not be there.
 */
/* What a run needs to go on. */
static struct {
    double *state[STAGES];
    size_t  all;  /* rows that there is room for */
    long    done; /* steps */
} own;

static void
model_share(struct model *m, const struct app_run *run, size_t unit)
{
    const size_t ranks = (size_t)run->ranks;
    bool         again = app_saved(run, &own, sizeof own, "climate");

    model_start(m, run, unit);
    if (!again)
        own.all = (m->grid.rows + ranks - 1) / ranks * ranks;
    for (int i = 0; i < STAGES; i++) {
        if (!again)
            own.state[i] = app_alloc(run, own.all * m->grid.stride,
                                     sizeof(double), hearth_block());
        m->state[i] = own.state[i];
    }
    app_home_rows(run, m->state[0], own.all, m->grid.stride * sizeof(double),
                  &m->from, &m->to);
    m->from = least(m->from, m->grid.rows);
    m->to = least(m->to, m->grid.rows);
    if (!again)
        climate_case_fill(&m->grid, m->state[0], (double)angle, m->from,
                          m->to);
}

static void
climate_run(struct app_run *run)
{
    const size_t page = app_page_size(run);
    const size_t unit = page <= 1 << 14 ? page : 64;
    struct model m;

    model_share(&m, run, unit);
    app_start(run);
    while (own.done < steps) {
        for (int i = 0; i < STAGES; i++) {
            halo_fetch(&m, i);
            stage_run(&m, i);
            hearth_barrier(); /* the neighbours' rows are there */
        }
        app_progress(run, "step", ++own.done, steps);
        app_checkpoint(run, own.done, steps);
    }
    app_stop(run);
    if (run->verify && run->rank == 0)
        model_verify(run, &m, unit);
    app_barrier(run);
    for (int i = STAGES; i-- > 0;)
        hearth_free(m.state[i]);
    model_end(&m);
}

static const char *
climate_check(const struct app_run *run)
{
    (void)run;
    if (!climate_filter_can((size_t)columns))
        return "--columns is not a product of twos and threes";
    if ((double)dt > climate_grid_limit((size_t)rows, (size_t)columns,
                                        climate_case_speed()))
        return "--dt is too long for the waves on this grid";
    return NULL;
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "climate",
        .about = "A climate model's dynamical core: layers on the sphere.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = climate_check,
        .run = climate_run,
        .saves = true,
    };

    return app_main(&app, argc, argv);
}
