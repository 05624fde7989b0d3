/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "event.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster.h"

enum { IDLE = 1000000 }; /* nanoseconds */

_Thread_local void (*hearthi_event_idle)(void);

void
hearthi_event_wake(struct hearthi_event *e)
{
    syscall(SYS_futex, &e->value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool
spin(const struct hearthi_event *e, uint32_t seen)
{
    uint64_t end;

    if (hearthi_crowded())
        return false;
    end = hearthi_now() + HEARTHI_SPIN_NS;
    do {
        if (hearthi_event_value(e) != seen)
            return true;
        sched_yield();
    } while (hearthi_now() < end);
    return false;
}

/* For ever if `most` is NULL. */
static void
sleep_at(struct hearthi_event *e, uint32_t seen, const struct timespec *most)
{
    if (hearthi_event_value(e) != seen)
        return;
    atomic_fetch_add(&e->sleepers, 1);
    if (hearthi_event_value(e) == seen)
        syscall(SYS_futex, &e->value, FUTEX_WAIT, seen, most, NULL, 0);
    atomic_fetch_sub(&e->sleepers, 1);
}

void
hearthi_event_wait(struct hearthi_event *e, uint32_t seen, bool may_spin)
{
    const struct timespec most = { .tv_nsec = IDLE };

    if (may_spin && spin(e, seen))
        return;
    sleep_at(e, seen, hearthi_event_idle == NULL ? NULL : &most);
    hearthi_event_idle_do();
}

void
hearthi_event_nap(struct hearthi_event *e, uint32_t seen, uint64_t most)
{
    struct timespec t = hearthi_timespec(most);

    sleep_at(e, seen, &t);
}
