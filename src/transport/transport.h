/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The seam: what carries pages, diffs, locks and barriers between nodes.  The
 * layers above never call RMA or sockets; a transport never knows what a diff
 * is for.  To add one: one folder, one table of functions, one row in
 * transport.c.
 *
 * "Blocks" below means: drives the progress of others while it waits, and
 * yields the core.
 */
#ifndef HEARTHI_TRANSPORT_H
#define HEARTHI_TRANSPORT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test_limits.h"
#include "notice/notice.h"
#include "transport/abandoned_locks.h"
#include "transport/atomic_op.h"
#include "transport/log.h"

/* A run of pages with one home and neighbouring frames, there and here. */
struct hearthi_fetch {
    uint64_t page;
    uint32_t count;
    int      home;
    uint64_t frame;
    char    *to;       /* the system view of their cached frames */
    bool     announce; /* set the pages' shared flags at the home as well */

    /* So many pages behind them, of the same home and at neighbouring frames,
     * will probably be fetched next; their flags.  To a transport that can
     * bring them nearer it is a hint. */
    bool     announce_behind;
    uint32_t behind;
};

/* This rank's epochs, kept by the layer above: barriers begun and barriers
 * passed, and one.  Both move while a thread waits for a lock or flag.
 *
 * Nobody publishes in an epoch later than release + 1 or acquire + 2 of any
 * rank, as these are after what was published was seen: who publishes in epoch
 * e + 1 has begun e barriers and passed e - 1, so that each rank has begun
 * e - 1 of them and passed e - 2. */
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
    bool     again;      /* a lock that this rank had last, too */
    uint64_t ahead;      /* 0, or its epoch after ours: everything, too */
    struct hearthi_notice notice[HEARTHI_LOG];
};

/* Runs that a barrier exchanges, of one rank and of all. */
enum {
    HEARTHI_NOTICES_OF_ONE = HEARTHI_TEST_LIMIT(16384, 40),
    HEARTHI_BARRIER_NOTICES_MAX = HEARTHI_TEST_LIMIT(131072, 64)
};

/* What a barrier learnt; valid until the next barrier.  `moves`: this rank
 * asks whether pages move, and then that some rank did. */
struct hearthi_barrier_notices {
    bool                         moves;
    const struct hearthi_notice *notice;
    size_t                       n;
    bool                         invalidate_all;
};

/* Fetches at a time, beside one another; the last way is for ranks of other
 * clusters. */
enum { HEARTHI_WAYS = 16, HEARTHI_WAY_BESIDE = HEARTHI_WAYS - 1 };

struct hearthi_transport_ops {
    const char *name;

    /* Names of the kinds of its messages, and of its reasons to refuse one,
     * as the tally (stat.h) numbers them from 0 on; NULL behind the last. */
    const char *(*kind_name)(unsigned i);
    const char *(*reason_name)(unsigned i);

    /* Collective; after the segments.  Ends the job if it cannot work here. */
    void (*open)(void);
    void (*close)(void);

    /* registers tells whether a network card may hold the physical pages of
     * what this transport was given, home frames that can be reached and the
     * buffers of fetch and diff (but for messages that are received aside
     * while another is, which are the C library's): then none of them is
     * punched, unmapped or mapped anew before close, since the card would keep
     * the old ones. */
    bool (*registers)(void);

    /* reach makes so many frames of each segment reachable, from the first
     * on, before any of them is used.  Collective, with the same number on
     * every rank, and without the table's lock.  Blocks. */
    void (*reach)(uint64_t frames);

    /* fetch brings n runs to where their cached frames are, and sets their
     * shared flags if asked, in any order.  Blocks until all that has
     * happened, and what was told before has arrived: nothing is written there
     * after it returns, for then the frames may belong to other pages. */
    void (*fetch)(const struct hearthi_fetch *run, size_t n);

    /* bring does the same for several threads at a time, each with a way of
     * its own (below HEARTHI_WAYS), beside all other calls; but what was told
     * may arrive later. */
    void (*bring)(int way, const struct hearthi_fetch *run, size_t n);

    /* bring_begin does what bring does on the first way, and need not wait:
     * true if it did not, as the program had better go on meanwhile.  Then
     * bring_end blocks until all of it has happened.  Under the lock of the
     * page table, one after the other, but by any thread. */
    bool (*bring_begin)(const struct hearthi_fetch *run, size_t n);
    void (*bring_end)(void);

    /* diff brings changed bytes to an offset of home's segment, some time
     * before the next flush returns; src stays untouched until then.  What
     * sends messages of its own cuts no aligned word of 8 bytes
     * (word_split.h). */
    void (*diff)(int home, size_t offset, const void *src, size_t len);

    /* patch does that for many runs: bytes of blocks of 64 whose bits are set
     * in a block's mask, of the first byte the lowest one.  False: nothing was
     * done, and they are to come by diff.  May be NULL. */
    bool (*patch)(int home, size_t offset, const char *src,
                  const uint64_t *mask, size_t blocks, size_t runs);

    /* store does what diff does, beside all other calls, by one thread; and
     * stored blocks until all of that has arrived. */
    void (*store)(int home, size_t offset, const void *src, size_t len);
    void (*stored)(void);

    /* tell changes this rank's word in home's segment, some time before the
     * next flush or fetch returns, to a value that it never had (segment.h).
     */
    void (*tell)(int home);

    /* flush blocks until every diff has arrived. */
    void (*flush)(void);

    /* acquire takes a lock, in a fair queue, and reads its log.  With `try`
     * it returns false instead of waiting for another holder. */
    bool (*acquire)(int sync, bool try, struct hearthi_grant *g);

    /* release publishes notices in the lock's log, as of an epoch of this rank
     * or a later one, and passes the lock on; more than a log holds are
     * published as "everything". */
    void (*release)(int sync, uint64_t epoch, const struct hearthi_notice *n,
                    size_t count);

    /* keep lets a lock that this rank holds stay here, released for its own
     * threads only (lock_delegation.h).  From then on somebody who asks for it
     * is made known by hearthi_delegation_want(), until it is released.  False
     * if somebody waits for it already, or nobody could ask: it is to be
     * released. */
    bool (*keep)(int lock);

    /* begin makes a lock ready that is given a name (lock_names.h), before any
     * rank uses it.  Blocks.  NULL: it is ready. */
    void (*begin)(int lock);

    /* barrier waits for every rank and exchanges what each has written since
     * the last barrier, at most HEARTHI_NOTICES_OF_ONE runs; what is more than
     * HEARTHI_BARRIER_NOTICES_MAX of all together is merged.  Of a notice of
     * the news the writer says whether it was this rank, and no more: runs of
     * ranks elsewhere may be joined, and this rank's own left out.  Blocks. */
    void (*barrier)(const struct hearthi_notice *own, size_t n,
                    bool invalidate_all, struct hearthi_barrier_notices *news);

    /* A flag is a synchronisation object with a value.  set publishes as
     * release does; wait blocks until the value is 1 and reads the log. */
    void (*flag_set)(int sync, const struct hearthi_notice *n, size_t count);
    void (*flag_wait)(int sync, struct hearthi_grant *g);
    void (*flag_reset)(int sync);

    /* A condition variable: enter takes a place in its queue, inside the
     * program's lock; wait blocks until that place was woken; wake wakes the
     * first that was not, or all that have entered.  None of it publishes
     * anything: the lock does. */
    uint64_t (*cond_enter)(int sync);
    void (*cond_wait)(int sync, uint64_t place);
    void (*cond_wake)(int sync, bool all);

    /* lost adds the locks that another rank has, which is gone, held or kept,
     * as far as this rank knows: on any thread, at any time between open and
     * close.  Does not wait. */
    void (*lost)(int rank, struct hearthi_abandoned_locks *l);

    /* A reader-writer lock: acquire enters, among the readers or to `write`,
     * and reads the log as acquire of a lock does; phase-fair, and a try waits
     * for nobody who is inside.  release publishes before it lets others in.
     */
    bool (*rw_acquire)(int sync, bool write, bool try,
                       struct hearthi_grant *g);
    void (*rw_release)(int sync, bool write, const struct hearthi_notice *n,
                       size_t count);

    /* forget: no page of a run (count may be HEARTHI_INVALIDATE_ALL) is
     * fetched from here on as it was before this call, by whomever it is kept
     * on its way.  NULL: nobody does that.  Under the lock of the page table.
     */
    void (*forget)(uint64_t page, uint32_t count);

    /* One atomic step on a word of home's segment, aligned to its size; gives
     * what was there.  Atomic to all other steps on that word that come this
     * way, of all ranks and threads, as long as they are as wide; bytes beside
     * it stay as they are, whoever stores to them meanwhile.  Blocks. */
    uint64_t (*atomic)(int home, size_t offset,
                       const struct hearthi_atomic_op *s);

    /* Let others be served.  Local, cheap. */
    void (*progress)(void);
};

extern const struct hearthi_transport_ops *hearthi_transport; /* in use */

extern const struct hearthi_transport_ops hearthi_transport_mpi;
extern const struct hearthi_transport_ops hearthi_transport_udp;
extern const struct hearthi_transport_ops hearthi_transport_udp_node;

/* The transport that hearthi_opt.transport names.  Collective. */
void hearthi_transport_open(void);

/* Has every rank a core for itself?  Then who waits may spin for a moment:
 * waking a sleeper takes longer than most answers do. */
bool hearthi_may_spin(void);
enum { HEARTHI_SPIN_NS = 50000 };

/* One turn of a waiting loop: spins at first, then drives progress and
 * yields.  Start with *turn == 0. */
void hearthi_relax(unsigned *turn);

/* Blocks until n requests of ours are done: a collective must not keep the
 * core or stop serving others. */
void hearthi_requests_wait(MPI_Request *request, int n);

#endif
