/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Integer sort: the ranks of keys, by a bucket for each value.
 *
 * Problem: 2^n keys of 2^b values, each the mean of four random numbers; ten
 * times two keys are changed and the rank of every key, its place in the
 * sorted sequence, is found anew.
 *
 * Source: kernel IS of the NAS Parallel Benchmarks (Bailey et al., The NAS
 * Parallel Benchmarks, report RNR-94-007, 1994, and NAS-95-020, 1995), shared
 * as in its version for shared memory (Jin, Frumkin, Yan, The OpenMP
 * Implementation of NAS Parallel Benchmarks, report NAS-99-011, 1999).
 *
 * Sharing: a rank counts its own keys and puts the counts into its row of a
 * shared array.  After a barrier each rank takes a section of the values, with
 * the counts of all ranks for them, and writes at which place each rank's keys
 * of each value begin; after another one all ranks read the places that are
 * theirs.  Everybody writes to what is at home on it alone.  (TreadMarks' IS
 * adds to shared buckets under locks.  Their diffs are many short runs, since
 * not every count changes: on two nodes the whole took twice as long.)
 *
 * Limit: the traffic.  In class A a rank fetches nearly 2 MiB of counts and
 * 2 MiB of places in each iteration, however many ranks there are, while the
 * counting, half a pass over the keys on two of them, shrinks.  On one node,
 * the cache misses of two random accesses a key.
 */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "common.h"
#include "sort.h"

static const char *class = "A";

static const struct app_option options[] = {
    NPB_OPTION(&class),
};

/*
 * The buckets.  A row of either array is at home on one rank, and whole pages.
 * Section r of the values is [r, r + 1) * section, which ends with the last.
 */
struct buckets {
    int32_t *count; /* shared, a row of each rank: its keys of each value */
    int32_t *place; /* shared, a row of each section: where those of the first
                       rank begin, of each value, and so on */
    int32_t *total; /* shared: keys of each section */
    size_t   section, count_row, place_row; /* in elements */
};

/* So many elements, rounded up to pages. */
static size_t
row_length(const struct app_run *run, size_t elements)
{
    const size_t page = app_page_size(run) / sizeof(int32_t);

    return (elements + page - 1) / page * page;
}

static int32_t *
rows_alloc(const struct app_run *run, size_t row)
{
    return app_alloc(run, (size_t)run->ranks * row, sizeof(int32_t),
                     hearth_block());
}

static void
buckets_init(struct buckets *b, const struct app_run *run, size_t values)
{
    const size_t ranks = (size_t)run->ranks;

    b->section = (values + ranks - 1) / ranks;
    b->count_row = row_length(run, values);
    b->place_row = row_length(run, ranks * b->section);
    b->count = rows_alloc(run, b->count_row);
    b->place = rows_alloc(run, b->place_row);
    b->total = app_alloc(run, ranks, sizeof *b->total, hearth_on(0));
}

static void
buckets_free(struct buckets *b)
{
    hearth_free(b->total);
    hearth_free(b->place);
    hearth_free(b->count);
}

/* The values of a section: how many; none at the end if there are few. */
static size_t
section_length(const struct buckets *b, size_t values, size_t section)
{
    const size_t from = section * b->section;

    if (from >= values)
        return 0;
    return values - from < b->section ? values - from : b->section;
}

/* The places of a rank's keys in a section. */
static int32_t *
section_place(const struct buckets *b, size_t section, size_t rank)
{
    return b->place + section * b->place_row + rank * b->section;
}

/* My section: places of all ranks' counts. */
static void
section_scan(const struct app_run *run, const struct buckets *b, size_t values)
{
    const size_t   mine = (size_t)run->rank, ranks = (size_t)run->ranks;
    const size_t   length = section_length(b, values, mine);
    const int32_t *count = b->count + mine * b->section;
    int32_t        less = 0;

    for (size_t r = 1; r < ranks; r++)
        hearth_prefetch(count + (mine + r) % ranks * b->count_row,
                        length * sizeof *count);
    for (size_t v = 0; v < length; v++)
        for (size_t r = 0; r < ranks; r++) {
            section_place(b, mine, r)[v] = less;
            less += count[r * b->count_row + v];
        }
    b->total[mine] = less;
}

/* Where my keys of each value begin. */
static void
buckets_read(const struct app_run *run, const struct buckets *b,
             struct sort *s)
{
    const size_t mine = (size_t)run->rank, ranks = (size_t)run->ranks;
    int32_t      less = 0;

    for (size_t r = 1; r < ranks; r++)
        hearth_prefetch(section_place(b, (mine + r) % ranks, mine),
                        b->section * sizeof *b->place);
    for (size_t r = 0; r < ranks; r++) {
        const int32_t *place = section_place(b, r, mine);
        const size_t   length = section_length(b, s->values, r);

        for (size_t v = 0; v < length; v++)
            s->next[r * b->section + v] = less + place[v];
        less += b->total[r];
    }
}

/* How many keys are less than `value`. */
static int32_t
buckets_less(const struct buckets *b, int32_t value)
{
    const size_t section = (size_t)value / b->section;
    int32_t less = section_place(b, section, 0)[(size_t)value % b->section];

    for (size_t r = 0; r < section; r++)
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
    int32_t *sorted = app_alloc(run, s->count, sizeof *sorted, hearth_block());
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

    is_sort_init(&s, run, npb_class(class));
    buckets_init(&b, run, s.values);
    app_start(run);
    for (int n = 1; n <= IS_ITERATIONS; n++) {
        is_keys_count(&s, n);
        memcpy(b.count + (size_t)run->rank * b.count_row, s.next,
               s.values * sizeof *s.next);
        hearth_barrier(); /* everybody's keys are counted */
        section_scan(run, &b, s.values);
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

    is_sort_init(&s, run, npb_class(class));
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
