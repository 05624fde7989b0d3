/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Worlds: one start of Hearth each, with options drawn from the seed.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "delay.h"
#include "late.h"
#include "random.h"
#include "split.h"
#include "watch.h"

/* In one world of four, one atomic step by MPI in so many is late, by up to so
 * many milliseconds. */
enum { LATE_ONE_IN = 40, LATE_MS = 2 };
/* In some runs, one call of any kind. */
enum { CALLS_ONE_IN = 100, CALLS_MS = 2 };

static const struct world *current;

void
world_place(char *text, size_t room)
{
    if (current == NULL)
        snprintf(text, room, "between worlds");
    else
        snprintf(text, room, "rank %d, seed %llu, world %llu, epoch %d of %d",
                 current->me, (unsigned long long)current->seed,
                 (unsigned long long)current->number, current->epoch,
                 current->epochs);
}

static const char *
option(const char *name)
{
    static char variable[64];
    const char *value;

    snprintf(variable, sizeof variable, "HEARTH_%s", name);
    value = getenv(variable);
    return value == NULL ? "default" : value;
}

_Noreturn void
world_fail(const struct actor *a, const char *fmt, ...)
{
    const char *late = getenv("MPI_TEST_LATE_BARRIERS");
    char        text[1500];
    int         n;
    va_list     ap;

    n = snprintf(text, sizeof text, "random: ");
    watch_place(text + n, sizeof text - (size_t)n);
    n += (int)strlen(text + n);
    n += snprintf(text + n, sizeof text - (size_t)n,
                  ", thread %d, step %d: ", a->thread, a->step);
    va_start(ap, fmt);
    vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s\n", text);
    fprintf(stderr,
            "random: repeat with HEARTH_NODE_SIZE=%s HEARTH_CONSISTENCY=%s "
            "MPI_TEST_LATE_BARRIERS=%s %sand %d ranks: random --seed %llu "
            "--world %llu --seconds 60\n",
            option("NODE_SIZE"), option("CONSISTENCY"),
            late == NULL ? "0" : late,
            getenv("MPI_TEST_LATE_CALLS") ? "MPI_TEST_LATE_CALLS=1 " : "",
            a->w->ranks, (unsigned long long)a->w->seed,
            (unsigned long long)a->w->number);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

/* NULL leaves the default. */
static void
option_set(const char *name, const char *value)
{
    char variable[64];

    snprintf(variable, sizeof variable, "HEARTH_%s", name);
    if (value == NULL)
        unsetenv(variable);
    else
        setenv(variable, value, 1);
}

static void
option_draw(const char *name, const char *const *values, size_t count,
            uint64_t *random)
{
    option_set(name, values[draw(random, count)]);
}

/* KiB for pages of 4 KiB, and more where the system's are longer; 0 leaves the
 * default. */
static void
size_draw(const char *name, const long *sizes, size_t count, uint64_t *random)
{
    long kib = sizes[draw(random, count)] * (sysconf(_SC_PAGESIZE) / 4096);
    char text[32];

    snprintf(text, sizeof text, "%ldk", kib);
    option_set(name, kib == 0 ? NULL : text);
}

/* Trouble for one world in three. */
static void
datagrams_draw(uint64_t *random)
{
    static const char *const sizes[] = { NULL, "1472", "1472", "9000" };
    static const char *const acks[] = { NULL, NULL, "all", "page" };
    static const char *const local[] = { NULL, NULL, "udp" };
    static const char *const none[] = { NULL };
    static const char *const percents[] = { NULL, "1", "4", "10" };
    const bool               trouble = draw(random, 3) == 0;
    const char *const *const of = trouble ? percents : none;

    option_draw("UDP_DATAGRAM", sizes, 4, random);
    option_draw("UDP_ACK", acks, 4, random);
    option_draw("UDP_LOCAL", local, 3, random);
    option_draw("UDP_DROP", of, trouble ? 4 : 1, random);
    option_draw("UDP_DUP", of, trouble ? 4 : 1, random);
    option_draw("UDP_REORDER", of, trouble ? 4 : 1, random);
}

/* Memory that all ranks map is for those of one machine, and whoever starts
 * the program may want one fabric in all worlds (HEARTH_FABRIC). */
static bool
fabric_is_drawn(void)
{
    static int here;
    int        all;
    MPI_Comm   machine;

    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (here == 0 && getenv("HEARTH_FABRIC") != NULL) {
        here = -1;
    } else if (here == 0) {
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                            MPI_INFO_NULL, &machine);
        MPI_Comm_size(machine, &here);
        MPI_Comm_free(&machine);
    }
    return here == all;
}

static void
options_draw(uint64_t *random)
{
    /* Little more than all live objects, and what caches keep. */
    static const char *const arenas[] = { NULL, "48m" };
    static const long        caches[] = { 0, 0, 64, 64, 96, 512, 2048 };
    static const long        large[] = { 0, 256, 1024 };
    static const char *const ahead[] = { NULL, NULL, "0", "2", "8" };
    static const char *const predicts[] = { NULL, "off", "on", "on" };
    static const char *const progress[] = { NULL, NULL, "none" };
    static const char *const puts[] = { NULL, "0", "3" };
    static const char *const packs[] = { NULL, NULL, "1k", "4k", "16k" };
    static const char *const depths[] = { NULL, NULL, "1", "1", "3" };
    static const long        pages[] = { 8, 16 };
    static const char *const stays[] = { NULL, NULL, NULL, "no" };
    static const char *const moves[] = { NULL, "on", "on", "off" };
    static const char *const protects[] = { NULL, "mprotect", "auto" };
    static const char *const mates[] = { NULL, NULL, NULL, "off" };
    static const char *const locks[] = { NULL, NULL, NULL, NULL,
                                         NULL, NULL, NULL, "70000" };
    static const char *const watches[] = { NULL, NULL, "1ms", "1.5ms" };
    static const char *const fabrics[] = { NULL, NULL, NULL, "shm" };

    if (draw(random, 6) == 0) {
        size_draw("PAGE_SIZE", pages, 2, random);
        size_draw("CACHE", large, 3, random);
    } else {
        unsetenv("HEARTH_PAGE_SIZE");
        size_draw("CACHE", caches, 7, random);
    }
    option_draw("FETCH_AHEAD", ahead, 5, random);
    /* What fetches nothing ahead predicts nothing. */
    option_draw("PREDICT", predicts, getenv("HEARTH_FETCH_AHEAD") ? 2 : 4,
                random);
    option_draw("DIFF_PACK", packs, 5, random);
    if (strcmp(option("TRANSPORT"), "udp") == 0)
        datagrams_draw(random);
    /* What is acknowledged one by one is not several deep. */
    option_draw("DIFF_DEPTH", depths, getenv("HEARTH_UDP_ACK") == NULL ? 5 : 4,
                random);
    option_draw("PROGRESS", progress, 3, random);
    option_draw("PUT_RUNS", puts, 3, random);
    option_draw("LOCK_STAY", stays, 4, random);
    option_draw("HOME_STAY", stays, 4, random);
    option_draw("PROTECT", protects, 3, random);
    option_draw("MIGRATE", moves, 4, random);
    option_draw("MALLOC", arenas, 2, random);
    option_draw("NODE_CACHE", mates, 4, random);
    option_draw("LOCKS", locks, 8, random);
    option_draw("WATCH", watches, 4, random);
    if (fabric_is_drawn())
        option_draw("FABRIC", fabrics, 4, random);
    else
        draw(random, 1);
}

/* Places of the words: each its own, in no order. */
static void
table_make(struct world *w, uint64_t *random)
{
    size_t pages = 1 + draw(random, 3), room = pages * 512;

    w->table = hearth_alloc(room, sizeof *w->table, hearth_cyclic(1));
    for (int i = 0; i < WORDS; i++) {
        bool taken;

        do {
            taken = false;
            w->word[i] = (uint32_t)draw(random, room);
            for (int k = 0; k < i; k++)
                taken = taken || w->word[k] == w->word[i];
        } while (taken);
    }
}

int
lock_named(uint64_t *random, int lock)
{
    switch (draw(random, 4)) {
    case 0: return 3 * HEARTH_LOCKS + lock;
    case 1: return hearth_lock_of((const void *)(uintptr_t)(1 + lock));
    default: return lock;
    }
}

static void
locks_draw(struct world *w, uint64_t *random)
{
    w->locks = 1 + (int)draw(random, LOCKS);
    for (int i = 0; i < w->locks; i++) /* distinct, managers all over */
        w->lock[i] = lock_named(
            random, (int)draw(random, HEARTH_LOCKS / LOCKS) * LOCKS + i);
}

static void
arenas_change(struct world *w, uint64_t random, bool first)
{
    for (int i = 0; i < ARENAS; i++) {
        uint64_t what = draw(&random, first ? 2 : 10);

        if (!first && what == 0 && w->arena[i].base != NULL)
            arena_drop(w, &w->arena[i]);
        if (w->arena[i].base == NULL && (what < 2 || (first && i == 0)) &&
            (!first || i == 0 || what == 0))
            arena_make(w, i, mix(random, (uint64_t)i));
    }
}

/* Sums over ranks must be what the words say: nothing was lost or doubled. */
static void
census(struct actor *a)
{
    struct world *w = a->w;
    uint64_t      made[SLOTS] = { 0 };
    int64_t       added[ATOMICS];

    for (int s = 0; s < SLOTS; s++)
        made[s] = w->arena[s / OBJECTS].base == NULL
                      ? 0
                      : w->arena[s / OBJECTS].object[s % OBJECTS].made;
    MPI_Allreduce(MPI_IN_PLACE, made, SLOTS, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(w->added, added, ATOMICS, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int s = 0; s < SLOTS; s++) {
        struct object *o = &w->arena[s / OBJECTS].object[s % OBJECTS];

        if (w->arena[s / OBJECTS].base == NULL)
            continue;
        if (o->version != o->settled + made[s])
            world_fail(a, "object %d has version %llu after %llu + %llu", s,
                       (unsigned long long)o->version,
                       (unsigned long long)o->settled,
                       (unsigned long long)made[s]);
        o->settled = o->version;
        o->made = 0;
    }
    for (int i = 0; i < ATOMICS; i++) {
        w->total[i] += added[i];
        w->added[i] = 0;
        if (*atomic_word(w, i) != w->total[i])
            world_fail(a, "atomic word %p is %lld, not %lld",
                       (void *)atomic_word(w, i),
                       (long long)*atomic_word(w, i), (long long)w->total[i]);
    }
}

/* Between barriers in which nobody writes: everybody checks everything. */
static void
inspect(struct world *w)
{
    struct actor a;

    actor_start(&a, w, 0);
    a.step = -1;
    watch_at("inspection");
    for (int i = 0; i < ARENAS; i++)
        for (int k = 0; w->arena[i].base != NULL && k < OBJECTS; k++)
            object_check(&a, &w->arena[i].object[(k + w->me) % OBJECTS]);
    boxes_inspect(&a);
    census(&a);
    hearth_barrier();
}

void
world_delay(const struct world *w, int thread)
{
    delay_some(mix(w->key, (uint64_t)(w->me * (THREADS + 1) + thread)),
               w->late_one_in, LATE_MS);
}

/* MPI_TEST_LATE_CALLS: in one world of two; transfers begin when they are
 * flushed. */
static void
calls_delay(const struct world *w)
{
    bool late = getenv("MPI_TEST_LATE_CALLS") != NULL && w->key % 2 == 0;

    delay_calls(mix(w->key, 53 + (uint64_t)w->me), late ? CALLS_ONE_IN : 0,
                CALLS_MS);
    delay_transfers(late);
}

static void
world_make(struct world *w, uint64_t seed, uint64_t number, bool threads,
           uint64_t *random)
{
    memset(w, 0, sizeof *w);
    w->seed = seed;
    w->number = number;
    w->key = mix(seed, number);
    *random = w->key;
    options_draw(random);
    current = w;
    split_init(MPI_COMM_WORLD);
    w->me = hearth_rank();
    w->ranks = hearth_size();
    w->epochs = 2 + (int)draw(random, 6);
    w->scope = strcmp(hearth_option("consistency"), "scope") == 0;
    w->multiple = threads;
    w->threads = draw(random, 2) == 0 && threads;
    names_skip(w, getenv("HEARTH_LOCKS") != NULL);
    w->wide = draw(random, 10) == 0;
    w->late_one_in = draw(random, 4) == 0 ? LATE_ONE_IN : 0;
    world_delay(w, 0);
    calls_delay(w);
    barriers_leave_late(mix(w->key, 41 + (uint64_t)w->me));
    watch_at("the making of a world");
    locks_draw(w, random);
    table_make(w, random);
    boxes_make(w, random);
}

static void
oracle_clear(const struct world *w)
{
    if (oracle != NULL && w->me == 0)
        memset(oracle, 0, sizeof *oracle);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void
messages_count(int me)
{
    hearth_stats stats;

    hearth_get_stats(&stats);
    tally_add(TALLY_WORLDS, me == 0);
    tally_add(TALLY_EVERYTHING, stats.everything);
    tally_add(TALLY_DATAGRAMS, stats.messages);
    tally_add(TALLY_RESENDS, stats.resends);
    tally_add(TALLY_REPEATS, stats.repeats);
    tally_add(TALLY_REFUSED, stats.refused);
}

/* Rank 0 has the clock. */
static bool
is_last_epoch(const struct world *w, double latest)
{
    int last = w->epoch + 1 >= w->epochs || MPI_Wtime() >= latest;

    MPI_Bcast(&last, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return last;
}

void
world_run(uint64_t seed, uint64_t number, bool threads, double latest)
{
    struct world w;
    uint64_t     random;
    bool         last = false;

    watch_at("hearth_init");
    world_make(&w, seed, number, threads, &random);
    oracle_clear(&w);
    arenas_change(&w, mix(w.key, 5), true);
    for (w.epoch = 0; !last; w.epoch++) {
        epoch_run(&w);
        last = is_last_epoch(&w, latest);
        if (draw(&random, 3) == 0 || last)
            inspect(&w);
        if (draw(&random, 2) == 0)
            arenas_change(&w, draw(&random, UINT64_MAX), false);
    }
    for (int i = 0; i < ARENAS; i++)
        if (w.arena[i].base != NULL)
            arena_drop(&w, &w.arena[i]);
    messages_count(w.me);
    watch_at("hearth_finalize");
    hearth_finalize();
    current = NULL;
    watch_step();
}
