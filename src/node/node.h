/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the ranks of a node do together through memory that they share: turns
 * at each lock and flag, and barriers.  A transport adds what happens between
 * nodes; on one node there is nothing to add.
 */
#ifndef HEARTHI_NODE_H
#define HEARTHI_NODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test_limits.h"
#include "event.h"
#include "lock_names.h"
#include "notice/notice.h"
#include "transport/lock_key.h"
#include "transport/log.h"

/* A lock or flag as the ranks of one node see it: a ticket lock of theirs
 * that stands before the lock between nodes. */
struct hearthi_node_lock {
    _Atomic uint64_t   next, serving;
    atomic_bool        value;   /* one node only: the flag */
    bool               ours;    /* this node has the lock between nodes */
    bool               rests;   /* ... unless somebody took it: it rests */
    int                place;   /* where (mcs_lock.h) */
    int                last;    /* node rank + 1 of its last holder */
    atomic_int         holder;  /* ... of who has it; for those it leaves */
    int                told;    /* rank + 1 that is said there to keep it */
    int                row;     /* passed on inside the node in a row */
    atomic_int         keeper;  /* node rank + 1 of who may keep it */
    uint16_t           ticket;  /* of a flag */
    atomic_bool        watched; /* a rank of the node waits for a flag */
    uint64_t           word;    /* its `serving` (rma_object.h) */
    struct hearthi_log log;     /* as the holder knows it; epoch 0: past */
};

/* Writers of a reader-writer lock take turns as ranks do that take a lock, by
 * a number of its own behind those of all objects. */
static inline int
hearthi_turn_of(int rw)
{
    return hearthi_syncs + rw - HEARTHI_RWS_AT;
}

static inline int
hearthi_turns(void)
{
    return hearthi_syncs + HEARTH_RWLOCKS;
}

/* The words of a reader-writer lock where there is one node only. */
struct hearthi_node_rw {
    _Atomic uint64_t word[2];
};

/* Runs that a barrier exchanges, of one rank and of all. */
enum {
    HEARTHI_NOTICES_OF_ONE = HEARTHI_TEST_LIMIT(16384, 40),
    HEARTHI_BARRIER_NOTICES_MAX = HEARTHI_TEST_LIMIT(131072, 64)
};

/* Notices of one rank or of all, in the node's memory. */
struct hearthi_deposit {
    _Alignas(64) atomic_uint generation;
    uint32_t n;
    uint32_t invalidate_all;
    uint32_t asks;
};

/* What threads that wait for a turn in the node sleep at, each at one that few
 * others have. */
enum { HEARTHI_TURN_EVENTS = 256 };

struct hearthi_node_area {
    struct hearthi_event   turn[HEARTHI_TURN_EVENTS];
    struct hearthi_node_rw rw[HEARTH_RWLOCKS];
    struct hearthi_deposit news; /* what the barrier brought */
    struct hearthi_deposit of[]; /* what each rank of the node gave */
};

struct hearthi_node {
    struct hearthi_node_area *area;
    struct hearthi_node_lock *lock;      /* of each object, in its memory */
    struct hearthi_notice    *news;      /* twice what a barrier exchanges */
    struct hearthi_notice   **deposited; /* of each node rank */
    uint32_t                  barriers;  /* that this rank has come to */
};
extern struct hearthi_node hearthi_node;

/* The memory of the node.  Collective over it. */
void hearthi_node_open(void);
void hearthi_node_close(void);

/* ---- turns (node_lock.c) ---- */

static inline struct hearthi_node_lock *
hearthi_node_lock_of(int sync)
{
    return &hearthi_node.lock[sync];
}

/* An event of the node, one of several for each object; others may raise it,
 * too. */
struct hearthi_event *hearthi_node_lock_event(int sync, uint64_t which);

/* Wait for the turn in the node; with `try`, false instead of waiting. */
bool hearthi_node_lock_acquire(int sync, bool try);
void hearthi_node_lock_release(int sync);
bool hearthi_node_lock_is_waited_for(int sync);

/* Behind the step by which a rank keeps a lock that it had with this ticket: a
 * rank that waits for it by now wants it. */
void hearthi_node_lock_kept(int sync, uint64_t mine);

/* The rank of this node that may keep a lock wants to know of a rank that
 * waits: none may. */
void hearthi_node_lock_want(int sync);

/* Which rank has it: node rank + 1, or 0; for those that it leaves.  Relaxed:
 * hearthi_node_abandoned_locks() reads the number alone. */
static inline void
hearthi_node_holder_set(int sync, int holder)
{
    atomic_store_explicit(&hearthi_node_lock_of(sync)->holder, holder,
                          memory_order_relaxed);
}

/* ---- one node only (node_sync.c): what transport.h has of the kind ---- */

bool     hearthi_node_acquire(int sync, bool try);
void     hearthi_node_release(int sync);
void     hearthi_node_flag_change(int sync, bool set);
void     hearthi_node_flag_wait(int sync);
uint64_t hearthi_node_cond_enter(int sync);
void     hearthi_node_cond_wait(int sync, uint64_t place);
void     hearthi_node_cond_wake(int sync, bool all);

/* Of any number of nodes: the locks that a rank of this one has. */
void hearthi_node_abandoned_locks(int                             rank,
                                  struct hearthi_abandoned_locks *lost);

/* Of a condition variable: how many are woken after a wake, of so many that
 * have entered and so many that were woken. */
static inline uint64_t
hearthi_cond_woken_next(uint64_t entered, uint64_t woken, bool all)
{
    if (woken >= entered)
        return woken;
    return all ? entered : woken + 1;
}

/* ---- barriers (node_barrier.c) ---- */

/* What a rank says in a barrier beside what it has written, and then what some
 * rank did: it asks whether pages move; a checkpoint is due; it has many first
 * copies. */
enum {
    HEARTHI_ASKS_MOVES = 2,
    HEARTHI_ASKS_DUE = 4,
    HEARTHI_ASKS_SIGNAL = 8, /* it is due since a signal came */
    HEARTHI_ASKS_SHARED =
        16 /* homes arm what was fetched for the first time */
};

/* What a barrier learnt; valid until the next barrier.  `asks`: what this rank
 * says, and then what any does. */
struct hearthi_barrier_notices {
    unsigned                     asks;
    const struct hearthi_notice *notice;
    size_t                       n;
    bool                         invalidate_all;
};

/* The first rank of the node, the leader, speaks for it. */
bool hearthi_node_is_leader(void);

/* Give what this rank has written, at most HEARTHI_NOTICES_OF_ONE runs, and
 * what it asks.  For the leader, it returns when all ranks of the node
 * have done so. */
void hearthi_node_barrier_arrive(const struct hearthi_notice *own, size_t n,
                                 bool invalidate_all, unsigned asks);

/* Wait until the leader is here, which has put the barrier's notices into
 * hearthi_node.news, and their count into the area. */
void hearthi_node_barrier_leave(struct hearthi_barrier_notices *news);

#endif
