/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Acquire, release and barrier.
 *
 * A lock has a log of notices at its manager; positions in it are counted
 * within an epoch, the time between two barriers, since a barrier tells all
 * ranks everything.  Scope and release consistency differ in what a release
 * publishes: scope the notices of this critical section, release all that the
 * rank knows and has not yet given to this lock.  Flags have no critical
 * section, so under both consistencies they publish what is known.
 *
 * Threads: one thread of the rank may be inside a barrier while others use
 * locks.  From the moment when the barrier has collected this rank's notices,
 * its releases belong to the next epoch (they are not in the barrier), while
 * its acquires belong to the old one until the barrier has brought the notices
 * of the others.  A rank still in the old epoch that meets a log of a later
 * one takes it for "invalidate_all".  What it then knows may have missed every
 * barrier before the log's epoch; and if this rank has yet to arrive at one of
 * those, it happened before that arrival, and so before every rank's
 * departure.  So if the log's epoch is after that of this rank's releases,
 * this rank tells the next barrier "invalidate_all".  That may be so inside of
 * a barrier, too, as others may have left it and be inside of the next.
 *
 * What a rank knew before a barrier it has forgotten when it leaves, whichever
 * rank synchronises next.  A thread that then meets a log of the old epoch, in
 * a rank that has not left yet, would take it for all there is.  So after each
 * release the log is of the epoch of the releaser's acquires or of a later
 * one: with nothing to tell, a notice of no pages begins it anew.
 */
#include "config.h"

#include "coherence.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/test_limits.h"
#include "home_add.h"
#include "known_notices.h"
#include "lock_recall.h"
#include "migrate.h"
#include "migrate_request.h"
#include "page/freed_frames.h"
#include "page/node_cache.h"
#include "page/page.h"
#include "page/reuse_prefetch.h"
#include "policy/sticky_home.h"
#include "race_sync.h"
#include "world.h"

/* Notices that are kept between barriers for locks and flags; more are merged.
 * The first epoch of a library with small bounds is one from
 * which the random programs come to numbers that 15 and 16 bits do not hold.
 */
enum {
    KNOWN_MAX = HEARTHI_TEST_LIMIT(8192, 32),
    EPOCH_FIRST = HEARTHI_TEST_LIMIT(1, 65530),
    TWO = 2
};

static struct {
    struct hearthi_pageset own[TWO]; /* written since; two by turns */
    int                    turn;
} c;

struct hearthi_known_notices hearthi_known_notices;

void
hearthi_coherence_open(void)
{
    memset(&c, 0, sizeof c);
    memset(&hearthi_known_notices, 0, sizeof hearthi_known_notices);
    hearthi_sync_views_open();
    hearthi_lock_idle_open();
    hearthi_notice_store_init(&hearthi_known_notices.known, KNOWN_MAX,
                              (uint32_t)hearthi_world.rank);
    hearthi_notice_store_init(&hearthi_known_notices.section, KNOWN_MAX,
                              (uint32_t)hearthi_world.rank);
    for (int i = 0; i < TWO; i++)
        hearthi_pageset_init(&c.own[i], HEARTHI_NOTICES_OF_ONE);
    hearthi_epochs.release = hearthi_epochs.acquire = EPOCH_FIRST;
    hearthi_sharer_flags_open();
    hearthi_sticky_home_open();
    hearthi_migrate_requests_open();
    hearthi_interval_open();
    hearthi_home_adds_open();
}

void
hearthi_coherence_close(void)
{
    hearthi_home_adds_close();
    hearthi_sharer_flags_close();
    hearthi_sticky_home_close();
    hearthi_migrate_requests_close();
    for (int i = 0; i < TWO; i++)
        hearthi_pageset_free(&c.own[i]);
    hearthi_notice_store_free(&hearthi_known_notices.known);
    hearthi_notice_store_free(&hearthi_known_notices.section);
    hearthi_lock_idle_close();
    hearthi_sync_views_close();
}

/* ---- release ---- */

static void
publish_own(uint64_t page, uint64_t count)
{
    struct hearthi_notice n = { page, (uint32_t)count,
                                (uint32_t)hearthi_world.rank,
                                hearthi_known_notices.interval };

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(count > 0 && page + count <= hearthi_table.top);
    hearthi_pageset_add(&c.own[c.turn], page, (uint32_t)count);
    hearthi_notice_store_add(&hearthi_known_notices.known, &n, -1);
    if (hearthi_world.scope)
        hearthi_notice_store_add(&hearthi_known_notices.section, &n, -1);
}

void
hearthi_interval_next(enum hearthi_end how)
{
    HEARTHI_ASSERT_HAS(TABLE);
    hearthi_known_notices.interval++;
    hearthi_interval_end(publish_own, how);
}

/* An interval of its own, or it would be no news where this rank wrote the
 * same pages. */
void
hearthi_known_elsewhere(uint64_t page, uint32_t count)
{
    struct hearthi_notice n = { page, count, (uint32_t)hearthi_world.rank,
                                ++hearthi_known_notices.interval };

    HEARTHI_ASSERT_HAS(TABLE);
    hearthi_notice_store_add(&hearthi_known_notices.known, &n, -1);
    if (!hearthi_world.threads)
        return;
    if (count == HEARTHI_INVALIDATE_ALL)
        hearthi_known_notices.ahead = true;
    else
        hearthi_pageset_add(&c.own[c.turn], page, count);
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

/* What all have written, of this barrier; `mark`: what was known before. */
static void
news_take(struct hearthi_pageset               *own,
          const struct hearthi_barrier_notices *news, uint64_t mark)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(own == &c.own[!c.turn] && own->n <= HEARTHI_NOTICES_OF_ONE);
    hearthi_pageset_clear(own);
    hearthi_notices_apply(news->notice, news->n, news->invalidate_all);
    HEARTHI_ASSERT(hearthi_notices_are_applied(news->notice, news->n,
                                               news->invalidate_all));
    hearthi_migrate_requests_learn(news);
    HEARTHI_ASSERT(mark <=
                   hearthi_notice_store_next(&hearthi_known_notices.known));
    hearthi_notice_store_forget(&hearthi_known_notices.known, mark);
    hearthi_node_cache_leave();
    hearthi_epochs.acquire++;
    HEARTHI_ASSERT(hearthi_epochs.release == hearthi_epochs.acquire);
}

/* So many first copies that another fetch of each costs more than a meeting.
 * Ranks of other clusters take no part in one. */
enum { SHARED_LEAST = HEARTHI_TEST_LIMIT(16, 1) };

static bool
has_first_copies(void)
{
    return hearthi_provisional.n >= SHARED_LEAST &&
           hearthi_world.clusters == 1 &&
           hearthi_opt.races == HEARTHI_RACES_OFF;
}

/* What this rank says beside what it has written. */
static unsigned
asks_of(const struct hearthi_pageset *own)
{
    return (hearthi_migrate_requests_begin(own) ? HEARTHI_ASKS_MOVES : 0u) |
           (has_first_copies() ? HEARTHI_ASKS_SHARED : 0u);
}

/* What all ranks do then that some rank has asked for. */
static void
asked_do(unsigned asks)
{
    uint8_t nothing = 0;

    HEARTHI_ASSERT_HAS(TABLE);
    if (asks & HEARTHI_ASKS_SHARED)
        hearthi_sharer_flags_arm();
    if ((asks & (HEARTHI_ASKS_MOVES | HEARTHI_ASKS_SHARED)) == 0)
        return;
    hearthi_table_unlock();
    if (asks & HEARTHI_ASKS_MOVES)
        hearthi_migrate();
    if (asks & HEARTHI_ASKS_SHARED)
        hearthi_barrier_or(&nothing, sizeof nothing);
    hearthi_table_lock();
}

static unsigned
barrier(bool stay, unsigned asks)
{
    struct hearthi_pageset        *own;
    struct hearthi_notice         *out = NULL;
    struct hearthi_barrier_notices news = { .asks = asks };
    uint64_t                       mark, begin;
    bool                           invalidate_all;
    unsigned                       place = hearthi_race_barrier();

    if (hearthi_world.nodes == 1) { /* all of its time is waiting */
        hearthi_transport->collective.barrier(NULL, 0, false, &news);
        return news.asks;
    }
    hearthi_home_adds_end();
    hearthi_table_lock();
    HEARTHI_ASSERT(hearthi_epochs.release == hearthi_epochs.acquire);
    hearthi_lock_idle_begin();
    hearthi_interval_next(stay ? HEARTHI_END_BARRIER : HEARTHI_END_ALL);
    hearthi_race_arrive(place);
    hearthi_node_cache_arrive();
    own = &c.own[c.turn];
    c.turn = !c.turn;
    HEARTHI_ASSERT(c.own[c.turn].n == 0 || hearthi_world.threads);
    hearthi_pageset_normalise(own);
    if (stay)
        news.asks |= asks_of(own);
    mark = hearthi_notice_store_next(&hearthi_known_notices.known);
    hearthi_epochs.release++;
    HEARTHI_ASSERT(own->n <= HEARTHI_NOTICES_OF_ONE && !own->loose);
    HEARTHI_ASSERT(hearthi_epochs.release == hearthi_epochs.acquire + 1);
    invalidate_all = own->invalidate_all || hearthi_known_notices.ahead;
    hearthi_known_notices.ahead = false;
    if (own->n > 0)
        out = own_notices(own);
    hearthi_table_unlock();

    hearthi_count(notices_out, own->n);
    begin = hearthi_now();
    hearthi_transport->collective.barrier(out, own->n, invalidate_all, &news);
    hearthi_count(barrier_wait_ns, hearthi_now() - begin);
    free(out);

    hearthi_table_lock();
    news_take(own, &news, mark);
    hearthi_freed_frames_purge();
    hearthi_race_depart(place);
    asked_do(news.asks);
    hearthi_reuse_prefetch_fetch();
    hearthi_table_unlock();
    return news.asks;
}

void
hearthi_barrier(bool stay)
{
    barrier(stay, 0);
}

unsigned
hearthi_barrier_asking(unsigned asks)
{
    return barrier(true, asks);
}
