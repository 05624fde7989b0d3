/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <stdatomic.h>

#include "api.h"
#include "base/cancel.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "coherence/coherence.h"
#include "hearth/hearth.h"
#include "lock.h"
#include "malloc/malloc.h"
#include "node/lock_delegation.h"
#include "page/fault.h"
#include "thread_state.h"
#include "world.h"

void
hearthi_require_number(const char *call, const char *what, int number,
                       int most)
{
    hearthi_require_thread(call);
    if (number < 0 || number >= most)
        hearthi_fatal(call, "%s %d does not exist: %ss are 0 to %d", what,
                      number, what, most - 1);
}

/* A lock that stays (lock_delegation.h): no message, no clock, nothing that
 * could be cancelled.  It is kept only where every thread may call this. */
static inline bool
kept_enter(int lock)
{
    if (!hearthi_delegation_enter(lock))
        return false;
    hearthi_thread_state_took(lock);
    hearthi_count(locks, 1);
    hearthi_count(locks_kept, 1);
    return true;
}

static inline bool
kept_leave(int lock)
{
    if (!hearthi_delegation_is_used(lock) || !hearthi_thread_state_holds(lock))
        return false;
    hearthi_holder_set(lock, NULL);
    if (hearthi_delegation_leave(lock)) {
        hearthi_thread_state.held--;
        return true;
    }
    hearthi_holder_set(lock, hearthi_thread());
    return false;
}

static bool
lock_take(const char *call, int lock, bool try)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();
    bool     taken;

    hearthi_require_thread(call);
    if (hearthi_thread_state_holds(lock))
        hearthi_fatal(call,
                      "lock %s is held already by this thread: unlock "
                      "it first",
                      hearthi_lock_text(lock).text);
    hearthi_malloc_heed();
    hearthi_thread_state_waits(call, lock);
    taken = hearthi_lock_acquire(lock, try);
    hearthi_thread_state_goes_on();
    if (!taken) {
        /* A node-mate has it, so perhaps no word went through MPI; but the
         * holder may need this rank to get on, and this rank may try again
         * and again. */
        hearthi_transport->progress();
        hearthi_time_end(lock_ns, start);
        return false;
    }
    hearthi_thread_state_took(lock);
    hearthi_count(locks, 1);
    hearthi_interval_begin(hearthi_time_end(lock_ns, start), true);
    return true;
}

void
hearth_lock(int lock)
{
    lock = hearthi_lock_number("hearth_lock", lock);
    if (!kept_enter(lock))
        lock_take("hearth_lock", lock, false);
}

bool
hearth_trylock(int lock)
{
    lock = hearthi_lock_number("hearth_trylock", lock);
    return kept_enter(lock) || lock_take("hearth_trylock", lock, true);
}

static void
lock_leave(int lock)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();

    hearthi_require_thread("hearth_unlock");
    if (!hearthi_thread_state_holds(lock))
        hearthi_fatal("hearth_unlock",
                      "lock %s is not held by this thread: "
                      "lock it first",
                      hearthi_lock_text(lock).text);
    hearthi_malloc_heed();
    hearthi_holder_set(lock, NULL);
    hearthi_thread_state.held--;
    hearthi_lock_release(lock);
    hearthi_interval_begin(hearthi_time_end(lock_ns, start), false);
}

void
hearth_unlock(int lock)
{
    lock = hearthi_lock_number("hearth_unlock", lock);
    if (!kept_leave(lock))
        lock_leave(lock);
}

void
hearth_barrier(void)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();

    hearthi_require_thread("hearth_barrier");
    if (hearthi_world.scope && hearthi_thread_state.held > 0)
        hearthi_fatal("hearth_barrier",
                      "called while %d lock%s held: under scope consistency "
                      "unlock first",
                      hearthi_thread_state.held,
                      hearthi_thread_state.held == 1 ? " is" : "s are");
    hearthi_signal_check();
    hearthi_malloc_settle();
    hearthi_thread_state_waits("hearth_barrier", -1);
    hearthi_barrier(true);
    hearthi_thread_state_goes_on();
    hearthi_count(barriers, 1);
    hearthi_interval_begin(hearthi_time_end(barrier_ns, start), false);
}

void
hearth_flag_set(int flag)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();

    hearthi_require_number("hearth_flag_set", "flag", flag, HEARTH_FLAGS);
    hearthi_malloc_heed();
    hearthi_flag_set(HEARTH_LOCKS + flag);
    hearthi_interval_begin(hearthi_time_end(lock_ns, start), false);
}

void
hearth_flag_wait(int flag)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();

    hearthi_require_number("hearth_flag_wait", "flag", flag, HEARTH_FLAGS);
    hearthi_malloc_heed();
    hearthi_thread_state_waits("hearth_flag_wait", flag);
    hearthi_flag_wait(HEARTH_LOCKS + flag);
    hearthi_thread_state_goes_on();
    hearthi_count(flags, 1);
    hearthi_interval_begin(hearthi_time_end(lock_ns, start), true);
}

void
hearth_flag_reset(int flag)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();

    hearthi_require_number("hearth_flag_reset", "flag", flag, HEARTH_FLAGS);
    hearthi_transport->flag_reset(HEARTH_LOCKS + flag);
    hearthi_time_end(lock_ns, start);
}

/* ---- condition variables ---- */

static int
cond_check(const char *call, int cond)
{
    hearthi_require_number(call, "condition", cond, HEARTH_CONDS);
    return HEARTHI_CONDS_AT + cond;
}

void
hearth_cond_wait(int cond, int lock)
{
    HEARTHI_UNCANCELLED;
    int      sync = cond_check("hearth_cond_wait", cond), own;
    uint64_t start, place;

    own = hearthi_lock_number("hearth_cond_wait", lock);
    if (!hearthi_thread_state_holds(own))
        hearthi_fatal("hearth_cond_wait",
                      "condition %d: lock %s is not held by this thread: lock "
                      "it first",
                      cond, hearthi_lock_text(own).text);
    start = hearthi_time_begin();
    hearthi_malloc_heed();
    place = hearthi_transport->cond_enter(sync);
    hearthi_thread_state_waits("hearth_cond_wait", cond);
    hearth_unlock(lock);
    hearthi_transport->cond_wait(sync, place);
    hearthi_thread_state_goes_on();
    hearth_lock(lock);
    hearthi_count(conds, 1);
    hearthi_time_end(lock_ns, start);
}

static void
cond_wake(const char *call, int cond, bool all)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();

    hearthi_transport->cond_wake(cond_check(call, cond), all);
    hearthi_time_end(lock_ns, start);
}

void
hearth_cond_signal(int cond)
{
    cond_wake("hearth_cond_signal", cond, false);
}

void
hearth_cond_broadcast(int cond)
{
    cond_wake("hearth_cond_broadcast", cond, true);
}
