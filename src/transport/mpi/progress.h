/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Operations that need help at their target, and which thread gives it.
 *
 * A passive one-sided operation may have to wait until its target calls MPI.
 * A probe finds out which do, and a helper thread at the target then serves
 * them.  A helper that polls by time is either slow or dear: a nap of 20 us
 * takes half of a computing thread's core, one of 1 ms makes each fault take a
 * millisecond.  So the helper sleeps at a doorbell, a datagram socket, and a
 * rank that has waited in vain for some microseconds rings it.  It does not
 * stay awake while threads of its own rank are inside MPI or Hearth: they
 * serve, and it would take the core from them.
 */
#ifndef HEARTHI_TRANSPORT_MPI_PROGRESS_H
#define HEARTHI_TRANSPORT_MPI_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster.h"

/* What is told apart: moving bytes on the heap window, an atomic on it, and
 * one on the window of the locks. */
enum hearthi_operation {
    HEARTHI_PAGE,
    HEARTHI_WORD,
    HEARTHI_LOCK,
    HEARTHI_OPERATIONS
};

/* What an operation needs while its target is outside MPI. */
enum hearthi_need {
    HEARTHI_FREE,  /* nothing: it completes */
    HEARTHI_WAITS, /* help; the call returns, and the result can be seen */
    HEARTHI_BLOCKS /* help; only a call that blocks shows the result */
};

struct hearthi_help {
    enum hearthi_need need[HEARTHI_OPERATIONS]; /* the same on every rank */
    uint64_t          page_time; /* nanoseconds to get one, at best */
    bool              doorbells; /* every rank has a helper with a doorbell */
    bool              listens;   /* every rank has a thread at its doorbell */
    bool              crowds; /* ... and on some machine ranks share cores */
    int flushes_long; /* that took long: any thread adds (mpi_fabric_wait.c) */
};

extern struct hearthi_help hearthi_help;

/* A rank is never outside MPI for itself. */
static inline enum hearthi_need
hearthi_need_at(enum hearthi_operation operation, int rank)
{
    return rank == hearthi_cluster.rank ? HEARTHI_FREE
                                        : hearthi_help.need[operation];
}

/* ... nor does any operation wait for another rank where all are free. */
static inline bool
hearthi_needs_nobody(void)
{
    for (int i = 0; i < HEARTHI_OPERATIONS; i++)
        if (hearthi_help.need[i] != HEARTHI_FREE)
            return false;
    return true;
}

/* From the kernel, unlike any other. */
uint64_t hearthi_word_unlikely(void);

/* ---- progress.c: the progress engine, and which thread drives it ---- */

/* Enter the progress engine, for the program's threads; those that wait count
 * how often, so that the helper sees whether it is needed.  A count lost
 * between two threads does no harm, so it costs no atomic addition, and it is
 * relaxed, as a guess. */
void     hearthi_progress_drive(void);
uint32_t hearthi_progress_count(void);

/* The same for a thread that may be none of those that MPI may be called by.
 */
void hearthi_mpi_progress(void);

extern atomic_uint hearthi_progress_turns;

static inline void
hearthi_progress_count_one(void)
{
    unsigned c =
        atomic_load_explicit(&hearthi_progress_turns, memory_order_relaxed);

    atomic_store_explicit(&hearthi_progress_turns, c + 1,
                          memory_order_relaxed);
}

/* How many threads are in a step whose call blocks.  Relaxed: a guess for the
 * helper. */
extern atomic_int hearthi_progress_blocked;

/* The same for the helper, and for threads that it cannot rely on.  How long
 * it took if that was several times the shortest one, and so has served a
 * rank; or 0. */
uint64_t hearthi_progress_serve(void);

/* For the helper: it has slept for so long; is this rank inside MPI or Hearth,
 * so that its threads serve others?  Does one of them wait, by a short watch?
 * And have they driven progress since the count was so, if the helper leaves
 * them the core for as short as can be? */
bool hearthi_progress_slept(uint64_t ns);
bool hearthi_progress_is_waiting(void);
bool hearthi_progress_is_driven(uint32_t before);

/* Say once, if this has taken long, for which rank this thread waits.  A rank
 * that cannot be heard at all is not named: its neighbour says so. */
void hearthi_wait_warn(int rank, uint64_t waited);

/* ---- doorbell.c ---- */

/* Collective; true on all ranks or on none. */
bool hearthi_doorbell_open(void);
void hearthi_doorbell_close(void);

/* Wake the helper of a rank, for an operation that was started: one system
 * call, from any thread. */
void hearthi_doorbell_ring(int rank);

/* The helper of a rank naps for short times only, at first. */
void hearthi_doorbell_stay(int rank);

/* The same before an operation whose call blocks, so that it cannot be rung
 * for again: the helper stays until it has come.  Not if that was said just
 * now; nothing without doorbells. */
void hearthi_doorbell_announce(int rank);

/* The same before an atomic step, unless that rank answers by itself, as the
 * steps before have shown; and when the step is complete. */
void hearthi_doorbell_step(int rank);
void hearthi_doorbell_answered(int rank);

/* Wake the helper of a rank for an active message. */
void hearthi_doorbell_mail(int rank);

/* Tell a rank that a lock that its node keeps is wanted. */
void hearthi_doorbell_want(int rank, int lock);

/* Wake the threads of a rank that wait for a lock: it was granted to them. */
void hearthi_doorbell_grant(int rank, int lock);

enum hearthi_rung {
    HEARTHI_SILENT,
    HEARTHI_AM_MAILED,
    HEARTHI_RUNG,
    HEARTHI_ANNOUNCED
};

/* Sleep until a rank rings, or for so long; or only look which ranks have.
 * For the helper. */
enum hearthi_rung hearthi_doorbell_wait(uint64_t ns);
enum hearthi_rung hearthi_doorbell_look(void);

#endif
