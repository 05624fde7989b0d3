/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An event: what threads of one or of several processes wait at until
 * something has changed.  Look at the value, then at what may change; if it
 * has not, wait for another value.  All fields start as zero; an event may lie
 * in shared memory.
 */
#ifndef HEARTHI_EVENT_H
#define HEARTHI_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hearthi_event {
    _Atomic uint32_t value, sleepers;
};

static inline uint32_t
hearthi_event_value(const struct hearthi_event *e)
{
    return atomic_load(&e->value);
}

/* Wake all sleepers. */
void hearthi_event_wake(struct hearthi_event *e);

/* After the change.  Either the thread that raises it sees the sleeper, or the
 * sleeper sees the new value: each writes one word and reads the other, in one
 * order for all. */
static inline void
hearthi_event_raise(struct hearthi_event *e)
{
    atomic_fetch_add(&e->value, 1);
    if (atomic_load(&e->sleepers) > 0)
        hearthi_event_wake(e);
}

/* How long a thread that waits spins at most where every rank has a core for
 * itself, in nanoseconds: waking a sleeper takes longer than most answers
 * do. */
enum { HEARTHI_SPIN_NS = 50000 };

/* What this thread does each millisecond or more often while it waits, here or
 * by hearthi_relax() and its like: for messages that nobody else brings on
 * their way.  NULL: nothing. */
extern _Thread_local void (*hearthi_event_idle)(void);

static inline void
hearthi_event_idle_do(void)
{
    if (hearthi_event_idle != NULL)
        hearthi_event_idle();
}

/* Return when the value is not `seen`; now and then before.  A thread that may
 * spin and has a core for itself does so for a while. */
void hearthi_event_wait(struct hearthi_event *e, uint32_t seen, bool may_spin);

/* The same asleep, and for so many nanoseconds at most. */
void hearthi_event_nap(struct hearthi_event *e, uint32_t seen, uint64_t most);

#endif
