/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The embarrassingly parallel benchmark: Gaussian deviates.
 *
 * Problem: 2^m pairs of uniform numbers in (-1, 1); those within the unit
 * circle become pairs (X, Y) of independent Gaussian deviates, by the method
 * of Marsaglia.  What is asked for are the sums of all X and of all Y, and
 * how many pairs have max(|X|, |Y|) in [l, l + 1), for l = 0 .. 9.
 *
 * Source: kernel EP of the NAS Parallel Benchmarks (Bailey et al., The NAS
 * Parallel Benchmarks, report RNR-94-007, 1994, and NAS-95-020, 1995).
 *
 * Sharing: the sums and the counts, one page, to which each rank adds its own
 * under lock 0 in the end.  A rank finds its place in the sequence of random
 * numbers by itself.
 *
 * Limit: arithmetic, a logarithm and a square root for most of the pairs;
 * Hearth's part is one lock and two barriers, whatever the class.  The order
 * of the additions is that of the lock, so the last digits of the sums vary.
 */
#include <config.h>

#include <inttypes.h>
#include <math.h>

#include <hearth/hearth.h>

#include "common.h"
#include "npb.h"

enum { ANNULI = 10, BLOCK = 1 << 16 };

static const char *class = "A";

static const struct app_option options[] = {
    NPB_OPTION(&class),
};

/* All of the sharing, and a rank's own part of it. */
struct tally {
    double  x, y;
    int64_t count[ANNULI];
};

/* NPB 2.3 to 3.4.2 verify the sums, to 1e-8, and print the counts. */
static const struct problem {
    int          log; /* of the pairs, base 2 */
    struct tally want;
} problems[NPB_CLASSES] = {
    [NPB_S] = { 24,
                { -3.247834652034740e3,
                  -6.958407078382297e3,
                  { 6140517, 5865300, 1100361, 68546, 1648, 17 } } },
    [NPB_W] = { 25,
                { -2.863319731645753e3,
                  -6.320053679109499e3,
                  { 12281576, 11729692, 2202726, 137368, 3371, 36 } } },
    [NPB_A] = { 28,
                { -4.295875165629892e3,
                  -1.580732573678431e4,
                  { 98257395, 93827014, 17611549, 1110028, 26536, 245 } } },
};

/* The next number of the sequence, in (-1, 1). */
static inline double
uniform(uint64_t *x)
{
    *x = npb_next(*x);
    return 2 * ((double)*x * 0x1p-46) - 1;
}

/* The kernel: add what the pairs of one block give. */
static void
block_add(struct tally *t, uint64_t block)
{
    uint64_t x = npb_jump(271828183, 2 * BLOCK * block);

    for (int i = 0; i < BLOCK; i++) {
        double u = uniform(&x), v = uniform(&x);
        double square = u * u + v * v;

        if (square <= 1) {
            double scale = sqrt(-2 * log(square) / square);

            u *= scale;
            v *= scale;
            t->count[(int)fmax(fabs(u), fabs(v))]++;
            t->x += u;
            t->y += v;
        }
    }
}

static void
tally_add(struct tally *to, const struct tally *t)
{
    to->x += t->x;
    to->y += t->y;
    for (int l = 0; l < ANNULI; l++)
        to->count[l] += t->count[l];
}

static bool
sum_near(double sum, double want)
{
    return fabs((sum - want) / want) <= 1e-8;
}

static void
tally_verify(struct app_run *run, const struct tally *t,
             const struct tally *want)
{
    app_verdict(run, sum_near(t->x, want->x) && sum_near(t->y, want->y),
                "the sums are %.15e and %.15e, not %.15e and %.15e", t->x,
                t->y, want->x, want->y);
    for (int l = 0; l < ANNULI; l++)
        app_verdict(run, t->count[l] == want->count[l],
                    "%" PRId64 " pairs from %d on, there are %" PRId64,
                    t->count[l], l, want->count[l]);
}

static void
ep_run(struct app_run *run)
{
    const struct problem *problem = &problems[npb_class(class)];
    const size_t          blocks = ((size_t)1 << problem->log) / BLOCK;
    const size_t          from = app_part(blocks, run->rank, run->ranks);
    const size_t          to = app_part(blocks, run->rank + 1, run->ranks);
    struct tally *shared = app_alloc(run, 1, sizeof *shared, hearth_on(0));
    struct tally  mine = { .x = 0 };

    app_start(run);
    for (size_t b = from; b < to; b++) {
        block_add(&mine, b);
        app_progress(run, "block", (long)(b - from), (long)(to - from));
    }
    hearth_lock(0);
    tally_add(shared, &mine);
    hearth_unlock(0);
    app_stop(run);

    if (run->verify && run->rank == 0)
        tally_verify(run, shared, &problem->want);
    app_field(run, "pairs=2^%d x=%.15e y=%.15e", problem->log, shared->x,
              shared->y);
    app_barrier(run);
    hearth_free(shared);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "ep",
        .about = "NAS EP: Gaussian deviates, their sums and counts.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .run = ep_run,
    };

    return app_main(&app, argc, argv);
}
