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

#include "hearth/hearth.h"
#include "transport/abandoned_locks.h"
#include "world.h"

/* Of a thread, which alone writes it; others read what it waits in. */
struct hearthi_thread_state {
    struct hearthi_thread_state *next;
    int                          held; /* locks */
    bool                         known;
    _Atomic(const char *)        call;   /* it waits in, or NULL */
    atomic_int                   number; /* of what it waits for, or -1 */
};

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
    hearthi_holder_set(lock, hearthi_thread());
    hearthi_thread_state.held++;
}

/* A call that may wait begins and ends. */
/* What is no number: that of a call that names nothing. */
enum { HEARTHI_NO_NUMBER = -1 };

static inline void
hearthi_thread_state_waits(const char *call, int number)
{
    if (!hearthi_thread_state.known)
        hearthi_thread_state_begin();
    atomic_store_explicit(&hearthi_thread_state.number, number,
                          memory_order_relaxed);
    atomic_store_explicit(&hearthi_thread_state.call, call,
                          memory_order_relaxed);
}

static inline void
hearthi_thread_state_goes_on(void)
{
    atomic_store_explicit(&hearthi_thread_state.call, NULL,
                          memory_order_relaxed);
}

/* "lock 9 is", "lock 9 and 2 more are": held by threads of this rank, or by
 * one.  False if there is none. */
bool hearthi_held_text(char *text, size_t room, const void *thread);

/* Add the locks that threads of this rank wait for in vain, since their
 * manager is gone. */
void hearthi_thread_states_lost(int                             rank,
                                struct hearthi_abandoned_locks *lost);

/* End the job if this rank may not end: it has locks, or threads that wait. */
void hearthi_thread_states_check(const char *call);

#endif
