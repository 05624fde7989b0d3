/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Operations that need help at their target, and who gives it.
 *
 * A passive one-sided operation may have to wait until its target calls MPI.
 * A probe finds out which do, and a helper thread at the target then serves
 * them.  A helper that polls by time is either slow or dear: a nap of 20 us
 * takes half of a computing thread's core, one of 1 ms makes each fault take
 * a millisecond.  So the helper sleeps at a doorbell, a datagram socket, and
 * whoever has waited in vain for some microseconds rings it.
 */
#ifndef HEARTHI_TRANSPORT_MPI_PROGRESS_H
#define HEARTHI_TRANSPORT_MPI_PROGRESS_H

#include <mpi.h>
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
    bool              bells;     /* every rank has a helper with a doorbell */
    bool              listens;   /* every rank has a thread at its doorbell */
};

extern struct hearthi_help hearthi_help;

/* A rank is never outside MPI for itself. */
static inline enum hearthi_need
hearthi_need_at(enum hearthi_operation operation, int rank)
{
    return rank == hearthi_cluster.rank ? HEARTHI_FREE
                                        : hearthi_help.need[operation];
}

/* From the kernel, unlike any other. */
uint64_t hearthi_word_unlikely(void);

/* ---- progress.c: waits that drive progress ---- */

void hearthi_progress_open(void);
void hearthi_progress_close(void);

/* Enter the progress engine, for the program's threads; those that wait count
 * how often, so that the helper sees whether it is needed. */
void     hearthi_progress_drive(void);
uint32_t hearthi_progress_count(void);

/* The same for the helper. */
void hearthi_progress_look(void);

/* The same after an own step on a window, if those of others need it. */
void hearthi_progress_own(MPI_Win win);

/* Turns after which a wait is long, some 20 us. */
enum { HEARTHI_WAIT_LONG = 128 };

struct hearthi_wait {
    unsigned turn;
    uint64_t ring_at, again; /* when to ring next, and how long after that */
};

/* A wait in which so many bytes move, which takes its time in any case. */
struct hearthi_wait hearthi_wait_begin(size_t bytes);

/* A fruitless turn: yields now and then; true if it is time to ring. */
bool hearthi_wait_turn(struct hearthi_wait *w);

/* Say once, if this has taken long, for whom this thread waits.  A rank that
 * cannot be heard at all is not named: its neighbour says so. */
void hearthi_wait_warn(int rank, uint64_t waited);

/* ---- mpi_fabric_wait.c ---- */

/* Complete requests, each of an operation at a rank; null ones are, and in the
 * end those that MPI has lost.  may_nap: if other threads wait, too, and
 * nobody for this one. */
void hearthi_wait_requests(MPI_Request *request, const int *rank, int n,
                           size_t bytes, bool may_nap);

/* Complete what was started on up to TARGETS windows, each at one rank.
 * `last` holds for each the request of its last operation, or null. */
enum { HEARTHI_TARGETS = 32 };
void hearthi_wait_flush(const MPI_Win *win, MPI_Request *last, const int *rank,
                        int n, size_t bytes);

/* ---- mpi_fabric_probe.c ---- */

/* Fill hearthi_help but for the bells.  Collective; takes some milliseconds.
 */
void hearthi_probe(void);

/* ---- doorbell.c ---- */

/* Collective; true on all ranks or on none. */
bool hearthi_doorbell_open(void);
void hearthi_doorbell_close(void);

/* Wake the helper of a rank, for an operation that was started: one system
 * call, from any thread. */
void hearthi_doorbell_ring(int rank);

/* The same before an operation whose call blocks, so that it cannot be rung
 * for again: the helper stays until it has come.  Not if that was said just
 * now; nothing without bells. */
void hearthi_doorbell_announce(int rank);

/* Wake the helper of a rank for a letter. */
void hearthi_doorbell_mail(int rank);

/* Tell a rank that a lock that its node keeps is wanted. */
void hearthi_doorbell_want(int rank, int lock);

enum hearthi_rung {
    HEARTHI_SILENT,
    HEARTHI_AM_MAILED,
    HEARTHI_RUNG,
    HEARTHI_ANNOUNCED
};

/* Sleep until somebody rings, or for so long; or only look who has.  For the
 * helper. */
enum hearthi_rung hearthi_doorbell_wait(uint64_t ns);
enum hearthi_rung hearthi_doorbell_look(void);

#endif
