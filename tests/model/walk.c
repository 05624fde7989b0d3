/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Walks every state of the model, breadth first, so that what fails is shown
 * in as few steps as there are.
 *
 *   model [--homes=N] [--guests=N] [--bytes=N] [--locks=N] [--barrier]
 *         [--stay] [--alloc] [--overwrite] [--predict] [--mates] [--steady]
 *         [--arm] [--writes=N] [--trace] [rule to break]...
 *
 * Exit status: 0 if it holds, 1 if it fails, 2 if it could not be walked.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model model = {
    .homes = 1, .guests = 1, .bytes = 2, .locks = 1, .writes = 2
};

/* Another page of the same 64 is fetched by somebody. */
static bool
other_flag(struct state *s, int r, int arg)
{
    (void)arg;
    if (r != 0 || s->summary)
        return false;
    s->summary = 1;
    return true;
}

static bool
other_tell(struct state *s, int r, int arg)
{
    struct state before = *s;

    (void)arg;
    if (r != 0)
        return false;
    home_tell(s);
    return memcmp(s, &before, sizeof *s) != 0;
}

enum { PARTS = 4 };
static const char *const parts[PARTS] = { "the page", "the flag is set",
                                          "the summary is set",
                                          "the home was told" };

const struct step steps[] = {
    { "stores to byte", home_store, BYTES },
    { "drains its store to byte", home_drain, BYTES },
    { "reads the flags too early", home_sample, 1 },
    { "looks whether it was told", home_look, 1 },
    { "scans the flags", home_scan, 1 },
    { "publishes (1: and leaves the page open)", step_publish, 2 },
    { "writes its copy, byte", guest_store, BYTES },
    { "will overwrite the page", guest_overwrite, 1 },
    { "begins a fetch (1: in advance)", guest_fetch, 2 },
    { "touches what was brought in advance", guest_show, 1 },
    { "has an answer:", guest_land, PARTS },
    { "has its copy", guest_arrive, 1 },
    { "evicts its copy", guest_evict, 1 },
    { "takes the copy of guest", mate_take, RANKS },
    { "takes, in advance, the copy of guest", mate_take_ahead, RANKS },
    { "tells the home", guest_tell, 1 },
    { "has told the home", guest_told, 1 },
    { "has its diff at home", guest_put, 1 },
    { "acquires lock", step_acquire, LOCKS },
    { "leaves the barrier (1: and arms what is flagged)", step_news, 2 },
    { "arms what is flagged", home_arm, 1 },
    { "looks again whether it was told", home_look_again, 1 },
    { "begins to release (2 is the barrier)", step_release, LOCKS + 1 },
    { "sees the summary set for another page", other_flag, 1 },
    { "is told of another page", other_tell, 1 },
    { "places the page", life_place, 1 },
    { "and all others are behind the barrier of free", life_condemn, 1 },
    { "frees the page", life_free, 1 },
    { "and all others have freed the page", life_end, 1 },
};
const int step_count = sizeof steps / sizeof *steps;

/* ---- what was visited ---- */

/* Of a state only a 64-bit hash is kept: of ten million states two have the
 * same with a probability of 3e-6. */
struct visit {
    uint64_t hash;
    uint32_t parent;
    uint8_t  step, rank, arg;
};

static struct visit *visit;
static uint32_t      visits, visits_room;
static uint32_t     *table;
static uint64_t      table_size;

struct place {
    struct state state;
    uint32_t     visit;
};

struct level {
    struct place *place;
    size_t        n, room;
};

static void *
grow(void *p, size_t bytes)
{
    p = realloc(p, bytes);
    if (p == NULL) {
        fprintf(stderr, "model: no memory\n");
        exit(2);
    }
    return p;
}

static uint64_t
state_hash(const struct state *s)
{
    const unsigned char *p = (const unsigned char *)s;
    uint64_t             h = sizeof *s, w;
    size_t               i = 0;

    for (; i < sizeof *s; i += 8) {
        w = 0;
        memcpy(&w, p + i, sizeof *s - i < 8 ? sizeof *s - i : 8);
        h = (h ^ w) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

/* True if the state is new; then it has number visits - 1. */
static bool
visit_new(const struct visit *v)
{
    uint64_t i;

    if (2 * (uint64_t)visits >= table_size) {
        table_size = table_size > 0 ? 2 * table_size : 1 << 16;
        table = grow(table, table_size * sizeof *table);
        memset(table, 0, table_size * sizeof *table);
        for (uint32_t k = 0; k < visits; k++) {
            for (i = visit[k].hash; table[i & (table_size - 1)] != 0; i++)
                ;
            table[i & (table_size - 1)] = k + 1;
        }
    }
    for (i = v->hash; table[i & (table_size - 1)] != 0; i++)
        if (visit[table[i & (table_size - 1)] - 1].hash == v->hash)
            return false;
    if (visits == visits_room) {
        visits_room = visits_room > 0 ? 2 * visits_room : 1 << 15;
        visit = grow(visit, visits_room * sizeof *visit);
    }
    visit[visits++] = *v;
    table[i & (table_size - 1)] = visits;
    return true;
}

static void
level_add(struct level *l, const struct state *s, uint32_t number)
{
    if (l->n == l->room) {
        l->room = l->room > 0 ? 2 * l->room : 1 << 12;
        l->place = grow(l->place, l->room * sizeof *l->place);
    }
    l->place[l->n].state = *s;
    l->place[l->n++].visit = number;
}

/* ---- the walk ---- */

/* Traced, names are kept, and the way to a fault is printed. */
static bool trace, verbose;

static void
line_print(const struct state *s, const struct visit *v)
{
    printf("  %s %d %s", is_home(v->rank) ? "co-home" : "guest", v->rank,
           steps[v->step].name);
    if (steps[v->step].take == guest_land)
        printf(" %s", parts[v->arg]);
    else if (steps[v->step].args > 1)
        printf(" %d", v->arg);
    printf("  [home %d %d", s->home[0], s->home[1]);
    for (int r = model.homes; r < ranks(); r++)
        if (s->rank[r].copy == CLEAN || s->rank[r].copy == DIRTY)
            printf(", copy of %d: %d %d", r, s->rank[r].content[0],
                   s->rank[r].content[1]);
    printf("]\n");
}

/* Print the way to a state by taking its steps again. */
static void
way_print(struct state *s, uint32_t number)
{
    const struct visit *v = &visit[number];

    if (number == 0) {
        state_start(s);
        return;
    }
    way_print(s, v->parent);
    steps[v->step].take(s, v->rank, v->arg);
    line_print(s, v);
    state_reduce(s, !trace);
}

/* Note the state that a step has led to; its fault, or NULL. */
static const char *
state_note(struct state *s, struct visit *v, struct level *next)
{
    const char *fault = state_fault(s);

    state_reduce(s, !trace);
    v->hash = state_hash(s);
    if (visit_new(v))
        level_add(next, s, visits - 1);
    return fault;
}

/* Try every step.  One that cannot be taken leaves the state as it is. */
static const char *
place_expand(const struct place *from, struct level *next)
{
    struct visit v = { .parent = from->visit };
    struct state s = from->state;
    const char  *fault = NULL;

    for (v.step = 0; v.step < step_count; v.step++)
        for (v.rank = 0; v.rank < ranks(); v.rank++)
            for (v.arg = 0; v.arg < steps[v.step].args; v.arg++) {
                if (!steps[v.step].take(&s, v.rank, v.arg))
                    continue;
                fault = state_note(&s, &v, next);
                if (fault != NULL)
                    return fault;
                s = from->state;
            }
    return NULL;
}

static const char *
walk(uint32_t most)
{
    struct level now = { 0 }, next = { 0 }, t;
    struct visit v = { 0 };
    struct state s;
    const char  *fault = NULL;

    state_start(&s);
    state_reduce(&s, !trace);
    v.hash = state_hash(&s);
    visit_new(&v);
    level_add(&now, &s, 0);
    for (int depth = 1; now.n > 0 && fault == NULL && visits <= most;
         depth++) {
        for (size_t i = 0; i < now.n && fault == NULL; i++)
            fault = place_expand(&now.place[i], &next);
        t = now;
        now = next;
        next = t;
        next.n = 0;
        if (verbose)
            fprintf(stderr, "%d: %zu of %u\n", depth, now.n, visits);
    }
    if (fault != NULL && trace)
        way_print(&s, visits - 1);
    free(now.place);
    free(next.place);
    return fault;
}

/* ---- the command line ---- */

static bool
number_parse(const char *arg, const char *name, int least, int most, int *out)
{
    size_t n = strlen(name);

    if (strncmp(arg, name, n) != 0)
        return false;
    *out = atoi(arg + n);
    if (*out >= least && *out <= most)
        return true;
    fprintf(stderr, "model: %s is not in %d to %d\n", arg, least, most);
    exit(2);
}

static bool
flag_parse(const char *arg)
{
    static const struct {
        const char *name;
        bool       *is;
    } flags[] = {
        { "--stay", &model.stay },       { "--barrier", &model.barrier },
        { "--arm", &model.arm },         { "--overwrite", &model.overwrite },
        { "--predict", &model.predict }, { "--mates", &model.mates },
        { "--alloc", &model.alloc },     { "--trace", &trace },
        { "--verbose", &verbose },       { "--steady", &model.steady },
    };

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(arg, flags[i].name) == 0)
            return *flags[i].is = true;
    return false;
}

static void
usage(FILE *to)
{
    fprintf(
        to,
        "usage: model [--homes=N] [--guests=N] [--bytes=N] [--locks=N]\n"
        "             [--barrier] [--stay] [--alloc] [--overwrite]\n"
        "             [--predict] [--mates] [--steady] [--arm] [--writes=N]\n"
        "             [--most=STATES] [--trace] [--verbose]");
    rules_print(to);
}

static void
args_parse(int argc, char **argv, int *most)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];

        if (number_parse(a, "--homes=", 1, 2, &model.homes) ||
            number_parse(a, "--guests=", 1, 2, &model.guests) ||
            number_parse(a, "--locks=", 0, LOCKS, &model.locks) ||
            number_parse(a, "--bytes=", 1, BYTES, &model.bytes) ||
            number_parse(a, "--writes=", 1, 40, &model.writes) ||
            number_parse(a, "--most=", 1, 1 << 30, most) || rule_parse(a))
            continue;
        if (!flag_parse(a)) {
            usage(strcmp(a, "--help") == 0 ? stdout : stderr);
            exit(strcmp(a, "--help") == 0 ? 0 : 2);
        }
    }
    if (model.mates)
        model.guests = 2;
}

int
main(int argc, char **argv)
{
    const char *fault;
    int         most = 1 << 30;

    args_parse(argc, argv, &most);
    fault = walk((uint32_t)most);
    printf("%d co-home(s), %d guest(s), %d byte(s), %d lock(s), %s, %s"
           "%d write(s): %u states, ",
           model.homes, model.guests, model.bytes, model.locks,
           model.barrier ? "barrier" : "no barrier",
           model.alloc ? "alloc and free, " : "", model.writes, visits);
    if (fault == NULL && visits > (uint32_t)most) {
        printf("not all\n");
        return 2;
    }
    printf(fault != NULL ? "FAILS: %s\n" : "holds\n", fault);
    return fault != NULL;
}
