/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "event.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "transport/transport.h"
#include "world.h"

/* Either the one who rings sees the sleeper, or the sleeper sees the new
 * value: each writes one word and reads the other, in one order for all. */
void
hearthi_event_raise(struct hearthi_event *e)
{
    atomic_fetch_add(&e->value, 1);
    if (atomic_load(&e->sleepers) > 0)
        syscall(SYS_futex, &e->value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool
spin(const struct hearthi_event *e, uint32_t seen)
{
    uint64_t end;

    if (!hearthi_may_spin())
        return false;
    end = hearthi_now() + HEARTHI_SPIN_NS;
    do {
        if (hearthi_event_value(e) != seen)
            return true;
        sched_yield();
    } while (hearthi_now() < end);
    return false;
}

void
hearthi_event_wait(struct hearthi_event *e, uint32_t seen, bool may_spin)
{
    if (hearthi_event_value(e) != seen || (may_spin && spin(e, seen)))
        return;
    atomic_fetch_add(&e->sleepers, 1);
    if (hearthi_event_value(e) == seen)
        syscall(SYS_futex, &e->value, FUTEX_WAIT, seen, NULL, NULL, 0);
    atomic_fetch_sub(&e->sleepers, 1);
}
