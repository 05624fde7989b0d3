/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks, flags, reader-writer locks: what they are given of what this rank
 * knows, and what it learns from them.  The rules are argued in coherence.c.
 */
#include "config.h"

#include "base/mutex.h"
#include "coherence.h"

#include "base/stat.h"
#include "home_add.h"
#include "known_notices.h"
#include "lock_recall.h"
#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "page/node_cache.h"
#include "page/page.h"
#include "page/reuse_prefetch.h"
#include "space/heap.h"
#include "world.h"

struct lock_view {
    uint64_t given;                  /* of what is known, to this lock */
    uint32_t pos;                    /* read of its log */
    uint64_t given_epoch, pos_epoch; /* for which these count */
    uint64_t begun;                  /* its log is of this epoch or later */
    struct hearthi_delegation_policy stay;
};

static struct lock_view *view; /* of each synchronisation object */
static int               held; /* locks, by all threads */

static size_t
view_bytes(void)
{
    return (size_t)hearthi_syncs * sizeof *view;
}

void
hearthi_sync_views_open(void)
{
    view = hearthi_sparse(view_bytes());
    held = 0;
}

void
hearthi_sync_views_close(void)
{
    hearthi_sparse_free(view, view_bytes());
}

/* ---- release ---- */

static struct lock_view *
view_for_release(int sync)
{
    struct lock_view *v = &view[sync];

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(v->given_epoch <= hearthi_epochs.release);
    if (v->given_epoch != hearthi_epochs.release) {
        v->given_epoch = hearthi_epochs.release;
        v->given = 0;
    }
    return v;
}

/* Where the notices for an object come from. */
static struct hearthi_notice_store *
source_of(int sync)
{
    return hearthi_world.scope && hearthi_is_lock(sync)
               ? &hearthi_known_notices.section
               : &hearthi_known_notices.known;
}

/* What an object is to be given from *given on, which moves.  What begins
 * a log that tells of one section only are the notices of that section. */
static size_t
notices_for(int sync, uint64_t *given, struct hearthi_notice *out)
{
    struct hearthi_notice_store *from = source_of(sync);
    size_t                       n;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(*given <= hearthi_notice_store_next(from));
    n = hearthi_notice_store_merged(from, sync, given, out,
                                    hearthi_log_room(sync));
    HEARTHI_ASSERT(*given == hearthi_notice_store_next(from));
    hearthi_count(notices_out, n);
    if (n == 0 && from == &hearthi_known_notices.known &&
        view[sync].begun < hearthi_epochs.acquire)
        out[n++] = (struct hearthi_notice){ 0, 0, (uint32_t)hearthi_world.rank,
                                            hearthi_known_notices.interval };
    return n;
}

/* As if that had been collected when the barrier began: what came since says
 * more than is needed. */
static size_t
notices_left(int sync, struct hearthi_notice *out)
{
    const struct lock_view *v = &view[sync];
    uint64_t given = v->given_epoch == hearthi_epochs.acquire ? v->given : 0;

    return notices_for(sync, &given, out);
}

/* The thread that holds a lock is alone: another thread of the rank collects
 * for it only after it was passed on, with these notices in its log. */
static void
lock_pass(int sync, bool stayed)
{
    struct hearthi_notice out[HEARTHI_LOG + 1];
    size_t                n = 0;
    uint64_t              epoch = 0;

    if (hearthi_world.nodes > 1) {
        hearthi_table_lock();
        if (stayed && hearthi_lock_is_idle(sync)) {
            epoch = hearthi_epochs.acquire;
            n = notices_left(sync, out);
        } else {
            hearthi_interval_next(hearthi_world.scope ? HEARTHI_END_ALL
                                                      : HEARTHI_END_LOCK);
            epoch = hearthi_epochs.release;
            n = notices_for(sync, &view_for_release(sync)->given, out);
        }
        HEARTHI_ASSERT(held > 0 && n <= HEARTHI_LOG + 1);
        HEARTHI_ASSERT(epoch + 1 >= hearthi_epochs.release);
        held--;
        hearthi_table_unlock();
    }
    hearthi_transport->sync.release(sync, epoch, out, n);
}

/* Of a lock that no thread enters, and that is this thread's to give. */
void
hearthi_lock_give(int lock)
{
    HEARTHI_ASSERT_HAS_NOT(TABLE);
    HEARTHI_ASSERT(hearthi_delegation_byte(lock) ==
                   (HEARTHI_DELEGATION_IDLE | HEARTHI_DELEGATION_WANTED));
    hearthi_lock_idle_note(lock, false);
    hearthi_delegation_policy_ended(
        &view[lock].stay, hearthi_epochs.release == hearthi_epochs.acquire ||
                                  hearthi_lock_is_idle(lock)
                              ? hearthi_lock_stay_uses(lock)
                              : 0);
    lock_pass(lock, true);
    hearthi_delegation_end(lock);
}

/* When a lock is kept, its thread has no more to do with it but this: another
 * rank may want it at once. */
static bool
lock_keep(int lock)
{
    if (!hearthi_delegation_policy_wanted(&view[lock].stay))
        return false;
    hearthi_lock_recall_begin();
    hearthi_lock_idle_note(lock, true);
    if (!hearthi_transport->sync.delegate(lock)) {
        hearthi_lock_idle_note(lock, false);
        return false;
    }
    if (hearthi_lock_recall_is_paused() && hearthi_delegation_claim(lock))
        hearthi_lock_give(lock);
    return true;
}

void
hearthi_lock_release(int lock)
{
    hearthi_home_adds_end();
    if (hearthi_world.nodes > 1 && hearthi_delegation_out(lock))
        hearthi_lock_give(lock);
    else if (hearthi_world.nodes == 1 || !lock_keep(lock))
        lock_pass(lock, false);
}

static void
begun_note(struct lock_view *v, uint64_t epoch)
{
    HEARTHI_ASSERT(epoch <= hearthi_epochs.release + 1);
    if (v->begun < epoch)
        v->begun = epoch;
}

/* What a flag, or a reader-writer lock, is told: several threads of the rank
 * may tell it at once, and the one that collects first may come to the log
 * last.  So what one has collected counts as given only when it is in the log:
 * until then the others give it, too, or a waiter that they let go would not
 * be told of what happened before they did.  A log that has a notice twice
 * does no harm. */
struct telling {
    struct hearthi_notice notice[HEARTHI_LOG + 1];
    size_t                n;
    uint64_t              given, epoch;
};

static void
telling_begin(int sync, struct telling *t)
{
    struct lock_view *v;

    t->n = 0;
    if (hearthi_world.nodes == 1)
        return;
    hearthi_home_adds_end();
    hearthi_table_lock();
    hearthi_interval_next(HEARTHI_END_ALL);
    v = view_for_release(sync);
    t->given = v->given;
    t->epoch = hearthi_epochs.release;
    t->n = notices_for(sync, &t->given, t->notice);
    if (t->n == 0)
        v->given = t->given;
    hearthi_table_unlock();
}

/* So much of this epoch is in the log now. */
static void
telling_end(int sync, const struct telling *t)
{
    struct lock_view *v = &view[sync];

    if (t->n == 0)
        return;
    hearthi_table_lock();
    if (v->given_epoch == t->epoch && v->given < t->given)
        v->given = t->given;
    begun_note(v, t->epoch);
    hearthi_table_unlock();
}

void
hearthi_flag_set(int sync)
{
    struct telling t;

    telling_begin(sync, &t);
    hearthi_transport->sync.flag_set(sync, t.notice, t.n);
    telling_end(sync, &t);
}

void
hearthi_rw_release(int sync, bool write)
{
    struct telling t;

    telling_begin(sync, &t);
    hearthi_transport->sync.rw_release(sync, write, t.notice, t.n);
    telling_end(sync, &t);
}

/* ---- acquire ---- */

/* What was learnt is passed on, through any chain of locks and flags.  Under
 * scope consistency locks are given other notices, so `given` is not theirs.
 * The notices that were news move to the front: for the others the copies
 * went when they were learnt first, and copies fetched since have the write.
 * One of no pages was only for the log. */
static void
notices_learn(int sync, struct hearthi_grant *g)
{
    uint64_t given = source_of(sync) == &hearthi_known_notices.known
                         ? view_for_release(sync)->given
                         : 0;
    size_t   fresh = 0;

    HEARTHI_ASSERT(g->n <= HEARTHI_LOG);
    HEARTHI_ASSERT(g->ahead == 0 || g->invalidate_all);
    for (size_t i = 0; i < g->n; i++)
        if (g->notice[i].count > 0 &&
            hearthi_notice_store_add(&hearthi_known_notices.known,
                                     &g->notice[i], sync))
            g->notice[fresh++] = g->notice[i];
    g->n = fresh;
    if (g->invalidate_all)
        hearthi_notice_store_lost(&hearthi_known_notices.known, sync, given);
    if (g->ahead > hearthi_epochs.release)
        hearthi_known_notices.ahead = true;
}

static void
grant_begin(int sync, struct hearthi_grant *g)
{
    const struct lock_view *v = &view[sync];

    hearthi_table_lock();
    g->epoch = hearthi_epochs.acquire;
    g->pos = v->pos_epoch == hearthi_epochs.acquire ? v->pos : 0;
    g->n = 0;
    g->invalidate_all = false;
    g->ahead = 0;
    g->again = false;
    hearthi_table_unlock();
}

/* The position moves only after the copies are gone, so that another thread
 * that waits for the same flag cannot pass before they are. */
static void
grant_end(int sync, struct hearthi_grant *g, bool locks)
{
    struct lock_view *v = &view[sync];

    hearthi_table_lock();
    HEARTHI_ASSERT(g->epoch <= hearthi_epochs.acquire);
    HEARTHI_ASSERT(g->ahead <= hearthi_epochs.acquire + 2);
    hearthi_node_cache_acquired();
    notices_learn(sync, g);
    hearthi_notices_apply(g->notice, g->n, g->invalidate_all);
    HEARTHI_ASSERT(
        hearthi_notices_are_applied(g->notice, g->n, g->invalidate_all));
    HEARTHI_ASSERT(v->pos_epoch <= hearthi_epochs.acquire);
    if (g->epoch == hearthi_epochs.acquire) {
        v->pos = g->pos;
        v->pos_epoch = hearthi_epochs.acquire;
    }
    if (g->pos > 0) /* else it is of an epoch that is past */
        begun_note(v, g->epoch);
    held += locks;
    hearthi_reuse_prefetch_fetch();
    hearthi_table_unlock();
}

/* Scope consistency: a new critical section.  What is open now is closed, so
 * that what the section writes can be told from it. */
static void
scope_begin(int sync)
{
    struct lock_view *v;

    HEARTHI_ASSERT(held >= 0);
    hearthi_table_lock();
    hearthi_interval_next(HEARTHI_END_ALL);
    if (held == 0)
        hearthi_notice_store_forget(
            &hearthi_known_notices.section,
            hearthi_notice_store_next(&hearthi_known_notices.section));
    v = view_for_release(sync);
    v->given = hearthi_notice_store_next(&hearthi_known_notices.section);
    hearthi_table_unlock();
}

bool
hearthi_lock_acquire(int sync, bool try)
{
    struct hearthi_grant g;

    if (hearthi_world.nodes == 1) {
        g.epoch = g.pos = 0;
        return hearthi_transport->sync.acquire(sync, try, &g);
    }
    hearthi_home_adds_end();
    hearthi_delegation_ask(sync);
    grant_begin(sync, &g);
    if (!hearthi_transport->sync.acquire(sync, try, &g))
        return false;
    hearthi_delegation_policy_taken(&view[sync].stay, g.again);
    if (hearthi_world.scope)
        scope_begin(sync);
    grant_end(sync, &g, true);
    return true;
}

void
hearthi_flag_wait(int sync)
{
    struct hearthi_grant g;

    if (hearthi_world.nodes == 1) {
        g.epoch = g.pos = 0;
        hearthi_transport->sync.flag_wait(sync, &g);
        return;
    }
    hearthi_home_adds_end();
    grant_begin(sync, &g);
    hearthi_transport->sync.flag_wait(sync, &g);
    grant_end(sync, &g, false);
}

bool
hearthi_rw_acquire(int sync, bool write, bool try)
{
    struct hearthi_grant g;

    if (hearthi_world.nodes == 1) {
        g.epoch = g.pos = 0;
        return hearthi_transport->sync.rw_acquire(sync, write, try, &g);
    }
    hearthi_home_adds_end();
    grant_begin(sync, &g);
    if (!hearthi_transport->sync.rw_acquire(sync, write, try, &g))
        return false;
    grant_end(sync, &g, false);
    return true;
}
