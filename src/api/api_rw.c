/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reader-writer locks: which threads hold them, and the calls.
 */
#include "config.h"

#include <stdatomic.h>
#include <string.h>

#include "api.h"
#include "base/assert.h"
#include "base/cancel.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "coherence/coherence.h"
#include "coherence/race_sync.h"
#include "hearth/hearth.h"
#include "malloc/need.h"
#include "races/race_history.h"
#include "thread_state.h"
#include "world.h"

enum { WORD_BITS = 64 };

/* As with locks, a thread only asks about itself, so no order is needed: the
 * thread of this rank that holds each to write, and a bit for each that this
 * thread holds to read, since the start that it knows of. */
static const void *_Atomic    writer[HEARTH_RWLOCKS];
static _Thread_local uint64_t reads[HEARTH_RWLOCKS / WORD_BITS];
static _Thread_local unsigned reads_start;
static unsigned               start_count;

void
hearthi_rwlocks_reset(void)
{
    for (int i = 0; i < HEARTH_RWLOCKS; i++)
        atomic_store_explicit(&writer[i], NULL, memory_order_relaxed);
    start_count++;
}

static uint64_t *
reads_word(int rwlock)
{
    if (reads_start != start_count) {
        memset(reads, 0, sizeof reads);
        reads_start = start_count;
        hearthi_thread_state.reads = reads;
    }
    return &reads[rwlock / WORD_BITS];
}

static uint64_t
reads_bit(int rwlock)
{
    return UINT64_C(1) << rwlock % WORD_BITS;
}

static bool
holds_to_read(int rwlock)
{
    return (*reads_word(rwlock) & reads_bit(rwlock)) != 0;
}

static bool
holds_to_write(int rwlock)
{
    return atomic_load_explicit(&writer[rwlock], memory_order_relaxed) ==
           hearthi_thread();
}

const void *
hearthi_rwlock_writer(int rwlock)
{
    return atomic_load_explicit(&writer[rwlock], memory_order_relaxed);
}

static void
held_note(int rwlock, bool write)
{
    HEARTHI_ASSERT(writer[rwlock] == NULL);
    if (write)
        atomic_store_explicit(&writer[rwlock], hearthi_thread(),
                              memory_order_relaxed);
    else
        *reads_word(rwlock) |= reads_bit(rwlock);
}

static void
held_forget(int rwlock, bool write)
{
    if (write)
        atomic_store_explicit(&writer[rwlock], NULL, memory_order_relaxed);
    else
        *reads_word(rwlock) &= ~reads_bit(rwlock);
}

static void
reads_look(struct hearthi_thread_state *u, void *to)
{
    int *held = to;

    for (int i = 0; u->reads != NULL && i < HEARTH_RWLOCKS; i++)
        if (u->reads[i / WORD_BITS] & reads_bit(i))
            *held = i;
}

int
hearthi_rwlock_held(void)
{
    int held = -1;

    for (int i = 0; i < HEARTH_RWLOCKS; i++)
        if (hearthi_rwlock_writer(i) != NULL)
            held = i;
    hearthi_thread_states_each(reads_look, &held);
    return held;
}

/* A try that is refused lets others get on, which may need this rank, as it
 * may be tried again and again. */
static bool
take(const char *call, int rwlock, bool write, bool try)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();
    bool     taken;

    hearthi_require_number(call, "rwlock", rwlock, HEARTH_RWLOCKS);
    if (holds_to_read(rwlock) || holds_to_write(rwlock))
        hearthi_fatal(call,
                      "rwlock %d is held already by this thread: unlock it "
                      "first",
                      rwlock);
    hearthi_need_heed();
    hearthi_thread_state_waits(call, rwlock);
    taken = hearthi_rw_acquire(HEARTHI_RWS_AT + rwlock, write, try);
    hearthi_thread_state_goes_on();
    if (!taken) {
        hearthi_transport->progress();
        hearthi_time_end(lock_ns, start);
        return false;
    }
    if (hearthi_races != NULL)
        hearthi_race_acquired(HEARTHI_RACE_RW_LOCK, HEARTHI_RWS_AT + rwlock);
    held_note(rwlock, write);
    hearthi_count(rwlocks, 1);
    hearthi_interval_begin(hearthi_time_end(lock_ns, start), true);
    return true;
}

void
hearth_rdlock(int rwlock)
{
    take("hearth_rdlock", rwlock, false, false);
}

void
hearth_wrlock(int rwlock)
{
    take("hearth_wrlock", rwlock, true, false);
}

bool
hearth_tryrdlock(int rwlock)
{
    return take("hearth_tryrdlock", rwlock, false, true);
}

bool
hearth_trywrlock(int rwlock)
{
    return take("hearth_trywrlock", rwlock, true, true);
}

void
hearth_rwunlock(int rwlock)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();
    bool     write;

    hearthi_require_number("hearth_rwunlock", "rwlock", rwlock,
                           HEARTH_RWLOCKS);
    write = holds_to_write(rwlock);
    if (!write && !holds_to_read(rwlock))
        hearthi_fatal("hearth_rwunlock",
                      "rwlock %d is not held by this thread: lock it first",
                      rwlock);
    held_forget(rwlock, write);
    hearthi_need_heed();
    if (hearthi_races != NULL)
        hearthi_race_releases(HEARTHI_RACE_RW_UNLOCK, HEARTHI_RWS_AT + rwlock);
    hearthi_rw_release(HEARTHI_RWS_AT + rwlock, write);
    hearthi_interval_begin(hearthi_time_end(lock_ns, start), false);
}
