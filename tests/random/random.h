/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The random generator: programs without data races, drawn from a seed, whose
 * every read has one right answer that every rank can compute.
 *
 * A *world* is one start of Hearth with options drawn from the seed.  It has
 * *arenas* (allocations of every layout and element size) whose units (bytes,
 * or words of 4 or 8 bytes) are dealt to *objects*, so that the units of an
 * object lie scattered among those of others: false sharing everywhere.
 *
 * An object has a version, a word of the heap that is protected as the object
 * is.  What version v changes, and to what, follows from the seed, the object
 * and v alone, not from who writes it or when: whoever may look at the object
 * replays the versions it has not seen yet in a private model, and compares.
 * So ranks may race for locks freely, and every byte read is still checked.
 *
 * Between barriers (an *epoch*) each object is in somebody's custody: under a
 * lock, of a rank or of one of its threads, read-only, in a chain of flags, or
 * (release consistency) roaming: taken out under one lock, carried in a
 * rank's pocket, and put down under another, by a rank that need not have
 * touched it.
 *
 * If all ranks run on one machine, what the version words should say is also
 * kept in memory shared by the kernel (the *oracle*), and a stale version is
 * noticed at once.  Elsewhere versions may only rise, and their sums are
 * compared at barriers.
 */
#ifndef HEARTH_RANDOM_H
#define HEARTH_RANDOM_H

#include <hearth/hearth.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ARENAS = 5,
    OBJECTS = 12, /* of one arena; number 0 belongs to nobody and stays zero */
    SLOTS = ARENAS * OBJECTS,
    LOCKS = 8,
    ROAMERS = 16,
    CHAINS = 8,
    ATOMICS = 4,
    THREADS = 2, /* beside the main thread */
    WORDS = SLOTS + LOCKS + ATOMICS
};

enum custody { UNDER_LOCK, OF_RANK, READ_ONLY, IN_CHAIN, ROAMING };

struct arena;
struct box;

struct object {
    struct arena  *arena;
    int            slot;  /* of its version word */
    uint64_t       key;   /* decides what each version is */
    uint32_t      *where; /* its units, as numbers in the arena */
    size_t         units;
    unsigned char *model;   /* what the units hold at `version` */
    uint64_t       version; /* the latest one that this rank has followed */
    uint64_t       made;    /* versions made here since the last census */
    uint64_t       settled; /* version at that census */
    unsigned char  mask;    /* few bits: many stores change nothing */
    enum custody   custody;
    int            keeper; /* lock, rank or chain */
    int            thread; /* OF_RANK: 0 is the main thread */
};

struct arena {
    unsigned char *base; /* NULL: none */
    size_t         bytes, size;
    unsigned       unit;
    hearth_layout  layout;
    uint64_t       key;
    struct object  object[OBJECTS];
};

/* What the other threads of a rank do. */
enum mood {
    MOOD_ANY,    /* use what is theirs, and what is under locks */
    MOOD_RELEASE /* lock and unlock without a pause */
};

struct world {
    uint64_t       seed;   /* of the whole run */
    uint64_t       number; /* of this world */
    uint64_t       key;    /* of both */
    int            me, ranks, epoch, epochs;
    bool           scope, multiple, threads, wide;
    unsigned       late_one_in;        /* atomic steps by MPI; 0: none */
    _Atomic int    mood;               /* enum mood, of the other threads */
    int            locks, lock[LOCKS]; /* their Hearth numbers */
    int64_t       *table;              /* heap words */
    uint32_t       word[WORDS];        /* their places in the table */
    struct arena   arena[ARENAS];
    struct box    *boxes; /* of objects that come and go (boxes.c) */
    struct object *roamer[ROAMERS];
    int            roamers;
    struct object *chain[CHAINS];
    int            chains;
    int64_t        added[ATOMICS]; /* by this rank since the last census */
    int64_t        total[ATOMICS]; /* at that census */
};

/* Who acts: the main thread of a rank, or one of its others. */
struct actor {
    struct world *w;
    int           thread;
    int           step;
    uint64_t      random;
    uint32_t      pocket; /* roamers that this rank carries */
    int64_t       last[ATOMICS];
};

/* What the heap should say, where the kernel can tell. */
struct oracle {
    _Atomic uint64_t version[SLOTS];
    _Atomic uint64_t present[LOCKS];
    _Atomic int64_t  added[ATOMICS];
};
extern struct oracle *oracle; /* NULL: blind */
void                  oracle_open(bool blind);

/* The words of the table. */
static inline volatile int64_t *
version_word(const struct world *w, int slot)
{
    return w->table + w->word[slot];
}

static inline volatile int64_t *
present_word(const struct world *w, int lock)
{
    return w->table + w->word[SLOTS + lock];
}

static inline int64_t *
atomic_word(const struct world *w, int i)
{
    return w->table + w->word[SLOTS + LOCKS + i];
}

/* object.c */
uint64_t mix(uint64_t a, uint64_t b);
uint64_t draw(uint64_t *state, uint64_t below);

void           object_check(struct actor *a, struct object *o);
void           object_write(struct actor *a, struct object *o);
_Noreturn void world_fail(const struct actor *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* arena.c */
void arena_make(struct world *w, int index, uint64_t key);
void arena_drop(struct world *w, struct arena *arena);

/* epoch.c */
void epoch_run(struct world *w);

/* step.c */
void step_any(struct actor *a);
void step_chain(struct actor *a, int chain, int link);
void step_thread(struct actor *a);
void actor_nap(struct actor *a);
void actor_start(struct actor *a, struct world *w, int thread);
int  chain_rank(const struct world *w, int chain, int link);

/* boxes.c */
void boxes_make(struct world *w, uint64_t *random);
void boxes_use(struct actor *a, int lock); /* by who holds it */
void boxes_inspect(const struct actor *a);

/* hold.c */
void step_hold(struct actor *a);
/* Drop what is held of an arena that is about to be freed. */
void holds_leave(struct world *w, const struct arena *arena);

/* names.c: the first names of locks count as given, if `skip`.  Collective. */
void names_skip(const struct world *w, bool skip);

/* world.c */

/* A lock, or one in its stead that has a name; others for others. */
int lock_named(uint64_t *random, int lock);

/* Ends with the first epoch after that time of rank 0's (MPI_Wtime). */
void world_run(uint64_t seed, uint64_t number, bool threads, double latest);
/* Let steps of the calling thread be late as the world says. */
void world_delay(const struct world *w, int thread);
/* Which world and epoch, for a message. */
void world_place(char *text, size_t room);

#endif
