/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Epochs: see epoch.c.
 */
#ifndef HEARTH_MODEL_EPOCH_H
#define HEARTH_MODEL_EPOCH_H

#include "search.h"

enum { RANKS_MOST = 3, THREADS = 2, SYNCS = 2, SLOTS = 2 };

/* What is walked, and the rules that can be broken. */
enum rule {
    THREE,             /* ranks, instead of two */
    FLAGS,             /* instead of locks */
    LONG,              /* more turns, of one thread of each rank */
    CHAIN,             /* ... two locks or flags, three ranks, one barrier */
    SCOPE,             /* consistency: locks tell of their sections */
    NOISE,             /* each release tells of another page, too */
    NO_BEGIN,          /* nothing to tell leaves the log as it is */
    BEGIN_ONCE,        /* ... if it was ever begun */
    BEGUN_FIRST,       /* a log counts as begun before a set has told it */
    NO_ANEW,           /* an append of a later epoch leaves the log its own */
    NO_AHEAD,          /* a log of a later epoch is read like any other */
    NO_AHEAD_TELLS,    /* ... and the barrier is not told "invalidate_all" */
    AHEAD_OUTSIDE,     /* ... but outside of a barrier */
    NO_LOST,           /* ... nor are other locks */
    RELEASE_LATE,      /* the release epoch moves when the barrier is left */
    ACQUIRE_EARLY,     /* the acquire epoch moves when it is entered */
    FORGET_EARLY,      /* what was known is forgotten when it is entered */
    FORGET_ALL,        /* what was learnt meanwhile is forgotten, too */
    KEEP_POSITION,     /* positions count on over epochs */
    POSITION_OF_ASKED, /* one of an epoch that has passed counts as well */
    POSITION_FIRST,    /* it moves before the copies are gone */
    GIVEN_FIRST,       /* what is given counts before a set has told it */
    MERGE_SAYS_LESS,   /* a full log is merged without what it held */
    MERGE_IN_PLACE,    /* ... and its readers read on from where they were */
    RULES
};

/* Things to be known: the write, and "invalidate_all" of each rank. */
enum { WRITE, EVERYTHING, THINGS = EVERYTHING + RANKS_MOST };

/* What a rank knows of a thing.  The last two have a bit for each lock. */
enum {
    KNOWN = 1,
    OLD = 2, /* since before the barrier that it is in */
    SECTION = 4,
    SEEN = 16, /* in its log */
    GIVEN = 64 /* to it */
};

/* A notice: 0 is one of no pages, or of others. */
enum { NUMBER = 8 }; /* 1 + thing + NUMBER * number */

struct log {
    uint8_t epoch, end, whole, notice[SLOTS];
    uint8_t busy; /* a lock that is held, a flag that is set */
    uint8_t must; /* who acquires must see the write */
};

struct view {
    uint8_t given_epoch, pos, pos_epoch, begun;
};

enum at { IDLE, ASKED, GRANTED, APPLIED, HOLDS, COLLECTED };

struct thread {
    uint8_t at, sync;
    uint8_t epoch, pos; /* as asked; of the grant; of the release */
    uint8_t log_epoch, invalidate_all, ahead;
    uint8_t must, wrote; /* wrote: in this section */
    uint8_t n, notice[SLOTS];
    uint8_t given; /* a bit for each thing collected */
};

enum copy { STALE, NONE, FRESH };

struct rank {
    uint8_t       release, acquire; /* epochs */
    uint8_t       entered, left;    /* barriers */
    uint8_t       copy, dirty, must;
    uint8_t       own, invalidate_all; /* since the last barrier */
    uint8_t       held, number;
    uint8_t       known[THINGS], numbers[RANKS_MOST];
    struct view   view[SYNCS];
    struct thread thread[THREADS];
};

struct news {
    uint8_t write, invalidate_all, must;
};

enum { BARRIERS = 2 };

struct state {
    uint8_t     ranks, home, wrote, turns;
    struct news news[BARRIERS];
    struct log  log[SYNCS];
    struct rank rank[RANKS_MOST];
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

/* ---- epoch_known.c: what a rank knows and what a log tells ---- */

/* Which notices a log tells a reader; sets the thread's grant. */
void log_read(const struct log *log, struct thread *t);
void log_append(struct log *log, const struct thread *t, uint8_t epoch);

/* The notices that are to be given; the rest is "invalidate_all". */
void release_collect(struct rank *r, struct thread *t);
/* Learn what was granted; those that are no news become 0. */
void grant_learn(struct rank *r, unsigned me, struct thread *t);

void interval_end(struct state *s, struct rank *r);
void known_mark(struct rank *r);
void known_forget(struct rank *r, unsigned which);
void given_note(struct rank *r, const struct thread *t);

#endif
