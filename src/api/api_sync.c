/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <stdatomic.h>

#include "api.h"
#include "api_pin.h"
#include "base/assert.h"
#include "base/cancel.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "checkpoint/checkpoint.h"
#include "coherence/coherence.h"
#include "coherence/home_add.h"
#include "coherence/race_sync.h"
#include "coherence/range_sync.h"
#include "hearth/hearth.h"
#include "life/collective_watch.h"
#include "lock.h"
#include "malloc/malloc.h"
#include "malloc/need.h"
#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "node/relax.h"
#include "page/fault.h"
#include "page/overwrite.h"
#include "page/page.h"
#include "profile/profile.h"
#include "races/race_history.h"
#include "report/race_report.h"
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

/* A delegated lock (lock_delegation.h): no message, no clock, nothing that
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

/* Where the call of a public function came from, for reports. */
#define FROM __builtin_return_address(0)

static inline bool
kept_leave(int lock)
{
    if (!hearthi_delegation_is_used(lock) || !hearthi_thread_state_holds(lock))
        return false;
    hearthi_holder_set(lock, NULL);
    if (hearthi_delegation_leave(lock)) {
        HEARTHI_ASSERT(hearthi_thread_state.held > 0);
        hearthi_thread_state.held--;
        return true;
    }
    hearthi_holder_set(lock, hearthi_thread());
    return false;
}

/* What calls do but wait for others: another thread of the rank may add to it.
 */
static uint64_t
time_aside(void)
{
    const hearth_stats *s = &hearthi_tally.counter;

    return s->diff_ns + s->predict_ns;
}

static bool
lock_take(const char *call, int lock, bool try, const void *from)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin(), aside = time_aside(), end;
    bool     taken;

    hearthi_require_thread(call);
    if (hearthi_thread_state_holds(lock))
        hearthi_fatal(call,
                      "lock %s is held already by this thread: unlock "
                      "it first",
                      hearthi_lock_text(lock).text);
    hearthi_need_heed();
    hearthi_thread_state_waits(call, lock);
    taken = hearthi_lock_acquire(lock, try);
    hearthi_thread_state_goes_on();
    if (!taken) {
        /* Another rank of the node has it, so perhaps no word went through
         * MPI; but the holder may need this rank to get on, and this rank may
         * try again and again. */
        hearthi_transport->progress();
        hearthi_time_end(lock_ns, start);
        return false;
    }
    if (hearthi_races != NULL)
        hearthi_race_took(lock);
    hearthi_thread_state_took(lock);
    hearthi_count(locks, 1);
    end = hearthi_time_end(lock_ns, start);
    hearthi_interval_begin(end, true);
    if (hearthi_profile != NULL)
        hearthi_profile_taken(lock, from, start + time_aside() - aside, end);
    return true;
}

void
hearth_lock(int lock)
{
    lock = hearthi_lock_number("hearth_lock", lock);
    if (!kept_enter(lock))
        lock_take("hearth_lock", lock, false, FROM);
}

bool
hearth_trylock(int lock)
{
    lock = hearthi_lock_number("hearth_trylock", lock);
    return kept_enter(lock) || lock_take("hearth_trylock", lock, true, FROM);
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
    hearthi_need_heed();
    HEARTHI_ASSERT(hearthi_thread_state.held > 0);
    hearthi_holder_set(lock, NULL);
    hearthi_thread_state.held--;
    if (hearthi_profile != NULL) /* the next holder writes there, too */
        hearthi_profile_giving(lock, start);
    if (hearthi_races != NULL)
        hearthi_race_gives(lock);
    hearthi_lock_release(lock);
    if (hearthi_profile != NULL)
        hearthi_profile_gave(lock);
    hearthi_interval_begin(hearthi_time_end(lock_ns, start), false);
}

void
hearth_unlock(int lock)
{
    lock = hearthi_lock_number("hearth_unlock", lock);
    hearthi_home_adds_end(); /* a kept lock would not bring them */
    if (!kept_leave(lock))
        lock_leave(lock);
}

void
hearth_barrier(void)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin(), aside = time_aside(), end;
    unsigned asks;

    hearthi_require_thread("hearth_barrier");
    if (hearthi_world.scope && hearthi_thread_state.held > 0)
        hearthi_fatal("hearth_barrier",
                      "called while %d lock%s held: under scope consistency "
                      "unlock first",
                      hearthi_thread_state.held,
                      hearthi_thread_state.held == 1 ? " is" : "s are");
    hearthi_signal_check();
    hearthi_malloc_settle();
    hearthi_thread_state_waits("hearth_barrier", HEARTHI_OF_ALL);
    hearthi_collective_watch_begin("hearth_barrier", 0, 0, 0);
    asks = hearthi_barrier_asking(
        hearthi_checkpoint_at_barriers ? hearthi_checkpoint_asks() : 0);
    hearthi_collective_watch_end();
    hearthi_thread_state_goes_on();
    hearthi_count(barriers, 1);
    end = hearthi_time_end(barrier_ns, start);
    hearthi_interval_begin(end, false);
    if (hearthi_profile != NULL)
        hearthi_profile_barrier_passed(FROM,
                                       end - start - (time_aside() - aside));
    if (hearthi_checkpoint_at_barriers)
        hearthi_point_save("hearth_barrier", asks);
    if (hearthi_races != NULL)
        hearthi_races_look();
}

void
hearth_flag_set(int flag)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();

    hearthi_require_number("hearth_flag_set", "flag", flag, HEARTH_FLAGS);
    hearthi_need_heed();
    if (hearthi_races != NULL)
        hearthi_race_releases(HEARTHI_RACE_FLAG_SET, HEARTH_LOCKS + flag);
    hearthi_flag_set(HEARTH_LOCKS + flag);
    hearthi_interval_begin(hearthi_time_end(lock_ns, start), false);
}

void
hearth_flag_wait(int flag)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin(), end;

    hearthi_require_number("hearth_flag_wait", "flag", flag, HEARTH_FLAGS);
    hearthi_malloc_send_freed();
    hearthi_thread_state_waits("hearth_flag_wait", flag);
    hearthi_flag_wait(HEARTH_LOCKS + flag);
    if (hearthi_races != NULL)
        hearthi_race_acquired(HEARTHI_RACE_FLAG_WAIT, HEARTH_LOCKS + flag);
    hearthi_thread_state_goes_on();
    hearthi_count(flags, 1);
    end = hearthi_time_end(lock_ns, start);
    hearthi_interval_begin(end, true);
    if (hearthi_profile != NULL)
        hearthi_profile_taken(HEARTH_LOCKS + flag, FROM, start, end);
}

void
hearth_flag_reset(int flag)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();

    hearthi_require_number("hearth_flag_reset", "flag", flag, HEARTH_FLAGS);
    hearthi_transport->sync.flag_reset(HEARTH_LOCKS + flag);
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
    hearthi_malloc_send_freed();
    place = hearthi_transport->sync.cond_enter(sync);
    hearth_unlock(lock);
    hearthi_thread_state_waits("hearth_cond_wait", cond);
    hearthi_transport->sync.cond_wait(sync, place);
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

    hearthi_transport->sync.cond_wake(cond_check(call, cond), all);
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

/* ---- order by the program's own messages ---- */

/* Do one of two things, for a range or for everything. */
static void
order(const char *call, const void *p, size_t bytes,
      void (*range)(uint64_t, uint64_t), void (*all)(void))
{
    HEARTHI_UNCANCELLED;
    uint64_t             start = hearthi_time_begin();
    struct hearthi_pages r;

    hearthi_require_thread(call);
    if (p == NULL && bytes == 0) {
        all();
    } else if (bytes > 0) {
        hearthi_table_lock();
        r = hearthi_pages_of(call, p, bytes);
        hearthi_table_unlock();
        range(r.page, r.count);
    }
    hearthi_need_heed();
    hearthi_relax_serve();
    hearthi_time_end(lock_ns, start);
}

/* Also those that lie elsewhere: a rank that is told may look for them. */
static void
adds_bring(const char *call)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();

    hearthi_require_thread(call);
    hearthi_home_adds_end();
    hearthi_time_end(lock_ns, start);
}

void
hearth_atomic_flush(void)
{
    adds_bring("hearth_atomic_flush");
}

void
hearth_release(const void *p, size_t bytes)
{
    adds_bring("hearth_release");
    order("hearth_release", p, bytes, hearthi_range_sync_release,
          hearthi_range_sync_release_all);
    if (hearthi_races != NULL)
        hearthi_race_releases(HEARTHI_RACE_RELEASE, hearthi_syncs);
}

/* Whole pages; no rank has what lies behind the end of an allocation. */
static void
overwrite_add(const char *call, const char *p, size_t bytes)
{
    struct hearthi_pages r = hearthi_pages_of(call, p, bytes);
    uint64_t             end = hearthi_page_of(p + bytes);

    if (hearthi_app(r.page) != p)
        r.page++;
    if (hearthi_bytes_behind(p) == bytes)
        end = hearthi_page_of(p + bytes - 1) + 1;
    if (r.page < end)
        hearthi_overwrite_add(r.page, end - r.page);
}

void
hearth_overwrite(void *p, size_t bytes)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_overwrite";

    hearthi_require_thread(call);
    if (bytes == 0)
        return;
    hearthi_table_lock();
    overwrite_add(call, p, bytes);
    hearthi_table_unlock();
}

void
hearth_acquire(const void *p, size_t bytes)
{
    uint64_t number = hearthi_races == NULL ? 0 : hearthi_race_begins();

    order("hearth_acquire", p, bytes, hearthi_range_sync_acquire,
          hearthi_range_sync_acquire_all);
    if (hearthi_races != NULL)
        hearthi_race_told(number);
}
