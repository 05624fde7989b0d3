/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The fabric: how bytes and words of other nodes' ranks are reached.  The
 * engine of the one-sided transport is all else in this folder, and calls
 * nothing but this between nodes.
 *
 *   mpi   windows of MPI-3 RMA (mpi_fabric.h)
 *   shm   ranks of one machine, by memory that all of them map (shm_fabric.c)
 *   none  one node: nothing is to be reached, the node layer does it all
 *
 * To write another one: a file with a prefix of its own that has a table of
 * struct hearthi_fabric_ops and what stands here twice, as hearthi_mpi_... and
 * as hearthi_shm_...; a value of HEARTH_FABRIC; and a branch in each of the
 * inline functions, for which hearthi_fabric_is_shm becomes an enumeration.
 * tests/transport/mpi/fabric.c then says whether it does what it owes.
 *
 * What an implementation owes
 *
 * Memory.  Each rank has two *regions*, and any rank reaches those of all
 * others, and its own, by rank and offset.  *Home* is the rank's segment
 * (space/segment.h), made before the fabric opens; a rank uses no byte of it
 * before home_grow has been told of it, on every rank, which may take place
 * while operations on other bytes are under way.  *Sync* is made by the
 * fabric, of the same size on each rank, and does not grow.  The ranks of a
 * node load from, and store to, home memory of their node, and a rank loads
 * from its own sync region, without a call: what others put there must come to
 * be seen so, as in the unified model of MPI's RMA.
 *
 * Bounds.  Offsets and lengths are within a region; lengths are above 0 and
 * may be as much as a region's.  Words of an atomic step are aligned to their
 * size.  What is put may be of any alignment, and no other byte may change,
 * not even to what it was: others store beside it meanwhile.  A fabric that
 * can have no more than so many operations under way waits by itself, and each
 * ends without the beginning of another one.
 *
 * Counts.  A get or put adds to the `count` and `bytes` of its batch: nothing
 * is waited for in a batch of none.  Each operation is told to
 * hearthi_mpi_count() (mpi.h), from which the counters of messages are made.
 *
 * Order and completion.  Operations of a batch, or of a thread on sync
 * regions, may happen in any order until they are waited for.  A get is done
 * when its bytes are there; nothing is written there later.  A put is done
 * when loads of the target's processors, and all operations that begin
 * afterwards anywhere, see it; its source stays as it is until then.  Eight
 * aligned bytes may be seen half old and half new by a get that meets a put.
 * An atomic step is done on return, after all that its thread has waited for
 * before.  Steps on one word of one width are atomic to each other, of all
 * ranks and threads, also on a rank's own word; not to puts, nor to what a
 * processor does to the word.
 *
 * Threads.  Every function but those that say otherwise may be called by
 * several threads at a time, at the level that MPI was initialised with; a
 * batch by one of them.  What waits gives its core to others and drives the
 * progress of others' operations (as mpi_fabric_wait.c does), and an operation
 * is done in the end even if its target's threads never call Hearth or MPI
 * again, but for targets whose `need` says so.
 *
 * Signal handlers.  A page fault's handler gets, puts and waits, in a thread
 * that may be anywhere in the program but in MPI or Hearth.  So no function
 * here touches the heap's application view, takes the lock of the page table,
 * or takes a lock that a thread has while it may fault; and errno may change.
 */
#ifndef HEARTHI_FABRIC_H
#define HEARTHI_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/atomic_op.h"

extern bool hearthi_fabric_is_shm; /* the one in use */

/* Operations that were begun on home regions, and are waited for together.
 * Zeros but for its kind are an empty one. */
enum hearthi_fabric_batch_kind {
    HEARTHI_BATCH_TABLE, /* of the thread that has the page table's lock */
    HEARTHI_BATCH_FIRST, /* of a fetch beside that lock, the first of them */
    HEARTHI_BATCH_WAY,   /* or another: HEARTHI_WAYS and a few at a time */
    HEARTHI_BATCH_KINDS
};

enum { HEARTHI_BATCH_ROOM = 2048 };

struct hearthi_fabric_batch {
    enum hearthi_fabric_batch_kind kind;
    int                            count; /* of operations not waited for */
    size_t                         bytes; /* that these move */

    /* The fabric's own; the numbers are 0 at first. */
    int  targets, gets;
    bool puts;
    _Alignas(max_align_t) char room[HEARTHI_BATCH_ROOM];
};

static inline void
hearthi_fabric_batch_begin(struct hearthi_fabric_batch   *b,
                           enum hearthi_fabric_batch_kind kind)
{
    b->kind = kind;
    b->count = b->targets = b->gets = 0;
    b->bytes = 0;
    b->puts = false;
}

/* What a step does to a word of a sync region. */
enum hearthi_fabric_op {
    HEARTHI_OP_READ, /* nothing */
    HEARTHI_OP_ADD,
    HEARTHI_OP_SWAP
};

/* ---- start, end and the leaders of nodes ---- */

enum { HEARTHI_EXCHANGE_MOST = 64 };

struct hearthi_fabric_ops {
    const char *name;

    /* Does it work among these ranks?  It ends the job if not.  Collective;
     * before all else. */
    void (*check)(void);

    /* May a network card hold the physical pages of home memory, or of
     * buffers? */
    bool registers;

    /* Collective.  home_grow: so many frames of each segment, from the first
     * on, can be reached from here on: the same number on every rank.
     * Blocks. */
    void (*home_open)(void);
    void (*home_close)(void);
    void (*home_grow)(uint64_t frames);

    /* Collective: so many bytes on each rank, and where this rank's are; any
     * bytes may be in them.  Then, when each rank has written there what is to
     * be there at first, ready lets all see that. */
    void *(*sync_open)(size_t bytes);
    void (*sync_ready)(void);
    void (*sync_close)(void);

    /* Find out which operations need help at a target outside MPI and Hearth,
     * and fill hearthi_help (progress.h) but for the doorbells.  Collective;
     * when both regions are open. */
    void (*probe)(void);

    /* Of the leaders of nodes, by one thread of each, one call after the
     * other, the same on each.  Both block, and serve others meanwhile.
     *
     * exchange: each gives so many bytes, at most HEARTHI_EXCHANGE_MOST, in
     * the first block of `all`, and gets the blocks of the others behind it:
     * the i-th is of the leader of node (own + i) modulo nodes.
     *
     * gather: each gives as many bytes as its node's entry of counts says,
     * from where the entry of starts says in `all`, and gets those of the
     * others, at their entries.  All have the same counts, each of which is
     * that of HEARTHI_BARRIER_NOTICES_MAX notices at most. */
    void (*exchange)(void *all, size_t bytes);
    void (*gather)(void *all, const int *counts, const int *starts);
};

extern const struct hearthi_fabric_ops *hearthi_fabric; /* in use */
extern const struct hearthi_fabric_ops  hearthi_mpi_fabric, hearthi_shm_fabric;

/* The one that HEARTH_FABRIC names.  Collective; on one node, too, where there
 * is nothing to be reached. */
void hearthi_fabric_open(void);
void hearthi_fabric_close(void);

/* Give MPI's progress engine a moment: operations that have this rank as their
 * target may need it, and MPI's messages of the program's own do, over any
 * fabric.  One that has an engine of its own adds its call there.  Cheap. */
void hearthi_fabric_look(void);

/* ---- home regions ---- */

/* Begin to get bytes from a rank's segment; more_follow: at least one more get
 * of this rank follows in the batch.  Begin to put some; and wait for all. */
void hearthi_mpi_batch_get(struct hearthi_fabric_batch *b, int rank, size_t at,
                           void *to, size_t len, bool more_follow);
void hearthi_mpi_batch_put(struct hearthi_fabric_batch *b, int rank, size_t at,
                           const void *from, size_t len);
void hearthi_mpi_batch_wait(struct hearthi_fabric_batch *b);
void hearthi_shm_batch_get(struct hearthi_fabric_batch *b, int rank, size_t at,
                           void *to, size_t len);
void hearthi_shm_batch_put(struct hearthi_fabric_batch *b, int rank, size_t at,
                           const void *from, size_t len);

static inline void
hearthi_fabric_get(struct hearthi_fabric_batch *b, int rank, size_t at,
                   void *to, size_t len, bool more_follow)
{
    if (hearthi_fabric_is_shm)
        hearthi_shm_batch_get(b, rank, at, to, len);
    else
        hearthi_mpi_batch_get(b, rank, at, to, len, more_follow);
}

static inline void
hearthi_fabric_put(struct hearthi_fabric_batch *b, int rank, size_t at,
                   const void *from, size_t len)
{
    if (hearthi_fabric_is_shm)
        hearthi_shm_batch_put(b, rank, at, from, len);
    else
        hearthi_mpi_batch_put(b, rank, at, from, len);
}

/* For the fence of a wait, here and below, see shm_fabric.c. */
static inline void
hearthi_fabric_wait(struct hearthi_fabric_batch *b)
{
    if (b->count == 0)
        return;
    if (hearthi_fabric_is_shm)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    else
        hearthi_mpi_batch_wait(b);
    hearthi_fabric_batch_begin(b, b->kind);
}

/* Read a few bytes of the head of a segment, below its frames.  Blocks. */
void hearthi_mpi_home_read(int rank, size_t at, void *to, size_t len);
void hearthi_shm_home_read(int rank, size_t at, void *to, size_t len);

static inline void
hearthi_fabric_home_read(int rank, size_t at, void *to, size_t len)
{
    if (hearthi_fabric_is_shm)
        hearthi_shm_home_read(rank, at, to, len);
    else
        hearthi_mpi_home_read(rank, at, to, len);
}

/* One atomic step; what was there.  Blocks. */
uint64_t hearthi_mpi_home_atomic(int rank, size_t at,
                                 const struct hearthi_atomic_op *s);
uint64_t hearthi_shm_home_atomic(int rank, size_t at,
                                 const struct hearthi_atomic_op *s);

static inline uint64_t
hearthi_fabric_home_atomic(int rank, size_t at,
                           const struct hearthi_atomic_op *s)
{
    return hearthi_fabric_is_shm ? hearthi_shm_home_atomic(rank, at, s)
                                 : hearthi_mpi_home_atomic(rank, at, s);
}

/* Many adds to words of one home, as atomic as a step; several are under way
 * at a time.  Blocks. */
void hearthi_mpi_home_adds(const struct hearthi_add_run *run);
void hearthi_shm_home_adds(const struct hearthi_add_run *run);

static inline void
hearthi_fabric_home_adds(const struct hearthi_add_run *run)
{
    if (hearthi_fabric_is_shm)
        hearthi_shm_home_adds(run);
    else
        hearthi_mpi_home_adds(run);
}

/* May a thread at the home do the adds of others, as atomic as a step, and is
 * that cheaper than to do them from here? */
bool hearthi_mpi_home_does_adds(void);

static inline bool
hearthi_fabric_home_does_adds(void)
{
    return !hearthi_fabric_is_shm && hearthi_mpi_home_does_adds();
}

/* ---- sync regions ---- */

/* Begin to get and to put bytes; and wait for all that this thread has begun
 * at a rank. */
void hearthi_mpi_sync_get(int rank, size_t at, void *to, size_t len);
void hearthi_mpi_sync_put(int rank, size_t at, const void *from, size_t len);
void hearthi_mpi_sync_wait(int rank);
void hearthi_shm_sync_get(int rank, size_t at, void *to, size_t len);
void hearthi_shm_sync_put(int rank, size_t at, const void *from, size_t len);

static inline void
hearthi_fabric_sync_get(int rank, size_t at, void *to, size_t len)
{
    if (hearthi_fabric_is_shm)
        hearthi_shm_sync_get(rank, at, to, len);
    else
        hearthi_mpi_sync_get(rank, at, to, len);
}

static inline void
hearthi_fabric_sync_put(int rank, size_t at, const void *from, size_t len)
{
    if (hearthi_fabric_is_shm)
        hearthi_shm_sync_put(rank, at, from, len);
    else
        hearthi_mpi_sync_put(rank, at, from, len);
}

static inline void
hearthi_fabric_sync_wait(int rank)
{
    if (hearthi_fabric_is_shm)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    else
        hearthi_mpi_sync_wait(rank);
}

/* One atomic step on a word of 8 bytes; what was there.  Blocks. */
uint64_t hearthi_mpi_sync_step(int rank, size_t at, enum hearthi_fabric_op op,
                               uint64_t value);
uint64_t hearthi_shm_sync_step(int rank, size_t at, enum hearthi_fabric_op op,
                               uint64_t value);

static inline uint64_t
hearthi_fabric_sync_step(int rank, size_t at, enum hearthi_fabric_op op,
                         uint64_t value)
{
    return hearthi_fabric_is_shm ? hearthi_shm_sync_step(rank, at, op, value)
                                 : hearthi_mpi_sync_step(rank, at, op, value);
}

#endif
