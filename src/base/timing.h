/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the time of a rank goes.  The program's threads are in calls and
 * faults, whose time goes to one counter each, or they compute.  A thread of
 * the library's own that serves other ranks takes time from the program only
 * while that computes, so the two parts of it are told apart.
 */
#ifndef HEARTHI_TIMING_H
#define HEARTHI_TIMING_H

#include "clock.h"
#include "stat.h"

/* How deep in calls and faults this thread is.  Initial-exec: a signal
 * handler uses it. */
extern _Thread_local __attribute__((tls_model("initial-exec")))
unsigned hearthi_depth;

/* Is a thread of the program in a call or a fault?  Of several threads the
 * last that came or went decides.  Relaxed: it only chooses a counter. */
extern bool hearthi_waiting;

/* A call or a fault begins: when.  A fault inside a call counts as the call. */
static inline uint64_t
hearthi_time_begin(void)
{
    if (hearthi_depth++ > 0)
        return 0;
    __atomic_store_n(&hearthi_waiting, true, __ATOMIC_RELAXED);
    return hearthi_now();
}

/* It ends: when, or 0 inside another. */
static inline uint64_t
hearthi_time_add(uint64_t *counter, uint64_t begin)
{
    uint64_t now;

    if (--hearthi_depth > 0)
        return 0;
    __atomic_store_n(&hearthi_waiting, false, __ATOMIC_RELAXED);
    now = hearthi_now();
    hearthi_stat_add(counter, now - begin);
    return now;
}

#define hearthi_time_end(field, begin) \
    hearthi_time_add(&hearthi_tally.counter.field, (begin))

/* A stretch of serving others, from waking up until sleep; zeros at first. */
struct hearthi_service {
    uint64_t begin;
    bool     waiting;
};

static inline bool
hearthi_is_waiting(void)
{
    return __atomic_load_n(&hearthi_waiting, __ATOMIC_RELAXED);
}

static inline void
hearthi_service_begin(struct hearthi_service *s)
{
    s->begin = hearthi_now();
    s->waiting = hearthi_is_waiting();
}

static inline void
hearthi_served(uint64_t ns, bool waiting)
{
    if (waiting)
        hearthi_count(service_wait_ns, ns);
    else
        hearthi_count(service_ns, ns);
}

static inline void
hearthi_service_end(struct hearthi_service *s)
{
    if (s->begin != 0)
        hearthi_served(hearthi_now() - s->begin, s->waiting);
    s->begin = 0;
}

#endif
