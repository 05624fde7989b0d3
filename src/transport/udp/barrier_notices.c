/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A leader joins the runs of its node's ranks before it tells of them, and
 * those of other nodes once more, and puts these behind its node's own, which
 * are as they were told since each rank keeps copies of what it alone wrote.
 * All that is in memory that the node's ranks share.
 *
 * The list may be written from when all ranks of the node have arrived, since
 * each has done with the last one then, until one of them is told that the
 * barrier has ended.
 */
#include "config.h"

#include "barrier_notices.h"

#include <string.h>

#include "base/assert.h"
#include "cluster.h"
#include "node/shm_area.h"
#include "shm_message.h"
#include "space/heap.h"
#include "udp_job.h"

struct hearthi_udp_barrier_notices hearthi_udp_barrier_notices;

static struct hearthi_udp_barrier_notices *const u =
    &hearthi_udp_barrier_notices;
static struct hearthi_notice  *spare;  /* for joining */
static struct hearthi_shm_area shared; /* the leader's: the list */

enum { MOST = HEARTHI_BARRIER_NOTICES_MAX };

static const size_t room = MOST * sizeof(struct hearthi_notice);

/* Of the list, as many of our own as of others. */
static const size_t list_room = 2 * MOST * sizeof(struct hearthi_notice);

/* Where a rank of this node leaves what it tells, behind the list. */
static struct hearthi_notice *
left_by(int rank)
{
    return u->list.notice + 2 * MOST +
           (size_t)hearthi_cluster.node_rank_of[rank] * HEARTHI_NOTICES_OF_ONE;
}

void
hearthi_udp_barrier_notices_open(bool led)
{
    size_t left = (size_t)hearthi_cluster.node_size * HEARTHI_NOTICES_OF_ONE *
                  sizeof *u->list.notice;

    memset(u, 0, sizeof *u);
    memset(&shared, 0, sizeof shared);
    spare = NULL;
    u->gather.most = u->ours.most = u->news.most = MOST;
    if (!led) {
        u->gather.notice = hearthi_sparse(room);
        u->ours.notice = hearthi_sparse(room);
        u->news.notice = hearthi_sparse(room);
        spare = hearthi_sparse(room);
    }
    if (hearthi_udp_shm_channel_used()) {
        hearthi_shm_area_open(&shared, list_room + left, 0);
        u->list.notice = (struct hearthi_notice *)(void *)shared.base;
    } else {
        u->list.notice = hearthi_sparse(list_room);
    }
}

void
hearthi_udp_barrier_notices_close(void)
{
    if (u->ours.notice != NULL) {
        hearthi_sparse_free(u->gather.notice, room);
        hearthi_sparse_free(u->ours.notice, room);
        hearthi_sparse_free(u->news.notice, room);
        hearthi_sparse_free(spare, room);
    }
    if (shared.base != NULL)
        hearthi_shm_area_close(&shared);
    else
        hearthi_sparse_free(u->list.notice, list_room);
}

/* Where there is a list for other ranks, too, the runs of each are kept apart.
 */
void
hearthi_udp_barrier_notices_add(int from, const void *notice, size_t n,
                                bool invalidate_all)
{
    bool ours = from == hearthi_cluster.rank || hearthi_udp_is_local(from);
    bool apart = ours && hearthi_udp_shm_channel_used();

    hearthi_gathered_add(apart ? &u->ours : &u->gather, notice, n,
                         invalidate_all);
}

/* What was left for the last barrier may be overwritten: the leader has
 * fetched it before this rank left that barrier. */
void
hearthi_udp_barrier_notices_leave(const struct hearthi_notice *own, size_t n)
{
    HEARTHI_ASSERT(n <= HEARTHI_NOTICES_OF_ONE);
    if (n > 0)
        memcpy(left_by(hearthi_cluster.rank), own, n * sizeof *own);
}

void
hearthi_udp_barrier_notices_fetch(int from, size_t n, bool invalidate_all)
{
    invalidate_all |= n > HEARTHI_NOTICES_OF_ONE;
    hearthi_udp_barrier_notices_add(from, left_by(from),
                                    invalidate_all ? 0 : n, invalidate_all);
}

/* For the parent there is one writer here, of which there may be less to tell
 * than there are notices. */
static struct hearthi_notice *
own_merge(struct hearthi_notice *own, size_t *n, struct hearthi_notice *to)
{
    if (own != to)
        memcpy(to, own, *n * sizeof *to);
    hearthi_notices_sign(to, *n, (uint32_t)hearthi_cluster.rank);
    *n = hearthi_notices_merge(to, *n, MOST / 2);
    return to;
}

/* Behind those that other nodes told.  The list is not in use, and a place for
 * what was joined. */
void
hearthi_udp_barrier_notices_join(void)
{
    struct hearthi_gathered *g = &u->gather;
    size_t                   n = u->ours.n;
    struct hearthi_notice   *own =
        hearthi_notices_coalesce(u->ours.notice, &n, u->list.notice, spare);

    HEARTHI_ASSERT(u->ours.n <= MOST && g->n <= MOST);
    if (n > MOST - g->n)
        own = own_merge(own, &n, u->list.notice);
    hearthi_gathered_add(g, own, n, u->ours.invalidate_all);
    if (!g->invalidate_all)
        hearthi_notices_sign(g->notice + g->n - n, n,
                             (uint32_t)hearthi_cluster.rank);
}

/* Those of other nodes.  Returns their number. */
static size_t
others_take(struct hearthi_notice *to)
{
    const struct hearthi_gathered *g = &u->gather;
    size_t                         n = 0;

    for (size_t i = 0; i < g->n; i++)
        if (g->notice[i].writer != (uint32_t)hearthi_cluster.rank)
            to[n++] = g->notice[i];
    hearthi_notices_coalesce(to, &n, to, spare);
    return n;
}

void
hearthi_udp_barrier_notices_list(void)
{
    u->list.invalidate_all = u->gather.invalidate_all;
    u->list.n = 0;
    if (u->list.invalidate_all)
        return;
    memcpy(u->list.notice, u->ours.notice, u->ours.n * sizeof *u->list.notice);
    u->list.n = u->ours.n + (uint32_t)others_take(u->list.notice + u->ours.n);
    HEARTHI_ASSERT(u->list.n <= 2 * MOST);
}

void
hearthi_udp_barrier_notices_turn(void)
{
    struct hearthi_gathered was = u->news;

    u->news = u->gather;
    u->gather = was;
    hearthi_gathered_clear(&u->gather);
    hearthi_gathered_clear(&u->ours);
}
