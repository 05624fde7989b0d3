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
#include <stdint.h>

struct hearthi_event {
    _Atomic uint32_t value, sleepers;
};

static inline uint32_t
hearthi_event_value(const struct hearthi_event *e)
{
    return atomic_load(&e->value);
}

/* After the change. */
void hearthi_event_raise(struct hearthi_event *e);

/* Return when the value is not `seen`; now and then before.  Who may spin
 * and has a core for itself does so for a while. */
void hearthi_event_wait(struct hearthi_event *e, uint32_t seen, bool may_spin);

#endif
