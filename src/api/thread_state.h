/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The threads of the program that call: what each holds, and what it waits in.
 * A thread that ends with a lock, and a rank that ends with one or while a
 * thread waits, would let others wait for ever, so that ends the job with a
 * line.
 */
#ifndef HEARTHI_THREAD_STATE_H
#define HEARTHI_THREAD_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mutex.h"
#include "hearth/hearth.h"
#include "transport/lock_key.h"
#include "world.h"

/* Of a thread, which alone writes it; others read what it waits in. */
struct hearthi_thread_state {
    struct hearthi_thread_state *next;
    int                          held; /* locks */
    bool                         known;
    _Atomic uintptr_t            call;   /* its name, or 0; HEARTHI_SEEN */
    atomic_int                   number; /* of what it waits for, or below 0 */
    uint64_t                     waited; /* of who watches: in this call */
    int                          tid;    /* as the kernel numbers threads */
    const void                  *identity; /* hearthi_thread() of it */
    const uint64_t *reads; /* a bit for each reader-writer lock, or NULL */
    bool marked;           /* of who watches: by the first look at this wait */

    /* A call of MPI's that waits, and for which rank: filled only where
     * HEARTH_DEADLOCK asks for it (front/mpi_waits.c). */
    _Atomic uintptr_t mpi_call; /* its name, or 0; HEARTHI_SEEN */
    atomic_int        mpi_peer;
    uint64_t          mpi_waited; /* of who watches */
};

/* What is no number: that of a call that names nothing, and of a collective
 * call, which is watched in life/collective_watch.h. */
enum { HEARTHI_NO_NUMBER = -1, HEARTHI_OF_ALL = -2 };

/* Set in the call by the thread that watches.  A wait that begins or ends
 * clears it, as each stores the whole word: so one that has it is the same
 * wait as before, and the thread that waits has nothing to count. */
#define HEARTHI_SEEN ((uintptr_t)1 << 63)

extern _Thread_local __attribute__((tls_model(
    "initial-exec"))) struct hearthi_thread_state hearthi_thread_state;

/* The thread of this rank that holds each lock.  A thread only asks whether it
 * is the one, so no order is needed between threads. */
extern const void *_Atomic *hearthi_holder;

void hearthi_thread_states_open(void);
void hearthi_thread_states_close(void);

/* In a child of fork(2). */
void hearthi_thread_states_forked(void);

/* The first time that this thread calls. */
void hearthi_thread_state_begin(void);

static inline bool
hearthi_thread_state_holds(int lock)
{
    return atomic_load_explicit(&hearthi_holder[lock], memory_order_relaxed) ==
           hearthi_thread();
}

static inline void
hearthi_holder_set(int lock, const void *thread)
{
    atomic_store_explicit(&hearthi_holder[lock], thread, memory_order_relaxed);
}

static inline void
hearthi_thread_state_took(int lock)
{
    if (!hearthi_thread_state.known)
        hearthi_thread_state_begin();
    HEARTHI_ASSERT(hearthi_holder[lock] == NULL &&
                   hearthi_thread_state.held >= 0);
    hearthi_holder_set(lock, hearthi_thread());
    hearthi_thread_state.held++;
}

/* A call that may wait begins and ends. */
static inline void
hearthi_thread_state_waits(const char *call, int number)
{
    if (!hearthi_thread_state.known)
        hearthi_thread_state_begin();
    HEARTHI_ASSERT_HAS_NOT(TABLE);
    /* The number comes after the end of the call before, and the call after
     * its number: hearthi_thread_state_call() loads them the other way. */
    atomic_store_explicit(&hearthi_thread_state.number, number,
                          memory_order_release);
    atomic_store_explicit(&hearthi_thread_state.call, (uintptr_t)call,
                          memory_order_release);
}

/* Relaxed: the release of the next number is what orders it. */
static inline void
hearthi_thread_state_goes_on(void)
{
    atomic_store_explicit(&hearthi_thread_state.call, 0, memory_order_relaxed);
}

/* "lock 9 is", "lock 9 and 2 more are": held by threads of this rank, or by
 * one.  False if there is none. */
bool hearthi_held_text(char *text, size_t room, const void *thread);

/* Add the locks that threads of this rank wait for in vain, since their
 * manager is gone. */
void hearthi_thread_states_lost(int                             rank,
                                struct hearthi_abandoned_locks *lost);

/* What a thread of this rank waits in, "hearth_lock (9)"; false: none does. */
bool hearthi_thread_states_wait(char *text, size_t room);

/* Once a beat: for how long, of beats that were seen, the one thread of this
 * rank has waited that waits longest in a call that not all make, and in what;
 * 0: none does. */
uint64_t hearthi_thread_states_stalled(uint64_t beat, char *text, size_t room);

/* ---- thread_waits.c ---- */

/* For life/deadlock.h. */
extern const struct hearthi_deadlock_view hearthi_thread_waits;

/* Call for each thread that calls, with a mutex that each of them takes when
 * it begins and ends. */
void hearthi_thread_states_each(void (*look)(struct hearthi_thread_state *u,
                                             void                        *to),
                                void *to);

/* What it waits in, and the number, or NULL. */
const char *hearthi_thread_state_call(struct hearthi_thread_state *u,
                                      int                         *number);

/* Where in the program a thread is, or the only one, 0: "main.c:80", or ""
 * (thread_place.c).  Its signals are not the program's any more. */
void hearthi_thread_place(int thread, char *text, size_t room);

/* A reader-writer lock is held to write by which thread, or NULL. */
const void *hearthi_rwlock_writer(int rwlock);

/* One that a thread of this rank holds, or -1. */
int hearthi_rwlock_held(void);

/* End the job if this rank may not end: it has locks, or threads that wait. */
void hearthi_thread_states_check(const char *call);

#endif
