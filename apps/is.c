/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Integer sort: the ranks of keys, by a bucket for each value.
 *
 * Problem: 2^n keys of 2^b values, each the mean of four random numbers; ten
 * times two keys are changed and the rank of every key, its place in the
 * sorted sequence, is found anew.
 *
 * Source: kernel IS of the NAS Parallel Benchmarks (Bailey et al., The NAS
 * Parallel Benchmarks, report RNR-94-007, 1994, and NAS-95-020, 1995),
 * shared as in TreadMarks' IS (Lu et al., Quantifying the performance
 * differences between PVM and TreadMarks, JPDC 43, 1997): shared buckets
 * under locks.
 *
 * Sharing: a rank counts its own keys by itself and adds the counts to the
 * shared buckets, one section after the other, each under its lock and at
 * home on one rank; everybody begins with its own.  What was in a bucket
 * before is the place of its keys among equal ones.  After a barrier the home
 * of a section makes places of counts; after another one all ranks read all
 * places.
 *
 * Limit: the traffic.  The buckets, 2 MiB in class A, go to every rank and
 * back, and then to every rank again, in each iteration: so the time grows
 * with the ranks while the counting, half a pass over the keys on two of
 * them, shrinks.  On one node, the cache misses of two random accesses a key.
 */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "common.h"
#include "is_sort.h"

static const char *class = "A";

static const struct app_option options[] = {
    APP_TEXT('c', "class", &class, "S|W|A", "S", "size of the problem"),
};

/*
 * The sections of the buckets: number r is at home on rank r and has lock r,
 * as far as there are so many locks.
 */
struct buckets {
    int32_t *count; /* shared: keys of each value; 0 between iterations */
    int32_t *less;  /* shared: keys that are less, within the section */
    int32_t *total; /* shared: keys of each section */
    size_t  *first; /* of each section, and the end */
};

static void
buckets_init(struct buckets *b, const struct app_run *run, size_t values)
{
    b->count = hearth_alloc(values, sizeof *b->count, hearth_block());
    b->less = hearth_alloc(values, sizeof *b->less, hearth_block());
    b->total =
        hearth_alloc((size_t)run->ranks, sizeof *b->total, hearth_on(0));
    b->first = app_private(run, (size_t)run->ranks + 1, sizeof *b->first);
    for (int r = 0; r <= run->ranks; r++)
        b->first[r] = app_home_first(b->count, values, sizeof *b->count, r);
}

static void
buckets_free(struct buckets *b)
{
    free(b->first);
    hearth_free(b->total);
    hearth_free(b->less);
    hearth_free(b->count);
}

/* Add my counts, and remember instead what was there before. */
static void
section_add(struct buckets *b, struct sort *s, int section)
{
    const int lock = section % HEARTH_LOCKS;

    if (b->first[section] == b->first[section + 1])
        return;
    hearth_lock(lock);
    for (size_t v = b->first[section]; v < b->first[section + 1]; v++) {
        int32_t before = b->count[v];

        b->count[v] = before + s->next[v];
        s->next[v] = before;
    }
    hearth_unlock(lock);
}

/* My section: places of the counts, which begin anew. */
static void
section_scan(struct buckets *b, int section)
{
    int32_t less = 0;

    for (size_t v = b->first[section]; v < b->first[section + 1]; v++) {
        b->less[v] = less;
        less += b->count[v];
        b->count[v] = 0;
    }
    b->total[section] = less;
}

/* The rank of the first of my keys of each value. */
static void
buckets_read(const struct app_run *run, const struct buckets *b,
             struct sort *s)
{
    int32_t less = 0;

    hearth_prefetch(b->less, s->values * sizeof *b->less);
    for (int r = 0; r < run->ranks; r++) {
        for (size_t v = b->first[r]; v < b->first[r + 1]; v++)
            s->next[v] += less + b->less[v];
        less += b->total[r];
    }
}

/* How many keys are less than `value`. */
static int32_t
buckets_less(const struct buckets *b, int32_t value)
{
    int32_t less = b->less[value];

    for (int r = 0; b->first[r + 1] <= (size_t)value; r++)
        less += b->total[r];
    return less;
}

static void
partial_verify(struct app_run *run, const struct buckets *b,
               const struct sort *s, int iteration)
{
    for (int t = 0; t < IS_TESTS; t++) {
        const int32_t *key = is_key_find(s, (size_t)s->problem->at[t]);

        if (key != NULL)
            is_rank_verify(run, s->problem, t, iteration,
                           buckets_less(b, *key));
    }
}

/*
 * Full verification, by all ranks: the keys, each at its rank, are in order
 * and leave no gap.
 */
static void
full_verify(struct app_run *run, const struct sort *s)
{
    int32_t *sorted = hearth_alloc(s->count, sizeof *sorted, hearth_block());
    size_t   from, to;

    app_home_rows(run, sorted, s->count, sizeof *sorted, &from, &to);
    for (size_t i = from; i < to; i++)
        sorted[i] = -1;
    hearth_barrier();
    is_keys_place(run, sorted, s, s->key, s->rank, s->to - s->from);
    hearth_barrier();
    for (size_t i = from; i < to; i++)
        if (!is_pair_verify(run, i, i > 0 ? sorted[i - 1] : 0, sorted[i]))
            break;
    hearth_barrier();
    hearth_free(sorted);
}

static void
is_run(struct app_run *run)
{
    struct sort    s;
    struct buckets b;

    is_sort_init(&s, run, class[0]);
    buckets_init(&b, run, s.values);
    app_start(run);
    for (int n = 1; n <= IS_ITERATIONS; n++) {
        is_keys_count(&s, n);
        for (int r = 0; r < run->ranks; r++)
            section_add(&b, &s, (run->rank + r) % run->ranks);
        hearth_barrier(); /* everybody's keys are counted */
        section_scan(&b, run->rank);
        hearth_barrier(); /* the places are there */
        buckets_read(run, &b, &s);
        is_keys_rank(&s);
        if (run->verify)
            partial_verify(run, &b, &s, n);
        app_progress(run, "iteration", n, IS_ITERATIONS);
    }
    app_stop(run);
    if (run->verify)
        full_verify(run, &s);
    app_field(run, "keys=%zu values=%zu", s.count, s.values);
    buckets_free(&b);
    is_sort_free(&s);
}

/*
 * The plain MPI version: what the buckets are for is done by a scan and a sum
 * of the counts over all ranks.
 */
struct counts {
    int32_t *before; /* by value: keys on the ranks before this one */
    int32_t *all;    /* keys on all of them; then, the keys that are less */
};

static void
mpi_rank(struct counts *c, struct sort *s, int rank)
{
    const int n = (int)s->values;
    int32_t   less = 0;

    MPI_Exscan(s->next, c->before, n, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(s->next, c->all, n, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    for (size_t v = 0; v < s->values; v++) {
        int32_t count = c->all[v];

        c->all[v] = less;
        s->next[v] = less + (rank > 0 ? c->before[v] : 0);
        less += count;
    }
    is_keys_rank(s);
}

static void
mpi_partial_verify(struct app_run *run, const struct counts *c,
                   const struct sort *s, int iteration)
{
    for (int t = 0; t < IS_TESTS; t++) {
        const int32_t *key = is_key_find(s, (size_t)s->problem->at[t]);

        if (key != NULL)
            is_rank_verify(run, s->problem, t, iteration, c->all[*key]);
    }
}

/* Bring one number of each key to rank 0. */
static int32_t *
mpi_gather(const struct app_run *run, const struct sort *s,
           const int32_t *mine)
{
    const size_t ranks = (size_t)run->ranks;
    int         *count = app_private(run, ranks, sizeof *count);
    int         *place = app_private(run, ranks, sizeof *place);
    int32_t     *all =
        app_private(run, run->rank == 0 ? s->count : 0, sizeof *all);

    for (int r = 0; r < run->ranks; r++) {
        place[r] = (int)app_part(s->count, r, run->ranks);
        count[r] = (int)app_part(s->count, r + 1, run->ranks) - place[r];
    }
    MPI_Gatherv(mine, (int)(s->to - s->from), MPI_INT32_T, all, count, place,
                MPI_INT32_T, 0, MPI_COMM_WORLD);
    free(place);
    free(count);
    return all;
}

static void
mpi_full_verify(struct app_run *run, const struct sort *s)
{
    int32_t *key = mpi_gather(run, s, s->key);
    int32_t *rank = mpi_gather(run, s, s->rank);

    if (run->rank == 0) {
        int32_t *sorted = app_private(run, s->count, sizeof *sorted);

        for (size_t i = 0; i < s->count; i++)
            sorted[i] = -1;
        is_keys_place(run, sorted, s, key, rank, s->count);
        for (size_t i = 0; i < s->count; i++)
            if (!is_pair_verify(run, i, i > 0 ? sorted[i - 1] : 0, sorted[i]))
                break;
        free(sorted);
    }
    free(rank);
    free(key);
}

static void
is_run_mpi(struct app_run *run)
{
    struct sort   s;
    struct counts c;

    is_sort_init(&s, run, class[0]);
    c.before = app_private(run, s.values, sizeof *c.before);
    c.all = app_private(run, s.values, sizeof *c.all);
    app_start(run);
    for (int n = 1; n <= IS_ITERATIONS; n++) {
        is_keys_count(&s, n);
        mpi_rank(&c, &s, run->rank);
        if (run->verify)
            mpi_partial_verify(run, &c, &s, n);
        app_progress(run, "iteration", n, IS_ITERATIONS);
    }
    app_stop(run);
    if (run->verify)
        mpi_full_verify(run, &s);
    app_field(run, "keys=%zu values=%zu", s.count, s.values);
    free(c.all);
    free(c.before);
    is_sort_free(&s);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "is",
        .about = "NAS IS: the ranks of integer keys, by buckets.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .run = is_run,
        .run_mpi = is_run_mpi,
    };

    return app_main(&app, argc, argv);
}
