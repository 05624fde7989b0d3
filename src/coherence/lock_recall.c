/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A released lock stays with its rank until another asks (lazy release, as in
 * section 3 of "Lazy Release Consistency for Software Distributed Shared
 * Memory", Keleher, Cox, Zwaenepoel, 1992, for a home-based protocol): until
 * then nobody can have seen the release, so there is nothing to tell, and the
 * diffs of its sections wait.  Taking it again there orders nothing that the
 * rank's own program has not ordered.  So
 *   - a lock is given by the ordinary release, which ends the interval: all
 *     that was written in any section since is home and told before the next
 *     holder enters.  What else tells ends the interval, too: the release of
 *     another lock, a flag, a barrier;
 *   - taking it again drops no first copy (sharer_flags.c): no write of
 * another rank comes before this acquire that did not come before the last.
 * Scope consistency must know what each section wrote, so its locks do not
 * stay.  Nor do they where only one thread may call Hearth: who takes a lock
 * that stays is not asked which thread he is.
 *
 * Who asks wakes a thread here.  It waits for other ranks, in MPI or for
 * datagrams, with the table locked: so the transport's own threads, on which
 * other ranks rely meanwhile, cannot do it.
 *
 * A lock may be asked for while this rank is in a barrier.  What is told then
 * belongs to the next epoch, and would make who is behind drop all its copies
 * (coherence.c).  But a lock that was idle when the barrier began, and was not
 * entered since, may be given as if that had been collected then, as a thread
 * of the rank might have done that was late to pass it on: the barrier has
 * ended the interval, and no section has written under the lock since.  Each
 * entry counts; the count is read before the byte says idle, so that who
 * enters between the two is not missed.
 *
 * To be woken costs more than to release at once, so a lock stays only where
 * its rank has taken it several times in a row: twice at first, and more often
 * where it was asked for soon after.
 */
#include "config.h"

#include "lock_recall.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/option.h"
#include "base/report.h"
#include "base/thread.h"
#include "base/timing.h"
#include "coherence.h"
#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "world.h"

enum { NEED_MOST = 64, USES_FEW = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t       thread;
static bool            runs;
static atomic_int      paused;

/* ---- whether ---- */

void
hearthi_delegation_policy_taken(struct hearthi_delegation_policy *s,
                                bool                              again)
{
    s->again = again ? s->again + 1 : 0;
}

static bool
any_may_stay(void)
{
    return hearthi_delegation != NULL && hearthi_world.multiple &&
           !hearthi_world.scope && hearthi_opt.lock_stay;
}

bool
hearthi_delegation_policy_wanted(const struct hearthi_delegation_policy *s)
{
    return s->again > s->need && any_may_stay() &&
           !hearthi_lock_recall_is_paused();
}

bool
hearthi_lock_recall_is_paused(void)
{
    return atomic_load(&paused) > 0;
}

void
hearthi_delegation_policy_ended(struct hearthi_delegation_policy *s,
                                uint32_t                          uses)
{
    s->again = 0;
    if (uses >= USES_FEW)
        s->need /= 2;
    else if (s->need < NEED_MOST)
        s->need = 2 * s->need + 1;
}

/* ---- who gives ---- */

static void *
give(void *unused)
{
    struct hearthi_service service = { 0 };
    int                    lock;

    while ((lock = hearthi_delegation_wanted()) >= 0) {
        hearthi_service_begin(&service);
        hearthi_lock_give(lock);
        hearthi_service_end(&service);
    }
    return unused;
}

void
hearthi_lock_recall_begin(void)
{
    bool first;

    pthread_mutex_lock(&mutex);
    first = !runs;
    runs = true;
    pthread_mutex_unlock(&mutex);
    if (first)
        hearthi_thread_start(&thread, give, "hearth_unlock",
                             "thread that gives locks away",
                             "HEARTH_LOCK_STAY=no");
}

void
hearthi_lock_recall_close(void)
{
    if (runs) {
        hearthi_delegation_stop();
        pthread_join(thread, NULL);
    }
    runs = false;
    hearthi_delegation_close();
}

/* Who is about to keep a lock looks whether he may once more when it is kept,
 * and gives it himself if not (lock_sync.c), as the giver must not: so he sees
 * this, or his lock is seen here.  There may be none yet. */
void
hearthi_lock_recall_all(void)
{
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
    atomic_fetch_sub(&paused, 1);
}
