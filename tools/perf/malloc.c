/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory without collectives: what taking and giving back an object costs, how
 * much memory objects take, and a tree that two ranks build under locks.
 */
#include "perf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- taking and giving back ---- */

enum { BYTES = 64, LIVE = 1000 };

struct allocator {
    void *(*take)(size_t bytes);
    void (*give)(void *p);
};

static const struct allocator ours = { hearth_malloc, hearth_free };
static const struct allocator libc = { malloc, free };

/* One at a time; and LIVE of them, all of which are there before the first is
 * given back. */
static double
pairs_time(const struct allocator *a, size_t count)
{
    double start = perf_now();

    for (size_t i = 0; i < count; i++) {
        void *volatile p = a->take(BYTES);

        a->give(p);
    }
    return (perf_now() - start) * 1e3 / (double)count;
}

static double
crowd_time(const struct allocator *a, size_t count)
{
    void  *p[LIVE];
    double start = perf_now();

    for (size_t i = 0; i < count; i += LIVE) {
        for (int k = 0; k < LIVE; k++)
            p[k] = a->take(BYTES);
        for (int k = 0; k < LIVE; k++)
            a->give(p[k]);
    }
    return (perf_now() - start) * 1e3 / (double)count;
}

/* All ranks at once. */
static void
malloc_round(struct perf *p, double *sample)
{
    size_t count = p->turns * 500;

    perf_meet(p);
    sample[0] = pairs_time(&ours, count);
    sample[1] = pairs_time(&libc, count);
    sample[2] = crowd_time(&ours, count);
    sample[3] = crowd_time(&libc, count);
    perf_meet(p);
}

/* ---- memory ---- */

enum { OBJECT = 48 };

static size_t
resident(const struct perf *p)
{
    FILE  *f = fopen("/proc/self/statm", "r");
    size_t all = 0, here = 0;

    if (f == NULL || fscanf(f, "%zu %zu", &all, &here) != 2)
        here = 0;
    if (f != NULL)
        fclose(f);
    return here * p->page;
}

/* What this process has more of when they are there, all written, with what
 * is known of them.  Nothing is given back, as a later round would find it
 * there: so a round takes a tenth of the million objects that all are. */
static void
bytes_round(struct perf *p, double *sample)
{
    size_t count = p->turns * 50, before = resident(p);

    perf_meet(p);
    for (size_t i = 0; i < count && perf_acting(p); i++)
        memset(hearth_malloc(OBJECT), 1, OBJECT);
    sample[0] = (double)(resident(p) - before) / 1e6;
    sample[1] = (double)(count * OBJECT) / 1e6;
    perf_meet(p);
}

/* ---- a tree ---- */

/* Search trees by the upper bits of a key, each with a lock.  A rank adds its
 * keys tree by tree, so that each tree is built by one rank after the other;
 * then both read all of them. */
enum { TREES = 256 };

struct node {
    struct node *side[2];
    uint64_t     key;
};

struct forest {
    struct node **root;
    uint64_t     *key; /* mine, sorted by tree */
    struct node **node;
    size_t        count;
};

static unsigned
tree_of(uint64_t key)
{
    return (unsigned)(key >> 56);
}

static uint64_t
key_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state ^ *state >> 33;
}

static int
tree_compare(const void *a, const void *b)
{
    unsigned x = tree_of(*(const uint64_t *)a);
    unsigned y = tree_of(*(const uint64_t *)b);

    return x < y ? -1 : x > y;
}

static void
forest_make(const struct perf *p, struct forest *f)
{
    uint64_t state = p->salt * 64 + (uint64_t)p->rank;

    f->count = p->turns * 250;
    f->root = hearth_alloc(TREES, p->page, hearth_on(PERF_ACTOR));
    f->key = malloc(f->count * sizeof *f->key);
    f->node = malloc(f->count * sizeof(struct node *));
    if (!f->key || !f->node)
        abort();
    for (size_t i = 0; i < f->count; i++)
        f->key[i] = key_next(&state);
    qsort(f->key, f->count, sizeof *f->key, tree_compare);
}

static struct node **
root_of(const struct perf *p, const struct forest *f, unsigned tree)
{
    return f->root + tree * (p->page / sizeof(struct node *));
}

static void
tree_add(struct node **at, struct node *n)
{
    while (*at != NULL)
        at = &(*at)->side[n->key > (*at)->key];
    *at = n;
}

/* From `first` on, round. */
static void
forest_build(const struct perf *p, struct forest *f, size_t first)
{
    for (size_t k = 0; k < f->count;) {
        unsigned tree = tree_of(f->key[(first + k) % f->count]);

        hearth_lock(TREES + (int)tree);
        for (; k < f->count; k++) {
            size_t       i = (first + k) % f->count;
            struct node *n;

            if (tree_of(f->key[i]) != tree)
                break;
            n = f->node[i] = hearth_malloc(sizeof *n);
            *n = (struct node){ { NULL, NULL }, f->key[i] };
            tree_add(root_of(p, f, tree), n);
        }
        hearth_unlock(TREES + (int)tree);
    }
}

static size_t
tree_count(const struct node *n)
{
    return n == NULL ? 0 : 1 + tree_count(n->side[0]) + tree_count(n->side[1]);
}

static size_t
forest_count(const struct perf *p, const struct forest *f)
{
    size_t n = 0;

    for (unsigned t = 0; t < TREES; t++)
        n += tree_count(*root_of(p, f, t));
    return n;
}

/* By the actor and another rank; all ranks call. */
static double
forest_time(const struct perf *p, int other)
{
    bool          takes_part = perf_acting(p) || p->rank == other;
    struct forest f;
    double        start;

    forest_make(p, &f);
    hearth_barrier();
    perf_meet(p);
    start = perf_now();
    if (takes_part)
        forest_build(p, &f, perf_acting(p) ? 0 : f.count / 2);
    perf_rest(p);
    hearth_barrier();
    if (takes_part && forest_count(p, &f) != 2 * f.count)
        perf_wrong("malloc_tree", 0);
    perf_rest(p);
    start = perf_now() - start;
    hearth_barrier();
    for (size_t i = 0; takes_part && i < f.count; i++)
        hearth_free(f.node[i]);
    free(f.key);
    free(f.node);
    hearth_free(f.root);
    return start / 1e3;
}

static void
tree_round(struct perf *p, double *sample)
{
    sample[0] = p->peer < 0 ? 0 : forest_time(p, p->peer);
    sample[1] = forest_time(p, p->mate);
}

const struct perf_figure perf_malloc_figures[] = {
    { .name = "malloc_64",
      .unit = "ns",
      .what = "hearth_malloc and hearth_free of 64 bytes, all ranks at once",
      .against = "malloc and free",
      .bound = 3,
      .round = malloc_round,
      .extra = { "crowd", "crowd_libc" },
      .words = { "1000 at a time", "1000 at a time by malloc" } },
    { .name = "malloc_bytes",
      .unit = "MB",
      .what = "memory that objects of 48 bytes take",
      .against = "their bytes",
      .bound = 1.3,
      .round = bytes_round },
    { .name = "malloc_tree",
      .unit = "ms",
      .what = "trees built under locks by ranks of two nodes, read by both",
      .against = "by two ranks of one node",
      .bound = 3,
      .need = PERF_MATE,
      .round = tree_round },
    { .name = NULL }
};
