/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Water: a box of liquid water, all pairs of molecules.
 *
 * Problem: n molecules of three sites in a periodic box at the density of
 * water, on a lattice at first, for some steps of 0.15 fs.  A pair of
 * molecules counts up to half the box.
 *
 * Source: Water-nsquared of SPLASH-2 (Woo et al., The SPLASH-2 Programs, ISCA
 * 1995), whose 1728 molecules are those of the paper on JIAJIA's SMP protocol.
 * The division of work, the integrator and its step are as there; the model
 * of water is a newer one, see model.c, and the number of steps is
 * Hearth's own.
 *
 * Sharing: where the molecules are, and the forces on them.  A rank has a part
 * of the molecules and computes the pairs of each with the n / 2 that follow
 * it.  It sums the forces by itself, those on others too, and adds them to
 * the shared ones, a rank's part after the other, each under its lock;
 * everybody begins with its own.  (SPLASH-2 has a lock for each molecule: on a
 * DSM each costs a message, and fetches a page.)  The sums over all molecules
 * are under a lock of their own.  How they move is in private memory, as
 * nobody but the molecules' rank uses it.
 *
 * Limit: none to speak of with a few ranks, as the work grows with n^2 and the
 * traffic with n: where all molecules are, and half of all forces, go to and
 * from each node in each step.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "common.h"
#include "model.h"

static long molecules, steps;

static const struct app_option options[] = {
    APP_NUMBER('n', "molecules", &molecules, 1728, 216, 8, 1 << 20,
               "molecules of water"),
    APP_NUMBER('s', "steps", &steps, 50, 10, 0, 1L << 40, "time steps"),
};

enum { SUMS_LOCK = HEARTH_LOCKS - 1 };

/*
 * Bounds of --verify: against a sequential run, whose sums are in another
 * order, in units of the kinetic energy and in angstroms; and against the
 * beginning, in units of the kinetic energy and of the sum of all momenta.
 * The total energy counts from a step on in which the higher derivatives,
 * which begin as 0, have found their values.
 */
#define SAME_ENERGY   1e-9
#define SAME_PLACE    1e-9
#define SAME_TOTAL    1e-5
#define SAME_MOMENTUM 1e-12
enum { SETTLED = 8 };

struct water {
    bool           alone;       /* a sequential run: nothing is shared */
    int            part, parts; /* mine; of how many */
    struct sites  *at, *force;  /* shared: of all molecules */
    struct sums   *sums;        /* shared: of each step, after 0, the start */
    struct sites  *pull;        /* my share of the forces on all molecules */
    struct motion *motion;      /* of my molecules, from 0 on */
    double         potential;   /* my share */
};

/* The first molecule of a part. */
static size_t
part_first(const struct water *w, int part)
{
    return app_part((size_t)molecules, part, w->parts);
}

static void
water_barrier(const struct water *w)
{
    if (!w->alone)
        hearth_barrier();
}

static void
section_lock(const struct water *w, int lock)
{
    if (!w->alone)
        hearth_lock(lock);
}

static void
section_unlock(const struct water *w, int lock)
{
    if (!w->alone)
        hearth_unlock(lock);
}

static bool
force_exists(const struct sites *force)
{
    for (int s = 0; s < WATER_SITES; s++)
        for (int d = 0; d < 3; d++)
            if (force->x[s][d] != 0)
                return true;
    return false;
}

static void
force_add(struct sites *to, const struct sites *force)
{
    for (int s = 0; s < WATER_SITES; s++)
        for (int d = 0; d < 3; d++)
            to->x[s][d] += force->x[s][d];
}

/* Add my share of the forces on the molecules of one part. */
static void
section_add(const struct water *w, int part)
{
    const int lock = part % SUMS_LOCK;
    size_t    from = part_first(w, part), to = part_first(w, part + 1);

    while (from < to && !force_exists(&w->pull[from]))
        from++;
    if (from == to)
        return;
    section_lock(w, lock);
    if (!w->alone)
        hearth_prefetch(&w->force[from], (to - from) * sizeof *w->force);
    for (size_t i = from; i < to; i++)
        if (force_exists(&w->pull[i]))
            force_add(&w->force[i], &w->pull[i]);
    section_unlock(w, lock);
}

/* All forces; those in w->force are 0 before. */
static void
forces_compute(struct water *w)
{
    const size_t n = (size_t)molecules;

    memset(w->pull, 0, n * sizeof *w->pull);
    w->potential = 0;
    if (!w->alone)
        hearth_prefetch(w->at, n * sizeof *w->at);
    for (size_t i = part_first(w, w->part); i < part_first(w, w->part + 1);
         i++) {
        /* of an even number, the one opposite is met from one side */
        const size_t count = (n - 1) / 2 + (n % 2 == 0 && i < n / 2);

        w->potential += water_bend(&w->pull[i], &w->at[i]);
        w->potential += water_pull(w->pull, w->at, n, i, count);
    }
    for (int p = 0; p < w->parts; p++)
        section_add(w, (w->part + p) % w->parts);
}

/* Add my share to the sums of a step. */
static void
sums_add(const struct water *w, struct sums *sums)
{
    const size_t own = part_first(w, w->part + 1) - part_first(w, w->part);
    struct sums  mine = { .potential = w->potential };

    for (size_t i = 0; i < own; i++)
        water_measure(&mine, &w->motion[i]);
    section_lock(w, SUMS_LOCK);
    sums->potential += mine.potential;
    sums->kinetic += mine.kinetic;
    sums->speed += mine.speed;
    for (int d = 0; d < 3; d++)
        sums->momentum[d] += mine.momentum[d];
    section_unlock(w, SUMS_LOCK);
}

/* Put my molecules where they begin, and find the forces there. */
static void
water_begin(struct water *w)
{
    const size_t from = part_first(w, w->part);
    const size_t to = part_first(w, w->part + 1);

    for (size_t i = from; i < to; i++)
        water_start(&w->at[i], &w->motion[i - from], i, (size_t)molecules);
    water_barrier(w);
    forces_compute(w);
    water_barrier(w);
    for (size_t i = from; i < to; i++)
        water_accelerate(&w->motion[i - from], &w->force[i]);
    sums_add(w, &w->sums[0]);
}

static void
water_step(struct water *w, struct sums *sums)
{
    const double box = water_box((size_t)molecules);
    const size_t from = part_first(w, w->part);
    const size_t to = part_first(w, w->part + 1);

    for (size_t i = from; i < to; i++)
        water_predict(&w->at[i], &w->motion[i - from]);
    memset(&w->force[from], 0, (to - from) * sizeof *w->force);
    water_barrier(w); /* all are there, without forces */
    forces_compute(w);
    water_barrier(w); /* all forces are added */
    for (size_t i = from; i < to; i++) {
        water_correct(&w->at[i], &w->motion[i - from], &w->force[i]);
        water_wrap(&w->at[i], box);
    }
    sums_add(w, sums);
}

/* The private part of a water. */
static void
water_open(struct water *w, const struct app_run *run)
{
    const size_t own = part_first(w, w->part + 1) - part_first(w, w->part);

    w->pull = app_private(run, (size_t)molecules, sizeof *w->pull);
    w->motion = app_private(run, own, sizeof *w->motion);
}

static void
water_close(struct water *w)
{
    free(w->motion);
    free(w->pull);
}

static double
difference(const double *a, const double *b, size_t count)
{
    double most = 0;

    for (size_t i = 0; i < count; i++)
        most = app_worse(most, fabs(a[i] - b[i]));
    return most;
}

/* The same steps on one rank, in private memory. */
static struct water
sequential_run(struct app_run *run)
{
    const size_t n = (size_t)molecules;
    struct water w = { .alone = true, .parts = 1 };

    w.at = app_private(run, n, sizeof *w.at);
    w.force = app_private(run, n, sizeof *w.force);
    w.sums = app_private(run, (size_t)steps + 1, sizeof *w.sums);
    water_open(&w, run);
    water_begin(&w);
    app_sequential_start(run);
    for (long s = 1; s <= steps; s++)
        water_step(&w, &w.sums[s]);
    app_sequential_stop(run);
    return w;
}

static void
sequential_free(struct water *w)
{
    water_close(w);
    free(w->sums);
    free(w->force);
    free(w->at);
}

/* As in a sequential run, but for the order of sums. */
static void
run_compare(struct app_run *run, const struct water *w)
{
    struct water want = sequential_run(run);
    const size_t n = (size_t)molecules;
    double       off;

    for (long s = 0; s <= steps && !run->failed; s++) {
        off = difference(&w->sums[s].potential, &want.sums[s].potential, 2);
        app_verdict(run, off <= SAME_ENERGY * want.sums[s].kinetic,
                    "step %ld: an energy is off by %.3e", s, off);
    }
    off = difference(w->at[0].x[0], want.at[0].x[0],
                     n * sizeof *w->at / sizeof(double));
    app_verdict(run, off <= SAME_PLACE, "a molecule is off by %.3e A", off);
    sequential_free(&want);
}

/* Total energy and momentum stay what they are. */
static void
sums_verify(struct app_run *run, const struct sums *sums)
{
    double drift = 0, kick = 0;

    for (long s = 1; s <= steps; s++) {
        double off = difference(sums[s].momentum, sums[0].momentum, 3);

        kick = app_worse(kick, off / sums[0].speed);
        if (s <= SETTLED)
            continue;
        off = sums[s].potential - sums[SETTLED].potential + sums[s].kinetic -
              sums[SETTLED].kinetic;
        drift = app_worse(drift, fabs(off) / sums[0].kinetic);
    }
    app_verdict(run, drift <= SAME_TOTAL, "the total energy is off by %.3e",
                drift);
    app_verdict(run, kick <= SAME_MOMENTUM, "the momentum is off by %.3e",
                kick);
    app_field(run, "drift=%.1e kick=%.1e", drift, kick);
}

/* What a run needs to go on, beside the motion of each rank's molecules. */
static struct {
    struct sites *at, *force;
    struct sums  *sums;
    long          done; /* steps */
} own;

/* Of the molecules that are mine now, from what the ranks of the run before
 * had. */
static void
motion_collect(const struct water *w, const struct app_run *run, int before)
{
    const struct water had = { .parts = before };
    const size_t       from = part_first(w, w->part);
    const size_t       to = part_first(w, w->part + 1);
    char               name[32];

    snprintf(name, sizeof name, "motion of %d", before);
    for (int r = 0; r < before; r++) {
        const size_t   first = part_first(&had, r);
        const size_t   n = part_first(&had, r + 1) - first;
        struct motion *m;

        if (n == 0 || first >= to || first + n <= from)
            continue;
        m = app_private(run, n, sizeof *m);
        hearth_checkpoint_read(r, name, m, n * sizeof *m);
        for (size_t i = first; i < first + n; i++)
            if (i >= from && i < to)
                w->motion[i - from] = m[i - first];
        free(m);
    }
}

/* The name tells of how many parts it is. */
static void
motion_save(const struct water *w, const struct app_run *run)
{
    const size_t n = part_first(w, w->part + 1) - part_first(w, w->part);
    char         name[32];

    snprintf(name, sizeof name, "motion of %d", w->parts);
    if (n > 0)
        app_saved(run, w->motion, n * sizeof *w->motion, name);
}

static void
water_share(struct water *w, const struct app_run *run)
{
    const size_t n = (size_t)molecules;
    bool         again = app_saved(run, &own, sizeof own, "water");

    if (!again) {
        own.at = app_alloc(run, n, sizeof *own.at, hearth_block());
        own.force = app_alloc(run, n, sizeof *own.force, hearth_block());
        own.sums =
            app_alloc(run, (size_t)steps + 1, sizeof *own.sums, hearth_on(0));
    }
    w->at = own.at;
    w->force = own.force;
    w->sums = own.sums;
    water_open(w, run);
    motion_save(w, run);
    if (!again)
        water_begin(w);
    else if (hearth_restarted() != run->ranks)
        motion_collect(w, run, hearth_restarted());
}

static void
water_run(struct app_run *run)
{
    const size_t n = (size_t)molecules;
    struct water w = { .part = run->rank, .parts = run->ranks };

    water_share(&w, run);
    app_start(run);
    while (own.done < steps) {
        water_step(&w, &w.sums[own.done + 1]);
        app_progress(run, "step", ++own.done, steps);
        app_checkpoint(run, own.done, steps);
    }
    app_stop(run);

    if (run->verify && run->rank == 0) {
        run_compare(run, &w);
        sums_verify(run, w.sums);
    }
    app_field(run, "potential=%.6f kinetic=%.6f",
              w.sums[steps].potential / (double)n,
              w.sums[steps].kinetic / (double)n);
    app_barrier(run);
    water_close(&w);
    hearth_free(w.sums);
    hearth_free(w.force);
    hearth_free(w.at);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "water",
        .about = "A box of liquid water, all pairs of molecules.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .run = water_run,
        .saves = true,
    };

    return app_main(&app, argc, argv);
}
