/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The travelling salesman: the shortest tour through all cities.
 *
 * Problem: 20 cities at random on a square, or those of a TSPLIB file, by
 * branch and bound.  A tour begins in city 0; what remains of it is at least
 * as long as the shortest roads out of all cities that it has yet to leave,
 * and as the shortest tree between these and city 0, which takes longer to
 * find.  A tour and its reverse are one: city 1 comes before city 2.
 *
 * Source: TSP of TreadMarks, as in the paper on JIAJIA's SMP protocol.  Its
 * size is given there as "-f20 -r15", which is taken for 20 cities, and tours
 * that one processor searches when 15 of them remain: --split 5.
 *
 * Sharing: a pool of partial tours, a heap by their trees, under lock 0:
 * who needs work takes the best one, and first extends it by another city as
 * long as it has less than --split, putting the others back.  The rest of a
 * tour is searched alone.  The shortest tour so far is under lock 1; a rank
 * learns of it when it takes work or has found a shorter one.  (TreadMarks
 * reads it without the lock, at any time: a race that harms nobody there.)
 * All of this are a few pages that follow the locks.
 *
 * Limit: lock 0, with which the pool moves from node to node; and in the end
 * the last tours, that some wait for.  The order of the search, and with it
 * the work, is another one in each run.
 */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "common.h"
#include "pool.h"
#include "tsplib.h"
#include "verify.h"

static long        cities, split;
static const char *input;

static const struct app_option options[] = {
    APP_NUMBER('n', "cities", &cities, 20, 13, 3, TSP_CITIES,
               "cities, if there is no file"),
    APP_NUMBER('s', "split", &split, 5, 4, 1, TSP_CITIES,
               "cities of a tour that one rank searches"),
    APP_TEXT('f', "input", &input, NULL, NULL, "a file of TSPLIB"),
};

enum { POOL_LOCK, BEST_LOCK };

/* What a rank searches with. */
struct search {
    struct tsp   tsp;                  /* its own copy */
    int32_t      shortest[TSP_CITIES]; /* road out of each city */
    struct pool *pool;                 /* shared */
    struct tour *best;                 /* shared: a whole tour */
    int32_t      known;                /* its length when last seen */
};

/* Cities on a square of side 1000. */
static void
random_cities(struct tsp *t)
{
    double at[TSP_CITIES][2];

    memset(t, 0, sizeof *t);
    strcpy(t->name, "random");
    t->cities = (int32_t)cities;
    for (int i = 0; i < t->cities; i++)
        for (int k = 0; k < 2; k++)
            at[i][k] = 1000 * app_random((uint64_t)(2 * i + k));
    for (int i = 0; i < t->cities; i++)
        for (int j = 0; j < t->cities; j++)
            t->distance[i][j] = tsp_euclid(at[i], at[j]);
}

static uint32_t
tour_cities(const struct tour *t)
{
    uint32_t set = 0;

    for (int i = 0; i < t->count; i++)
        set |= (uint32_t)1 << t->city[i];
    return set;
}

static uint32_t
city_set(const struct tsp *t)
{
    return (uint32_t)(((uint64_t)1 << t->cities) - 1);
}

/* Cities that may be next, if those of `set` are there. */
static uint32_t
cities_open(const struct tsp *t, uint32_t set)
{
    uint32_t open = city_set(t) & ~set;

    return (set & 2) != 0 ? open : open & ~(uint32_t)4;
}

/*
 * The length of the shortest tree that spans a set of cities, by Prim's
 * algorithm.  (The rest of a tour, from its last city to city 0, is a tree.)
 */
static int32_t
tree_length(const struct tsp *t, uint32_t set)
{
    int32_t near[TSP_CITIES], length = 0;
    int     at = __builtin_ctz(set);

    for (int c = 0; c < t->cities; c++)
        near[c] = INT32_MAX;
    while ((set &= ~((uint32_t)1 << at)) != 0) {
        int next = __builtin_ctz(set);

        for (uint32_t left = set; left != 0; left &= left - 1) {
            const int c = __builtin_ctz(left);

            if (t->distance[at][c] < near[c])
                near[c] = t->distance[at][c];
            if (near[c] < near[next])
                next = c;
        }
        length += near[next];
        at = next;
    }
    return length;
}

static struct tour
tour_extend(const struct search *s, const struct tour *t, int city)
{
    const int   last = t->city[t->count - 1];
    struct tour next = *t;
    int32_t     road = s->tsp.distance[last][city];

    next.city[next.count++] = (uint8_t)city;
    next.length += road;
    next.bound += road - s->shortest[last];
    return next;
}

/* The tour of nothing but city 0. */
static struct tour
tour_begin(const struct search *s)
{
    struct tour t = { .count = 1 };

    for (int c = 0; c < s->tsp.cities; c++)
        t.bound += s->shortest[c];
    return t;
}

/* A tour that always goes to the nearest city. */
static struct tour
tour_greedy(const struct search *s)
{
    struct tour t = tour_begin(s);

    while (t.count < s->tsp.cities) {
        const int32_t *road = s->tsp.distance[t.city[t.count - 1]];
        uint32_t       open = cities_open(&s->tsp, tour_cities(&t));
        int            nearest = -1;

        for (int c = 0; c < s->tsp.cities; c++)
            if ((open >> c & 1) != 0 &&
                (nearest < 0 || road[c] < road[nearest]))
                nearest = c;
        t = tour_extend(s, &t, nearest);
    }
    t.length += s->tsp.distance[t.city[t.count - 1]][0];
    return t;
}

/* Learn of the shortest tour, or make this one it. */
static void
best_meet(struct search *s, const struct tour *t)
{
    hearth_lock(BEST_LOCK);
    if (t != NULL && t->length < s->best->length)
        *s->best = *t;
    s->known = s->best->length;
    hearth_unlock(BEST_LOCK);
}

/* Put all ways to go on into the pool. */
static void
pool_extend(struct search *s, const struct tour *t)
{
    const uint32_t set = tour_cities(t), rest = city_set(&s->tsp) & ~set;

    for (uint32_t open = cities_open(&s->tsp, set); open != 0;
         open &= open - 1) {
        struct tour next = tour_extend(s, t, __builtin_ctz(open));

        next.order = next.length + tree_length(&s->tsp, rest | 1);
        if (next.order < s->known)
            pool_push(s->pool, &next);
    }
}

/* Take a tour to search; false: there is none, and will be none. */
static bool
pool_take(struct search *s, struct tour *t, int32_t *left)
{
    struct pool *p = s->pool;
    bool         found = false;

    best_meet(s, NULL);
    hearth_lock(POOL_LOCK);
    while (p->count > 0 && !found) {
        *t = pool_pop(p);
        if (t->order >= s->known)
            p->count = 0; /* as are all others */
        else if (t->count < split && t->count < s->tsp.cities &&
                 p->count + TSP_CITIES <= POOL_SIZE)
            pool_extend(s, t);
        else
            found = true;
    }
    *left = p->count;
    hearth_unlock(POOL_LOCK);
    return found;
}

/*
 * The kernel: search all tours that begin with t, whose cities are `set`.  t
 * is as before in the end, but for city[] beyond its count.
 */
static void
tour_search(struct search *s, struct tour *t, uint32_t set)
{
    const int      last = t->city[t->count - 1];
    const int32_t *road = s->tsp.distance[last];
    const int32_t  length = t->length, rest = t->bound - s->shortest[last];

    if (t->count == s->tsp.cities) {
        t->length += road[0];
        if (t->length < s->known)
            best_meet(s, t);
        t->length = length;
        return;
    }
    t->count++;
    for (uint32_t open = cities_open(&s->tsp, set); open != 0;
         open &= open - 1) {
        const int c = __builtin_ctz(open);

        if (rest + road[c] >= s->known)
            continue;
        t->city[t->count - 1] = (uint8_t)c;
        t->length = length + road[c];
        t->bound = rest + road[c];
        tour_search(s, t, set | (uint32_t)1 << c);
    }
    t->count--;
    t->length = length;
    t->bound = rest + s->shortest[last];
}

static void
search_init(struct search *s)
{
    const struct tsp *t = &s->tsp;

    for (int i = 0; i < t->cities; i++) {
        s->shortest[i] = TSP_LONGEST;
        for (int j = 0; j < t->cities; j++)
            if (i != j && t->distance[i][j] < s->shortest[i])
                s->shortest[i] = t->distance[i][j];
    }
}

/* Rank 0 has read the cities; it fills the shared arrays for all. */
static struct tsp instance;

static void
search_share(const struct app_run *run, struct search *s)
{
    struct tsp *shared = app_alloc(run, 1, sizeof *shared, hearth_on(0));

    s->pool = app_alloc(run, 1, sizeof *s->pool, hearth_on(0));
    s->best = app_alloc(run, 1, sizeof *s->best, hearth_on(0));
    if (run->rank == 0)
        *shared = instance;
    hearth_barrier();
    s->tsp = *shared;
    search_init(s);
    if (run->rank == 0) {
        struct tour begin = tour_begin(s);

        *s->best = tour_greedy(s);
        pool_push(s->pool, &begin);
    }
    hearth_barrier();
    hearth_free(shared);
}

static void
tsp_run(struct app_run *run)
{
    struct search s;
    struct tour   t;
    int32_t       left;
    long          done = 0;

    search_share(run, &s);
    app_start(run);
    while (pool_take(&s, &t, &left)) {
        tour_search(&s, &t, tour_cities(&t));
        done++;
        app_progress(run, "tour", done, done + left);
    }
    app_stop(run);

    cities = s.tsp.cities; /* of a file, for the result line */
    if (run->verify && run->rank == 0)
        tsp_verify(run, &s.tsp, s.best->city, s.best->length);
    app_field(run, "name=%s length=%" PRId32, s.tsp.name, s.best->length);
    app_barrier(run);
    hearth_free(s.best);
    hearth_free(s.pool);
}

static const char *
tsp_check(const struct app_run *run)
{
    const char *why;

    if (input == NULL) {
        random_cities(&instance);
    } else {
        why = tsplib_read(&instance, input);
        if (why != NULL)
            return why;
    }
    if (run->verify && !tsp_verifiable(&instance))
        return "--verify needs a file of TSPLIB, or at most 20 cities";
    return NULL;
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "tsp",
        .about = "The shortest tour through all cities, by branch and bound.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = tsp_check,
        .run = tsp_run,
    };

    return app_main(&app, argc, argv);
}
