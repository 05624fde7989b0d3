/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Cancellation of threads (pthread_cancel(3)): a fault and a public call are
 * not cancelled in the middle, where they hold the page table, a slot of the
 * transport or half of a message that others wait for.  A cancel that comes
 * meanwhile is acted on afterwards.
 *
 * A fault is in a signal handler, and pthread_setcancelstate() is promised to
 * signal handlers by POSIX.1-2024 only; older ones promise it to code that may
 * be cancelled at any moment, which asks for as much.  In glibc and musl it is
 * a store, or one atomic step in a loop, on the thread's own descriptor:
 * nothing is locked or allocated.
 *
 * The state before is kept by the function that changes it, not in one place
 * for the thread: so a call in a call, and a fault in the program's signal
 * handler between two instructions of this, put back what they have found.
 */
#ifndef HEARTHI_CANCEL_H
#define HEARTHI_CANCEL_H

#include <pthread.h>

#include "mutex.h"

static inline int
hearthi_cancel_off(void)
{
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void
hearthi_cancel_restore(const int *before)
{
    int unused;

    pthread_setcancelstate(*before, &unused);
}

/* The first declaration of a function that is not to be cancelled; every
 * return puts back what was.  Nothing may be held then.  (clang says "unused"
 * of what only a cleanup reads.) */
#define HEARTHI_UNCANCELLED                                  \
    HEARTHI_SAME_MUTEXES;                                    \
    __attribute__((cleanup(hearthi_cancel_restore), unused)) \
    const int uncancelled_ = hearthi_cancel_off()

#endif
