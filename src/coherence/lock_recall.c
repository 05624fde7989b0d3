/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A released lock stays with its rank until another asks (lazy release, as in
 * section 3 of "Lazy Release Consistency for Software Distributed Shared
 * Memory", Keleher, Cox, Zwaenepoel, 1992, for a home-based protocol): until
 * then no rank can have seen the release, so there is nothing to tell, and the
 * diffs of its sections wait.  Taking it again there orders nothing that the
 * rank's own program has not ordered.  So
 *   - a lock is given by the ordinary release, which ends the interval: all
 *     that was written in any section since is home and told before the next
 *     holder enters.  What else tells ends the interval, too: the release of
 *     another lock, a flag, a barrier;
 *   - taking it again drops no first copy (sharer_flags.c): no write of
 *     another rank comes before this acquire that did not come before the
 *     last.
 * Scope consistency must know what each section wrote, so its locks do not
 * stay.  Nor do they where only one thread may call Hearth: a thread that
 * takes a lock that stays is not asked which one it is.
 *
 * The rank that asks wakes a thread here.  That thread waits for other ranks,
 * in MPI or for datagrams, with the table locked: so the transport's own
 * threads, on which other ranks rely meanwhile, cannot do it.
 *
 * A lock may be asked for while this rank is in a barrier.  What is told then
 * belongs to the next epoch, and would make a rank that is behind drop all its
 * copies (coherence.c).  But a lock that was idle when the barrier began, and
 * was not entered since, may be given as if that had been collected then, as a
 * thread of the rank might have done that was late to pass it on: the barrier
 * has ended the interval, and no section has written under the lock since.
 * Each entry counts; the count is read before the byte says idle, so that a
 * thread that enters between the two is not missed, and goes on from one stay
 * to the next, so that one which begins between the two is not.
 * tests/model/idle breaks the two rules with --byte-first and --reset-uses.
 *
 * To be woken costs more than to release at once, so a lock stays only where
 * its rank has taken it several times in a row: twice at first, and more often
 * where it was asked for soon after.
 */
#include "config.h"

#include "lock_recall.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "base/thread.h"
#include "base/timing.h"
#include "coherence.h"
#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "space/heap.h"
#include "transport/transport.h"
#include "world.h"

enum { NEED_MOST = 64, USES_FEW = 4 };

static pthread_t   thread;
static atomic_bool begun; /* the giver was started, or is being */
static atomic_int  paused;

/* ---- whether ---- */

static bool
any_may_stay(void)
{
    return hearthi_delegation != NULL && hearthi_world.multiple &&
           !hearthi_world.scope && hearthi_opt.lock_stay;
}

bool
hearthi_locks_may_stay(void)
{
    return any_may_stay() && !hearthi_lock_recall_is_paused();
}

bool
hearthi_lock_recall_is_paused(void)
{
    return atomic_load(&paused) > 0;
}

void
hearthi_delegation_policy_ended(struct hearthi_delegation_policy *s,
                                uint64_t                          uses)
{
    s->again = 0;
    if (uses >= USES_FEW)
        s->need /= 2;
    else if (s->need < NEED_MOST)
        s->need = 2 * s->need + 1;
}

/* ---- the giver ---- */

static void *
give(void *unused)
{
    struct hearthi_service service = { 0 };
    int                    lock;

    while ((lock = hearthi_delegation_wanted()) >= 0) {
        HEARTHI_ASSERT(lock < hearthi_syncs_top && hearthi_is_lock(lock));
        hearthi_service_begin(&service);
        hearthi_lock_give(lock);
        hearthi_service_end(&service);
    }
    return unused;
}

/* One thread starts it, and others go on: what is wanted meanwhile is seen by
 * the giver when it is there.  Without a mutex, since the job ends here if
 * there can be no thread. */
void
hearthi_lock_recall_begin(void)
{
    if (!begun && !atomic_exchange(&begun, true))
        hearthi_thread_start(&thread, give, "hearth_unlock",
                             "thread that gives locks away",
                             "HEARTH_LOCK_STAY=no");
}

void
hearthi_lock_recall_close(void)
{
    if (begun) {
        hearthi_delegation_stop();
        pthread_join(thread, NULL);
    }
    begun = false;
    hearthi_delegation_close();
}

/* A thread that is about to keep a lock looks whether it may once more when it
 * is kept, and gives it itself if not (lock_sync.c), as the giver must not: so
 * it sees this, or its lock is seen here.  There may be none yet. */
void
hearthi_lock_recall_all(void)
{
    HEARTHI_ASSERT_HAS_NOT(TABLE);
    atomic_fetch_add(&paused, 1);
    if (!any_may_stay())
        return;
    for (int lock = 0; lock < hearthi_syncs_top; lock++)
        hearthi_delegation_want(lock);
    hearthi_delegation_wait();
}

void
hearthi_lock_recall_resume(void)
{
    HEARTHI_ASSERT(paused > 0);
    atomic_fetch_sub(&paused, 1);
}

/* ---- idle locks ---- */

/* Locks that are kept, and some that were; how many. */
enum { WORD = 64 };
static _Atomic uint64_t *delegated;
static atomic_int        delegated_count;

/* The epoch at whose end a lock was kept and idle, and how often it had been
 * entered then; and how often when it was kept. */
static struct idle {
    uint64_t epoch;
    uint64_t uses, begun;
} * idle;

static size_t
delegated_bytes(void)
{
    return ((size_t)hearthi_syncs / WORD + 1) * sizeof *delegated;
}

static size_t
idle_bytes(void)
{
    return (size_t)hearthi_syncs * sizeof *idle;
}

void
hearthi_lock_idle_open(void)
{
    delegated = hearthi_sparse(delegated_bytes());
    idle = hearthi_sparse(idle_bytes());
    delegated_count = 0;
}

void
hearthi_lock_idle_close(void)
{
    hearthi_sparse_free(delegated, delegated_bytes());
    hearthi_sparse_free(idle, idle_bytes());
}

/* The acquire pairs with the release of hearthi_delegation_enter(). */
static uint64_t
uses_of(int lock)
{
    return __atomic_load_n(&hearthi_delegation_uses[lock], __ATOMIC_ACQUIRE);
}

void
hearthi_lock_idle_note(int lock, bool is)
{
    uint64_t bit = UINT64_C(1) << lock % WORD;
    uint64_t old;

    HEARTHI_ASSERT(lock >= 0 && lock < hearthi_syncs);
    if (is) {
        idle[lock].epoch = 0;
        idle[lock].begun = uses_of(lock);
    }
    old = is ? atomic_fetch_or(&delegated[lock / WORD], bit)
             : atomic_fetch_and(&delegated[lock / WORD], ~bit);
    if (is != ((old & bit) != 0))
        atomic_fetch_add(&delegated_count, is ? 1 : -1);
    HEARTHI_ASSERT(delegated_count >= 0);
}

uint64_t
hearthi_lock_stay_uses(int lock)
{
    HEARTHI_ASSERT(idle[lock].begun <= uses_of(lock));
    return uses_of(lock) - idle[lock].begun;
}

void
hearthi_lock_idle_begin(void)
{
    HEARTHI_ASSERT_HAS(TABLE);
    if (atomic_load(&delegated_count) == 0)
        return;
    for (int i = 0; i * WORD < hearthi_syncs_top; i++)
        for (uint64_t set = delegated[i]; set != 0; set &= set - 1) {
            int      lock = i * WORD + __builtin_ctzll(set);
            uint64_t uses = uses_of(lock); /* before the byte: see above */

            idle[lock].epoch = 0;
            if (!hearthi_delegation_is_idle(hearthi_delegation_byte(lock)))
                continue;
            idle[lock].epoch = hearthi_epochs.release;
            idle[lock].uses = uses;
        }
}

bool
hearthi_lock_is_idle(int lock)
{
    HEARTHI_ASSERT(idle[lock].epoch <= hearthi_epochs.release);
    return hearthi_epochs.release != hearthi_epochs.acquire &&
           idle[lock].epoch == hearthi_epochs.acquire &&
           idle[lock].uses == uses_of(lock);
}
