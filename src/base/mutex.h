/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The witness of the order of mutexes: mutex.def has them all, and with
 * --enable-debug each thread notes which of them it has.  To take one out of
 * order, or one that the thread has, to give one that it has not, or to leave
 * a public call or a fault with others than it was entered with, ends the job.
 * Without, these functions are what they are made of.
 */
#ifndef HEARTHI_MUTEX_H
#define HEARTHI_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

#include "assert.h"

enum hearthi_mutex {
#define HEARTHI_MUTEX(name, where, what) HEARTHI_MUTEX_##name,
#include "mutex.def"
#undef HEARTHI_MUTEX
    HEARTHI_MUTEXES
};

#ifdef HEARTHI_DEBUG

/* Called before a mutex is taken, so that a thread that would wait for itself
 * says so; when a try has got one, for which no order is needed; and before it
 * is given back. */
void hearthi_witness_take(enum hearthi_mutex m);
void hearthi_witness_tried(enum hearthi_mutex m);
void hearthi_witness_give(enum hearthi_mutex m);

/* Has this thread a mutex?  Which has it, as a set to compare with; and the
 * end of the job if it has others now. */
bool     hearthi_witness_has(enum hearthi_mutex m);
unsigned hearthi_witness_all(void);
void     hearthi_witness_same(unsigned before);

static inline void
hearthi_witness_end(const unsigned *before)
{
    hearthi_witness_same(*before);
}

/* Of a public call or a fault: it ends as it began. */
#define HEARTHI_SAME_MUTEXES                              \
    __attribute__((cleanup(hearthi_witness_end), unused)) \
    const unsigned mutexes_ = hearthi_witness_all()

#else

#define HEARTHI_SAME_MUTEXES _Static_assert(1, "nothing is noted")

static inline void
hearthi_witness_take(enum hearthi_mutex m)
{
    (void)m;
}

static inline void
hearthi_witness_tried(enum hearthi_mutex m)
{
    (void)m;
}

static inline void
hearthi_witness_give(enum hearthi_mutex m)
{
    (void)m;
}

static inline bool
hearthi_witness_has(enum hearthi_mutex m)
{
    (void)m;
    return true;
}

static inline unsigned
hearthi_witness_all(void)
{
    return 0;
}

#endif

/* "The caller has it." */
#define HEARTHI_ASSERT_HAS(name) \
    HEARTHI_ASSERT(hearthi_witness_has(HEARTHI_MUTEX_##name))
#define HEARTHI_ASSERT_HAS_NOT(name) \
    HEARTHI_ASSERT(!hearthi_witness_has(HEARTHI_MUTEX_##name))
#define HEARTHI_ASSERT_HAS_NONE() HEARTHI_ASSERT(hearthi_witness_all() == 0)

static inline void
hearthi_mutex_lock(pthread_mutex_t *mutex, enum hearthi_mutex m)
{
    hearthi_witness_take(m);
    pthread_mutex_lock(mutex);
}

static inline void
hearthi_mutex_unlock(pthread_mutex_t *mutex, enum hearthi_mutex m)
{
    hearthi_witness_give(m);
    pthread_mutex_unlock(mutex);
}

#endif
