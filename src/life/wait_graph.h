/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which threads of a job wait for which, and whether any of them can go on:
 * pure data, filled by deadlock.c with what all ranks have told.
 */
#ifndef HEARTHI_WAIT_GRAPH_H
#define HEARTHI_WAIT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hearth/hearth.h"

/* RANK: there is one of each rank, which waits for nothing.  ALL: a call that
 * all ranks make.  OTHER: for what all others together would have to do.  The
 * last three are what a thread has. */
enum hearthi_wait_kind {
    HEARTHI_WAIT_RANK,
    HEARTHI_WAIT_LOCK,
    HEARTHI_WAIT_READ,
    HEARTHI_WAIT_WRITE,
    HEARTHI_WAIT_FLAG,
    HEARTHI_WAIT_COND,
    HEARTHI_WAIT_OTHER,
    HEARTHI_WAIT_ALL,
    HEARTHI_WAIT_MPI,
    HEARTHI_HAS_LOCK,
    HEARTHI_HAS_READ,
    HEARTHI_HAS_WRITE
};

/* For which rank a call of MPI's waits: that, any of the job's, each of them,
 * or a process that may be none of them. */
enum {
    HEARTHI_PEER_ANY = -1,
    HEARTHI_PEER_EACH = -2,
    HEARTHI_PEER_OUTSIDE = -3
};

/* Sent as it is. */
struct hearthi_thread_wait {
    int32_t kind, rank;
    int32_t thread; /* as the kernel numbers it; 0: it is not known */
    int32_t many;   /* the rank has other threads */
    int32_t peer;   /* of MPI */

    /* The name of a lock (transport/lock_key.h), or a number; of ALL and RANK
     * how many such calls the rank has made, this one included. */
    uint64_t what;
    uint64_t mpi; /* of MPI and RANK the same for MPI's */
    char     call[40];
    char     place[40]; /* "main.c:80", or "" */
};

static inline bool
hearthi_wait_is(const struct hearthi_thread_wait *w)
{
    return w->kind > HEARTHI_WAIT_RANK && w->kind < HEARTHI_HAS_LOCK;
}

/* Of a question to all ranks: its number, and the flags that are waited for, a
 * bit each. */
struct hearthi_deadlock_asked {
    uint64_t id;
    uint64_t flags[HEARTH_FLAGS / 64];
};

struct hearthi_waits {
    struct hearthi_thread_wait *wait;
    size_t                      n, room;
};

/* False if there is no memory. */
bool hearthi_waits_add(struct hearthi_waits             *g,
                       const struct hearthi_thread_wait *w);
void hearthi_waits_free(struct hearthi_waits *g);

/* Of a job of so many ranks, each thread of which waits: can none of them go
 * on? */
bool hearthi_waits_are_final(const struct hearthi_waits *g, int ranks);

/* The first of a kind, for the same thing; or NULL. */
const struct hearthi_thread_wait *
hearthi_waits_find(const struct hearthi_waits *g, enum hearthi_wait_kind kind,
                   uint64_t what);

/* Is this a rank that has yet to make the call that another waits in? */
bool hearthi_wait_is_missed(const struct hearthi_thread_wait *rank,
                            const struct hearthi_thread_wait *by);

/* ---- wait_text.c ---- */

/* "rank 0 waits in hearth_lock (2), which rank 1 has; rank 1 waits ...": as
 * many as there is room for. */
void hearthi_waits_text(const struct hearthi_waits *g, char *text,
                        size_t room);

/* What to do about it. */
const char *hearthi_waits_remedy(const struct hearthi_waits *g);

#endif
