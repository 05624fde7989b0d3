/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Acquire, release and barrier.
 *
 * A lock has a log of notices at its manager; positions in it are counted
 * within an epoch, the time between two barriers, since a barrier tells
 * everybody everything.  Scope and release consistency differ in what a
 * release publishes: scope the notices of this critical section, release all
 * that the rank knows and has not yet given to this lock.  Flags have no
 * critical section, so under both consistencies they publish what is known.
 *
 * Threads: one thread of the rank may be inside a barrier while others use
 * locks.  From the moment when the barrier has collected this rank's notices,
 * its releases belong to the next epoch (they are not in the barrier), while
 * its acquires belong to the old one until the barrier has brought the
 * notices of the others.  A rank still in the old epoch that meets a log of a
 * later one takes it for "everything".  What it then knows may have missed
 * every barrier before the log's epoch; and if this rank has yet to arrive at
 * one of those, it happened before that arrival, and so before every rank's
 * departure.  So if the log's epoch is after that of this rank's releases,
 * this rank tells the next barrier "everything".  That may be so inside of a
 * barrier, too, as others may have left it and be inside of the next.
 *
 * What a rank knew before a barrier it has forgotten when it leaves, whoever
 * synchronises next.  Who then meets a log of the old epoch, in a rank that
 * has not left yet, would take it for all there is.  So after each release the
 * log is of the epoch of the releaser's acquires or of a later one: with
 * nothing to tell, a notice of no pages begins it anew.
 */
#include "config.h"

#include "coherence.h"

#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/report.h"
#include "base/stat.h"
#include "page/page.h"
#include "shared.h"
#include "world.h"

/* Notices that are kept between barriers for locks and flags; more is
 * "everything".  The first epoch of a library with small bounds is one from
 * which the random programs come to numbers that 15 and 16 bits do not hold.
 */
enum {
    KNOWN_MAX = HEARTHI_BOUND(8192, 32),
    EPOCH_FIRST = HEARTHI_BOUND(1, 65530),
    TWO = 2
};

struct lock_view {
    uint64_t given;                  /* of what is known, to this lock */
    uint32_t pos;                    /* read of its log */
    uint64_t given_epoch, pos_epoch; /* for which these count */
    uint64_t begun;                  /* its log is of this epoch or later */
};

static struct {
    struct lock_view      *view;     /* of each synchronisation object */
    struct hearthi_known   known;    /* since the last barrier */
    struct hearthi_known   section;  /* own writes, for scope consistency */
    struct hearthi_pageset own[TWO]; /* written since; two by turns */
    int                    turn;
    uint64_t               interval; /* of this rank */
    int                    held;     /* locks, by all threads */
    bool                   ahead;    /* of the barrier to come: see above */
} c;

void
hearthi_coherence_open(void)
{
    memset(&c, 0, sizeof c);
    c.view = calloc(HEARTHI_SYNCS, sizeof *c.view);
    if (c.view == NULL)
        hearthi_fatal("hearth_init", "no memory");
    hearthi_known_init(&c.known, KNOWN_MAX, (uint32_t)hearthi_world.rank);
    hearthi_known_init(&c.section, KNOWN_MAX, (uint32_t)hearthi_world.rank);
    for (int i = 0; i < TWO; i++)
        hearthi_pageset_init(&c.own[i], HEARTHI_NEWS_OF_ONE);
    hearthi_epochs.release = hearthi_epochs.acquire = EPOCH_FIRST;
    hearthi_shared_open();
    hearthi_interval_open();
}

void
hearthi_coherence_close(void)
{
    hearthi_shared_close();
    for (int i = 0; i < TWO; i++)
        hearthi_pageset_free(&c.own[i]);
    hearthi_known_free(&c.known);
    hearthi_known_free(&c.section);
    free(c.view);
}

/* ---- release ---- */

static void
publish_own(uint64_t page, uint64_t count)
{
    struct hearthi_notice n = { page, (uint32_t)count,
                                (uint32_t)hearthi_world.rank, c.interval };

    hearthi_pageset_add(&c.own[c.turn], page, (uint32_t)count);
    hearthi_known_add(&c.known, &n, -1);
    if (hearthi_world.scope)
        hearthi_known_add(&c.section, &n, -1);
}

static void
interval_next(bool stay)
{
    c.interval++;
    hearthi_interval_end(publish_own, stay);
}

/* An interval of its own, or it would be no news where this rank wrote the
 * same pages. */
void
hearthi_known_elsewhere(uint64_t page, uint32_t count)
{
    struct hearthi_notice n = { page, count, (uint32_t)hearthi_world.rank,
                                ++c.interval };

    hearthi_known_add(&c.known, &n, -1);
    if (!hearthi_world.multiple)
        return;
    if (count == HEARTHI_EVERYTHING)
        c.ahead = true;
    else
        hearthi_pageset_add(&c.own[c.turn], page, count);
}

static struct lock_view *
view_for_release(int sync)
{
    struct lock_view *v = &c.view[sync];

    if (v->given_epoch != hearthi_epochs.release) {
        v->given_epoch = hearthi_epochs.release;
        v->given = 0;
    }
    return v;
}

/* Where a lock's or a flag's notices come from. */
static struct hearthi_known *
source_of(int sync)
{
    return hearthi_world.scope && sync < HEARTH_LOCKS ? &c.section : &c.known;
}

/* What a lock or flag is to be given from *given on, which moves.  What begins
 * a log that tells of one section only are the notices of that section. */
static size_t
notices_for(int sync, uint64_t *given, struct hearthi_notice *out)
{
    struct hearthi_known *from = source_of(sync);
    size_t                n;

    n = hearthi_known_merged(from, sync, given, out, HEARTHI_LOG);
    hearthi_count(notices_out, n);
    if (n == 0 && from == &c.known &&
        c.view[sync].begun < hearthi_epochs.acquire)
        out[n++] = (struct hearthi_notice){ 0, 0, (uint32_t)hearthi_world.rank,
                                            c.interval };
    return n;
}

/* Who holds a lock is alone: another thread of the rank collects for it only
 * after it was passed on, with these notices in its log. */
void
hearthi_lock_release(int sync)
{
    struct hearthi_notice out[HEARTHI_LOG + 1];
    size_t                n = 0;

    if (hearthi_world.nodes > 1) {
        hearthi_table_lock();
        interval_next(false);
        n = notices_for(sync, &view_for_release(sync)->given, out);
        c.held--;
        hearthi_table_unlock();
    }
    hearthi_transport->release(sync, out, n);
}

static void
begun_note(struct lock_view *v, uint64_t epoch)
{
    if (v->begun < epoch)
        v->begun = epoch;
}

/* So much of this epoch is in the flag's log now. */
static void
given_note(struct lock_view *v, uint64_t epoch, uint64_t given)
{
    hearthi_table_lock();
    if (v->given_epoch == epoch && v->given < given)
        v->given = given;
    begun_note(v, epoch);
    hearthi_table_unlock();
}

/* Several threads of the rank may set one flag at once, and who collects first
 * may come to the log last.  So what one has collected counts as given only
 * when it is in the log: until then the others give it, too, or a waiter whom
 * they let go would not be told of what happened before their set.  A log
 * that has a notice twice does no harm. */
void
hearthi_flag_set(int sync)
{
    struct hearthi_notice out[HEARTHI_LOG + 1];
    struct lock_view     *v;
    uint64_t              given, epoch;
    size_t                n;

    if (hearthi_world.nodes == 1) {
        hearthi_transport->flag_set(sync, NULL, 0);
        return;
    }
    hearthi_table_lock();
    interval_next(false);
    v = view_for_release(sync);
    given = v->given;
    epoch = hearthi_epochs.release;
    n = notices_for(sync, &given, out);
    if (n == 0)
        v->given = given;
    hearthi_table_unlock();
    hearthi_transport->flag_set(sync, out, n);
    if (n > 0)
        given_note(v, epoch, given);
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
    uint64_t given =
        source_of(sync) == &c.known ? view_for_release(sync)->given : 0;
    size_t fresh = 0;

    for (size_t i = 0; i < g->n; i++)
        if (g->notice[i].count > 0 &&
            hearthi_known_add(&c.known, &g->notice[i], sync))
            g->notice[fresh++] = g->notice[i];
    g->n = fresh;
    if (g->everything)
        hearthi_known_lost(&c.known, sync, given);
    if (g->ahead > hearthi_epochs.release)
        c.ahead = true;
}

static void
grant_begin(int sync, struct hearthi_grant *g)
{
    const struct lock_view *v = &c.view[sync];

    hearthi_table_lock();
    g->epoch = hearthi_epochs.acquire;
    g->pos = v->pos_epoch == hearthi_epochs.acquire ? v->pos : 0;
    g->n = 0;
    g->everything = false;
    g->ahead = 0;
    hearthi_table_unlock();
}

/* The position moves only after the copies are gone, so that another thread
 * that waits for the same flag cannot pass before they are. */
static void
grant_end(int sync, struct hearthi_grant *g, bool locks)
{
    struct lock_view *v = &c.view[sync];

    hearthi_table_lock();
    notices_learn(sync, g);
    hearthi_notices_apply(g->notice, g->n, g->everything);
    if (g->epoch == hearthi_epochs.acquire) {
        v->pos = g->pos;
        v->pos_epoch = hearthi_epochs.acquire;
    }
    if (g->pos > 0) /* else it is of an epoch that is past */
        begun_note(v, g->epoch);
    c.held += locks;
    hearthi_table_unlock();
}

/* Scope consistency: a new critical section.  What is open now is closed, so
 * that what the section writes can be told from it. */
static void
scope_begin(int sync)
{
    struct lock_view *v;

    hearthi_table_lock();
    interval_next(false);
    if (c.held == 0)
        hearthi_known_forget(&c.section, hearthi_known_next(&c.section));
    v = view_for_release(sync);
    v->given = hearthi_known_next(&c.section);
    hearthi_table_unlock();
}

bool
hearthi_lock_acquire(int sync, bool try)
{
    struct hearthi_grant g;

    if (hearthi_world.nodes == 1) {
        g.epoch = g.pos = 0;
        return hearthi_transport->acquire(sync, try, &g);
    }
    grant_begin(sync, &g);
    if (!hearthi_transport->acquire(sync, try, &g))
        return false;
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
        hearthi_transport->flag_wait(sync, &g);
        return;
    }
    grant_begin(sync, &g);
    hearthi_transport->flag_wait(sync, &g);
    grant_end(sync, &g, false);
}

/* ---- barrier ---- */

/* The runs in notice form; they stay until the transport has copied them. */
static struct hearthi_notice *
own_notices(const struct hearthi_pageset *own)
{
    struct hearthi_notice *out = malloc((own->n + 1) * sizeof *out);

    if (out == NULL)
        hearthi_fatal("hearth_barrier", "no memory for %zu notices", own->n);
    for (size_t i = 0; i < own->n; i++)
        out[i] = (struct hearthi_notice){ own->run[i].page, own->run[i].count,
                                          (uint32_t)hearthi_world.rank, 0 };
    return out;
}

void
hearthi_barrier(bool stay)
{
    struct hearthi_pageset *own;
    struct hearthi_notice  *out = NULL;
    struct hearthi_news     news;
    uint64_t                mark;
    bool                    everything;

    if (hearthi_world.nodes == 1) {
        hearthi_transport->barrier(NULL, 0, false, &news);
        return;
    }
    hearthi_table_lock();
    interval_next(stay);
    own = &c.own[c.turn];
    c.turn = !c.turn;
    mark = hearthi_known_next(&c.known);
    hearthi_epochs.release++;
    hearthi_pageset_normalise(own);
    everything = own->everything || c.ahead;
    c.ahead = false;
    if (own->n > 0)
        out = own_notices(own);
    hearthi_table_unlock();

    hearthi_count(notices_out, own->n);
    hearthi_transport->barrier(out, own->n, everything, &news);
    free(out);

    hearthi_table_lock();
    hearthi_pageset_clear(own);
    hearthi_notices_apply(news.notice, news.n, news.everything);
    hearthi_known_forget(&c.known, mark);
    hearthi_epochs.acquire++;
    hearthi_table_unlock();
}
