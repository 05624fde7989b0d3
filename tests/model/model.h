/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An exhaustive model of home pages without cost (coherence/sharer_flags.c)
 * and of what they rest on: one page of two bytes, ranks of the home's node
 * that store to it directly (co-homes), ranks of other nodes that fetch,
 * write, flush and lose copies of it (guests), locks and a barrier; and what
 * allocates and frees the page.
 *
 * There is no program: at every moment each rank may do whatever a program
 * without data races could do next, so the walk covers all such programs, of
 * any length, with up to so many writes.  A write is allowed to a rank that
 * everything written to that byte before happens before; and at every moment
 * every byte that a rank could load must be at least as new as the last write
 * to it that happens before.
 *
 * Each rank counts as two threads: one that synchronises, and one that touches
 * the page while the first is waiting, and allocates and frees it.
 */
#ifndef HEARTH_MODEL_H
#define HEARTH_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { BYTES = 2, LOCKS = 2, RANKS = 4, BARRIER = LOCKS, NOBODY = RANKS };

/* Where a rank stands in the page's life: in hearth_alloc; behind it; in
 * hearth_free with the page still in its table, and with it gone. */
enum { ABSENT, PLACED, CONDEMNED, FREED };

/* How a co-home's mapping of the page stands.  STEADY: open since an interval
 * before, so that no store is a fault. */
enum { OPEN, ARMED, WRITTEN, STEADY };

/* A guest's copy.  CLOSING: no longer visible, its diff on the way.
 * PREFETCHED: it was brought in advance, and is not visible yet. */
enum { NONE, CLEAN, DIRTY, CLOSING, HERE };

/* Where a rank's synchronising thread is.  From FENCE to PUBLISH, and in
 * GOING, it has the page table's lock: the other thread's faults wait.  In ARM
 * and AGAIN a co-home that leaves the barrier has it, too.
 *
 * What nobody else can see the beginning or the end of is one step: so a lock
 * is taken in the moment when what it says is applied, and an acquire or a
 * guest's release ends with the last thing it waits for. */
enum phase { IDLE, FENCE, SCAN, PUBLISH, WAIT, NEWS, GOING, ARM, AGAIN };

/* What a fetch still waits for: a bit for each, landing in any order.  The
 * bytes of a page may land one by one as well, and so may those of a diff; but
 * what is promised is promised for each byte alone, and no byte's way depends
 * on the value of another, so it is enough to let them land together at every
 * possible moment. */
enum { GET = 1, SET_FLAG = 2, SET_SUMMARY = 4, TELL = 8 };

/* Versions of a byte, and intervals of a writer: only their order counts, so
 * after every step they are renumbered from 1 (0: nothing there). */
typedef uint8_t version[BYTES];
typedef uint8_t clocks[RANKS];

/* A lock, or half of the barrier. */
struct sync {
    uint8_t holder;
    version before; /* the writes that happen before its next acquire */
    clocks  notice; /* its log: the last interval of each writer */
};

struct rank {
    uint8_t phase, sync, life;
    uint8_t report;  /* this release reports the page as written */
    version before;  /* the writes that happen before this rank's present */
    version release; /* the same when its release began */

    /* A co-home's: */
    uint8_t map;
    uint8_t seen;     /* the flag was seen: the page is tracked */
    uint8_t new_told; /* the home was told since this rank looked last */
    uint8_t sample;   /* flags as read too early (--flags-before-word) */
    uint8_t quiet;    /* it was armed, in AGAIN, and is not to be reported */
    version buffer;   /* stores that are not in memory yet */

    /* A guest's: */
    uint8_t copy, mask; /* mask: bytes that differ from the twin */
    uint8_t owed;       /* bytes that it will store before it loads them */
    uint8_t whole;      /* the copy was opened without its content */
    uint8_t changed;    /* a diff went home since the last release */
    uint8_t registered, provisional, untold;
    uint8_t telling; /* what it told is in its store buffer, or on its way */
    uint8_t fetch, fetching, doomed;
    uint8_t ahead; /* this fetch is in advance */
    uint8_t wrote; /* since the last barrier (--writers-keep only) */
    version content, got;

    /* The same with --mates: numbers of the node, and what it lends. */
    uint8_t number, fetch_number; /* of the fetch of its copy, and under way */
    uint8_t since, arrived;       /* what it takes must be fetched after */
    uint8_t passed;               /* barriers, more than some other guest */
    uint8_t lent, written;        /* it was fetched, or written, here */

    uint8_t puts; /* bytes of a diff on their way */
    version put;

    clocks known; /* the notices it knows */
};

struct state {
    version     home;
    version     cleared; /* the zeroes that hearth_free left, or 0 */
    uint8_t     flag, summary, writes, freed;
    struct sync lock[LOCKS], arriving, news;
    struct rank rank[RANKS];
};

/* What is walked: how many of each, and which rules are broken. */
struct model {
    int  homes, guests, bytes, locks, writes;
    bool barrier, alloc;
    bool overwrite; /* guests open pages without their content */
    bool predict;   /* guests fetch in advance (page/reuse_prefetch.h) */
    bool steady;    /* home pages may stay open (policy/sticky_home.h) */
    bool arm;       /* homes arm what is flagged as they leave the barrier */
    bool stay;  /* locks may be held over the barrier (coherence/lock_recall.c)
                 */
    bool mates; /* guests are one node, and lend copies (page/node_cache.h) */
    uint64_t broken;
};
extern struct model model;

enum rule {
    KEEP_FIRST_COPY,
    TRUST_OPEN_PAGE,
    SCAN_ONCE,
    ONE_SCANS,
    NO_TELL,
    TELL_WITH_FETCH,
    FETCH_BEFORE_TELL,
    FLAGS_BEFORE_WORD,
    NO_FENCE,
    NO_FENCE_TOLD,
    KEEP_IN_FLIGHT,
    KEEP_FIRST_IN_FLIGHT,
    FORGET_IN_FLIGHT,
    FORGET_EVICTED,
    NO_FLUSH_BEFORE_DROP,
    NO_WAIT_FOR_FLUSH,
    PUBLISH_BEFORE_FLUSH,
    WHOLE_PAGE_DIFF,
    WRITERS_KEEP,
    OWN_NOTICES_ONLY,
    SEE_UNPLACED,
    PLACE_UNSEEN,
    KEEP_SEEN,
    KEEP_REGISTERED,
    KEEP_COPY,
    NO_FREE_BARRIER,
    OVERWRITE_PART,
    OVERWRITE_AGAIN,
    KEEP_OVERWRITTEN,
    KEEP_UNTOLD,
    KEEP_HERE,
    KEEP_PREDICTED,
    PREDICT_UNTOLD,
    PREDICT_FIRST,
    TAKE_OLD,
    TAKE_WRITTEN,
    TAKE_UNPASSED,
    TAKE_OWN,
    TAKE_FIRST,
    FORGET_LATE,
    NUMBER_LATE,
    LEND_DROPPED,
    STEADY_UNTOLD,
    ARM_BLIND,
    ARM_CONSUME,
    ARM_NO_FENCE,
    ARM_KEEP_FIRST,
    SCAN_ALWAYS, /* holds: another way to do it */
    RULES
};

/* Break a rule by its name, if it is one (rules.c). */
bool rule_parse(const char *arg);
void rules_print(FILE *to);

static inline bool
broken(enum rule r)
{
    return model.broken >> r & 1;
}

static inline int
ranks(void)
{
    return model.homes + model.guests;
}

static inline bool
is_home(int r)
{
    return r < model.homes;
}

static inline void
join(uint8_t *a, const uint8_t *b, int n)
{
    for (int i = 0; i < n; i++)
        if (b[i] > a[i])
            a[i] = b[i];
}

/* The page is in this rank's table. */
static inline bool
is_known(const struct rank *r)
{
    return r->life == PLACED || r->life == CONDEMNED;
}

/* The page table's lock is taken. */
static inline bool
is_busy(const struct rank *r)
{
    return (r->phase >= FENCE && r->phase <= PUBLISH) || r->phase >= GOING ||
           r->copy == CLOSING;
}

/* One kind of step: does it for rank r, or says that it cannot be done.  arg
 * is a byte, a lock or a bit, below `args`. */
struct step {
    const char *name;
    bool (*take)(struct state *s, int r, int arg);
    int args;
};
extern const struct step steps[];
extern const int         step_count;

/* Steps of synchronisation, in sync.c. */
bool step_acquire(struct state *s, int r, int lock);
bool step_news(struct state *s, int r, int arg);
bool step_release(struct state *s, int r, int sync);
bool step_publish(struct state *s, int r, int arg);
void acquire_end(struct state *s, int r);

/* Steps of a co-home, in home.c. */
bool home_store(struct state *s, int r, int byte);
bool home_drain(struct state *s, int r, int byte);
bool home_sample(struct state *s, int r, int arg);
bool home_look(struct state *s, int r, int arg);
bool home_scan(struct state *s, int r, int arg);
bool home_close(struct rank *me, bool keep);
bool home_arm(struct state *s, int r, int arg);
bool home_look_again(struct state *s, int r, int arg);
void home_tell(struct state *s);

/* Steps of the page's life, in life.c. */
bool life_place(struct state *s, int r, int arg);
bool life_condemn(struct state *s, int r, int arg);
bool life_free(struct state *s, int r, int arg);
bool life_end(struct state *s, int r, int arg);

/* Steps of a guest, in guest.c. */
bool guest_store(struct state *s, int r, int byte);
bool guest_overwrite(struct state *s, int r, int arg);
bool guest_fetch(struct state *s, int r, int ahead);
bool guest_show(struct state *s, int r, int arg);
bool guest_land(struct state *s, int r, int bit);
bool guest_arrive(struct state *s, int r, int arg);
bool guest_tell(struct state *s, int r, int arg);
bool guest_told(struct state *s, int r, int arg);
bool guest_evict(struct state *s, int r, int arg);
bool guest_put(struct state *s, int r, int arg);
void guest_drop(struct rank *me);
void guest_close(struct rank *me);

/* Steps of a mate, in mate.c: it takes another guest's copy; and what it must
 * see from now on, and what it lends. */
bool mate_take(struct state *s, int r, int owner);
bool mate_take_ahead(struct state *s, int r, int owner);
void mate_acquired(struct state *s, int r);
void mate_arrive(struct rank *me);
void mate_leave(struct rank *me);
void mate_fetch(struct state *s, int r);
void mate_lend(struct state *s, int r);
void mate_lend_written(struct rank *me);
void mate_keep(struct rank *me);
void mates_renumber(struct state *s);

/* True if rank r may write the byte without a race: then it has its version.
 */
bool version_next(struct state *s, int r, int byte, uint8_t *v);

/* The same, without writing it now: nobody else may meanwhile, or load it. */
bool version_is_free(const struct state *s, int r, int byte);
bool is_owed(const struct state *s, int byte, int but);

/* NULL, or what a rank could read that it must not. */
const char *state_fault(const struct state *s);

/* Renumber versions and intervals, and with `symmetric` ranks of a kind. */
void state_reduce(struct state *s, bool symmetric);
void state_start(struct state *s);

#endif
