/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which rank manages a lock or flag, and the rule of its log: what is kept of
 * the notices that are published, and what a reader is given.  Pure data, the
 * same for all transports.
 *
 * A log is a ring (notice.h) with an epoch.  Epochs are the times between two
 * barriers; positions count within one.
 *
 * A log of an epoch before the reader's says nothing new: the ranks that
 * appended had yet to come to the barrier that the reader has passed, and so
 * it has told the reader what they knew (coherence.c).  A log of an epoch
 * after the reader's was begun anew, and what the old one held is lost to the
 * reader: then all its copies must go.
 *
 * An append of a later epoch begins the log anew: a rank that reads it in that
 * epoch needs nothing of what it held, and a rank that is behind is told that
 * the log is ahead.  One of an epoch before the log's is appended like any
 * other, which gives some readers more than they need.
 *
 * Epochs are 64-bit numbers that only grow, and so does a log's.
 *
 * A log that is full is merged: all that was published in its epoch is read
 * from the ring, becomes fewer notices that say no less (run_coarsen.c), and
 * is appended again with what is new.  A reader that has lost some of the ring
 * finds all of it in the last `whole` positions, and a reader that has lost
 * nothing reads on where it was: of what it reads twice it finds that it knows
 * it, or drops more copies than it must.  A merged notice is younger than each
 * of its parts, so no reader that needs a part has passed it by.
 *
 * Notices of more writers than the ring has room for cannot be merged so far.
 * More than it holds move its end so far that each reader has lost some, and
 * there is no whole log until a later epoch begins it anew: then a reader that
 * has lost some takes it for everything.  If that takes the end past the last
 * position, a reader that was at the start of the epoch would believe that it
 * has lost none: such a log has lost something for all its readers.
 */
#ifndef HEARTHI_TRANSPORT_LOG_H
#define HEARTHI_TRANSPORT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test_limits.h"
#include "hearth/hearth.h"
#include "notice/notice.h"

/* Synchronisation objects: locks, then flags, condition variables and
 * reader-writer locks, in one numbering; locks under which names are given
 * (lock_names.h); and behind all these locks that have names. */
enum {
    HEARTHI_TEAM_FLAGS_AT = HEARTH_LOCKS + HEARTH_FLAGS,
    HEARTHI_TEAM_FLAGS = 64, /* of teams (api/api_team.c) */
    HEARTHI_CONDS_AT = HEARTHI_TEAM_FLAGS_AT + HEARTHI_TEAM_FLAGS,
    HEARTHI_RWS_AT = HEARTHI_CONDS_AT + HEARTH_CONDS,
    HEARTHI_NAMING_AT = HEARTHI_RWS_AT + HEARTH_RWLOCKS,
    HEARTHI_NAMING = 16,
    HEARTHI_SYNCS = HEARTHI_NAMING_AT + HEARTHI_NAMING
};

/* Notices that a log holds: a long one is for the first objects of each kind,
 * which programs use most.  There are so many others that few are ever used,
 * and a rank has memory for all that it manages: theirs are shorter where
 * there are few ranks, and always where they have names, of which there may be
 * the most.  Each rank that writes may have a notice in a log that cannot be
 * merged with others', so a short one has room for several of each. */
enum {
    HEARTHI_LOG = HEARTHI_TEST_LIMIT(168, 10),
    HEARTHI_LOG_NAMED = HEARTHI_TEST_LIMIT(40, 6), /* most of a short one */
    HEARTHI_LOG_LEAST = HEARTHI_TEST_LIMIT(24, 6),
    HEARTHI_LOG_EACH =
        HEARTHI_TEST_LIMIT(8, 2), /* of a rank, in a short one */
    HEARTHI_LOGS_LONG = 128       /* of each kind */
};

/* The kinds.  Behind the reader-writer locks and of their kind are the locks
 * under which names are given. */
enum hearthi_sync_kind {
    HEARTHI_SYNC_LOCK,
    HEARTHI_SYNC_FLAG,
    HEARTHI_SYNC_COND, /* has no log */
    HEARTHI_SYNC_RW,
    HEARTHI_SYNC_NAMED,
    HEARTHI_SYNC_KINDS
};

/* Where each begins. */
static const int hearthi_sync_first[HEARTHI_SYNC_KINDS] = {
    [HEARTHI_SYNC_LOCK] = 0,
    [HEARTHI_SYNC_FLAG] = HEARTH_LOCKS,
    [HEARTHI_SYNC_COND] = HEARTHI_CONDS_AT,
    [HEARTHI_SYNC_RW] = HEARTHI_RWS_AT,
    [HEARTHI_SYNC_NAMED] = HEARTHI_SYNCS
};

static inline enum hearthi_sync_kind
hearthi_sync_kind(int sync)
{
    enum hearthi_sync_kind k = HEARTHI_SYNC_NAMED;

    while (sync < hearthi_sync_first[k])
        k--;
    return k;
}

/* How long the logs are depends on how many ranks there are; all are long
 * before this. */
void hearthi_log_open(int ranks);

/* The notices that an object's log has room for. */
uint32_t hearthi_log_room(int sync);

static inline bool
hearthi_is_named(int sync)
{
    return sync >= HEARTHI_SYNCS;
}

static inline bool
hearthi_is_lock(int sync)
{
    return sync < HEARTH_LOCKS || sync >= HEARTHI_NAMING_AT;
}

/* Is it one of the reader-writer locks? */
static inline bool
hearthi_is_rw(int sync)
{
    return sync >= HEARTHI_RWS_AT && sync < HEARTHI_NAMING_AT;
}

/* ---- the manager of an object, one of `size` ranks ---- */

static inline int
hearthi_manager(int sync, int size)
{
    return (hearthi_is_named(sync) ? sync - HEARTHI_SYNCS : sync) % size;
}

/* The object's place among those of its manager which have names, or have
 * none; and how many places these take, the same for every rank. */
static inline size_t
hearthi_managed_at(int sync, int size)
{
    return (size_t)((hearthi_is_named(sync) ? sync - HEARTHI_SYNCS : sync) /
                    size);
}

/* The i-th object with a name of a manager. */
static inline int
hearthi_managed_named(size_t i, int manager, int size)
{
    return HEARTHI_SYNCS + (int)i * size + manager;
}

static inline size_t
hearthi_managed_count(int size)
{
    return (size_t)(HEARTHI_SYNCS / size + 1);
}

/* ---- its log, of `room` notices; zeros are an empty one ---- */

struct hearthi_log {
    uint64_t epoch; /* 0: none yet */
    uint32_t end;   /* position */
    uint32_t whole; /* so many of the last are all of this epoch; or 0 */
};

/* The end of a log that has run out of positions. */
#define HEARTHI_LOG_FULL UINT32_MAX

enum hearthi_log_news {
    HEARTHI_LOG_PAST, /* the log is of an earlier epoch: nothing */
    HEARTHI_LOG_NEWS, /* what the spans hold, which may be nothing */
    HEARTHI_LOG_LOST, /* some was lost: everything */
    HEARTHI_LOG_AHEAD /* the log is of a later epoch: everything */
};

/* What a reader of `epoch` finds that has read up to *pos in that epoch; moves
 * *pos.  The spans are empty unless there is news. */
enum hearthi_log_news hearthi_log_read(const struct hearthi_log *log,
                                       uint32_t room, uint64_t epoch,
                                       uint32_t                *pos,
                                       struct hearthi_ring_span span[2]);

/* True if nothing was appended since a reader was at pos in this epoch. */
static inline bool
hearthi_log_is_unchanged(const struct hearthi_log *log, uint32_t pos)
{
    return log->end == pos && log->end != HEARTHI_LOG_FULL;
}

/* Publish count notices of `epoch`.  True if they are to be written to the
 * spans. */
bool hearthi_log_append(struct hearthi_log *log, uint32_t room, uint64_t epoch,
                        uint32_t count, struct hearthi_ring_span span[2]);

/* Would that fill it?  Then the spans are the whole log, to be read and merged
 * with what is new. */
bool hearthi_log_is_full(const struct hearthi_log *log, uint32_t room,
                         uint64_t epoch, uint32_t count,
                         struct hearthi_ring_span span[2]);

/* Publish count notices with all of the log, which was read into `all`, where
 * there is space for count more.  Half of the room is free then.  Returns how
 * many of `all` are to be written to the spans, which may be none. */
uint32_t hearthi_log_merge(struct hearthi_log *log, uint32_t room,
                           struct hearthi_notice       *all,
                           const struct hearthi_notice *n, uint32_t count,
                           struct hearthi_ring_span span[2]);

#endif
