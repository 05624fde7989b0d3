/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks, flags, condition variables and reader-writer locks, as a transport
 * (transport.h) has them.
 */
#ifndef HEARTHI_SYNC_OPS_H
#define HEARTHI_SYNC_OPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock_key.h"
#include "log.h"
#include "notice/notice.h"

/* This rank's epochs, kept by the layer above: barriers begun and barriers
 * passed, and one.  Both move while a thread waits for a lock or flag.
 *
 * No rank publishes in an epoch later than release + 1 or acquire + 2 of any
 * rank, as these are after what was published was seen: a rank that publishes
 * in epoch e + 1 has begun e barriers and passed e - 1, so that each rank has
 * begun e - 1 of them and passed e - 2. */
struct hearthi_epochs {
    _Atomic uint64_t release, acquire;
};
extern struct hearthi_epochs hearthi_epochs;

/* What an acquire learns.  The caller sets epoch, pos and room for notices. */
struct hearthi_grant {
    uint64_t epoch; /* for which pos counts; may move on while waiting */
    uint32_t pos;   /* in: log read so far in this epoch; out: now */
    size_t   n;
    bool     invalidate_all; /* the log had overflowed, or is ahead */
    bool     again;          /* a lock that this rank had last, too */
    uint64_t ahead;          /* 0, or its epoch after ours: everything, too */
    struct hearthi_notice notice[HEARTHI_LOG];
};

struct hearthi_sync_ops {
    /* acquire takes a lock, in a fair queue, and reads its log.  With `try`
     * it returns false instead of waiting for another holder. */
    bool (*acquire)(int sync, bool try, struct hearthi_grant *g);

    /* release publishes notices in the lock's log, as of an epoch of this rank
     * or a later one, and passes the lock on; more than a log holds are
     * published as "invalidate_all". */
    void (*release)(int sync, uint64_t epoch, const struct hearthi_notice *n,
                    size_t count);

    /* delegate lets a lock that this rank holds stay here, released for its
     * own threads only (lock_delegation.h).  From then on a rank that asks for
     * it is made known by hearthi_delegation_want(), until it is released.
     * False if a rank waits for it already, or none could ask: it is to be
     * released. */
    bool (*delegate)(int lock);

    /* begin makes a lock ready that is given a name (lock_names.h), before any
     * rank uses it.  Blocks.  NULL: it is ready. */
    void (*begin)(int lock);

    /* A flag is a synchronisation object with a value.  set publishes as
     * release does; wait blocks until the value is 1 and reads the log. */
    void (*flag_set)(int sync, const struct hearthi_notice *n, size_t count);
    void (*flag_wait)(int sync, struct hearthi_grant *g);
    void (*flag_reset)(int sync);

    /* Of a flag that this rank manages, while no rank changes it: on any
     * thread, without waiting.  NULL: it cannot be told. */
    bool (*flag_is_set)(int sync);

    /* A condition variable: enter takes a place in its queue, inside the
     * program's lock; wait blocks until that place was woken; wake wakes the
     * first that was not, or all that have entered.  None of it publishes
     * anything: the lock does. */
    uint64_t (*cond_enter)(int sync);
    void (*cond_wait)(int sync, uint64_t place);
    void (*cond_wake)(int sync, bool all);

    /* abandoned_locks adds the locks that another rank has, which is gone,
     * held or kept, as far as this rank knows: on any thread, at any time
     * between open and close.  Does not wait. */
    void (*abandoned_locks)(int rank, struct hearthi_abandoned_locks *l);

    /* A reader-writer lock: acquire enters, among the readers or to `write`,
     * and reads the log as acquire of a lock does; phase-fair, and a try does
     * not wait for a thread that is inside. release publishes before it lets
     * others in.
     */
    bool (*rw_acquire)(int sync, bool write, bool try,
                       struct hearthi_grant *g);
    void (*rw_release)(int sync, bool write, const struct hearthi_notice *n,
                       size_t count);
};

#endif
