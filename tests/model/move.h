/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A page that moves to another home (coherence/migrate.c) while a second
 * thread of each rank loads, stores, synchronises and counts in it: the old
 * home, the new one, and a third rank; with --mates another one on that one's
 * node.  These two take copies of each other (page/node_cache.h), store
 * nothing, and nobody refuses or counts then, or the walk would be too long.
 *
 * With --renew the old home asks for the page to become new, if nobody has a
 * copy, and it stays where it is.
 *
 * A byte of the page is written inside of one lock, so each load there has one
 * right value; the page may be touched outside of it, too, which brings copies
 * at any time.  Another byte is counted by atomic steps at the home.  Flags
 * are looked at in each release, which stands for being told of them
 * (model.h).
 */
#ifndef HEARTH_MODEL_MOVE_H
#define HEARTH_MODEL_MOVE_H

#include "search.h"

enum { OLD, NEW, THIRD, MATE, RANKS };
enum { WRITES = 2, STEPS = 1, POISON = 99 };

enum rule {
    NO_FLUSH,        /* what changed in a copy stays there */
    NO_LOOK,         /* the old home does not look at its flags */
    NO_NOTE,         /* nor tells later of what it stored */
    NO_VOTE,         /* the content is brought before all have frozen */
    NO_DONE,         /* and the page used before it is there */
    UNTRACKED,       /* the new home does not tell of stores to it */
    KEEP_REGISTERED, /* an unshared page's readers set no flag again */
    KEEP_MISSED,     /* an acquire passes by a frozen copy */
    FREEZE_STEPS,    /* in an atomic step */
    FREEZE_COMING,   /* on its way */
    LEND_FROZEN,     /* a frozen copy may be taken */
    MATES,           /* holds: there are mates */
    RENEW,           /* holds: the page stays at home, and becomes new */
    RENEW_SHARED,    /* whoever has a copy */
    CLEAR_LATE       /* its flag is cleared when others may have set it */
};

enum view {
    INVALID,
    COMING,
    CLEAN,
    DIRTY,
    HOME_OPEN,
    HOME_ARMED,
    HOME_DIRTY,
    FROZEN
};

/* Where the thread that moves is. */
enum { BEFORE, VOTED, BROUGHT, AFTER };

enum { GET = 1, FLAG = 2 };

struct rank {
    uint8_t home, view, was, missed, value;
    uint8_t registered, provisional, tracked, listed;
    uint8_t stale;            /* a notice of others is in the lock's log */
    uint8_t waits, from, got; /* of a fetch: GET, FLAG; its frame */
    uint8_t stepping, at;     /* in an atomic step, at this frame */
    uint8_t moving;
    uint8_t lent, fresh; /* its copy; fetched after its mate last acquired */
};

struct state {
    uint8_t     byte[2], count[2], flag[2]; /* of both frames */
    uint8_t     holder, version, steps, done;
    uint8_t     refused, shared, wrong;
    struct rank rank[RANKS];
};

static inline int
ranks(void)
{
    return broken(MATES) ? RANKS : MATE;
}

static inline int
asker(void)
{
    return broken(RENEW) ? OLD : NEW;
}

static inline bool
is_home(const struct rank *r)
{
    return r->view >= HOME_OPEN && r->view <= HOME_DIRTY;
}

static inline bool
is_copy(const struct rank *r)
{
    return r->view == CLEAN || r->view == DIRTY;
}

/* Of the thread that uses the page, in move_use.c. */
bool use_acquire(struct state *s, int me);
bool use_release(struct state *s, int me);
bool use_touch(struct state *s, int me);
bool use_store(struct state *s, int me);
bool use_land(struct state *s, int me, uint8_t what);
bool use_step_begin(struct state *s, int me);
bool use_step_end(struct state *s, int me);
bool use_take(struct state *s, int me);

/* A flag that is seen for the first time makes the page one that is told of.
 */
void flags_look(struct state *s, struct rank *r);
void diff_send(struct state *s, struct rank *r);

#endif
