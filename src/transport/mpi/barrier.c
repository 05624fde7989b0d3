/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The barrier.  The ranks of a node deposit their notices in its memory; its
 * first rank, the leader, joins their runs (coalesce.h), exchanges 64 bytes
 * with the leaders of the other nodes, and the notices themselves only if they
 * do not fit there, and joins what came; then the node's ranks find the
 * barrier's notices in its memory.  First come those of the node's own ranks,
 * as they were: each rank keeps copies of what it alone wrote.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "cluster.h"
#include "fabric.h"
#include "mpi.h"
#include "node/node.h"
#include "notice/coalesce.h"
#include "space/heap.h"

enum { INLINE = 2, ROUNDS = 32 };

struct block { /* what each leader tells at once */
    uint32_t              n, invalidate_all;
    struct hearthi_notice first[INLINE];
    uint32_t              asks;
    char                  rest[64 - 12 - INLINE * 24];
};

_Static_assert(sizeof(struct block) == 64, "one cache line a node");

static struct block *blocks; /* of leader (me + i) mod nodes */
static int          *counts, *starts;

/* The leader's. */
static struct hearthi_gathered ours; /* of each rank here, for the others */
static struct hearthi_notice  *told; /* the same or joined, for other nodes */
static struct hearthi_notice  *joined, *spare; /* for that */

enum { MOST = HEARTHI_BARRIER_NOTICES_MAX };

static const size_t room = MOST * sizeof(struct hearthi_notice);

/* On its node: no other rank needs to know what this rank wrote. */
static bool
is_alone(void)
{
    return hearthi_cluster.node_size == 1;
}

void
hearthi_barrier_open(void)
{
    size_t n = (size_t)hearthi_cluster.nodes;

    blocks = calloc(n, sizeof *blocks);
    counts = calloc(n, sizeof *counts);
    starts = calloc(n, sizeof *starts);
    if (blocks == NULL || counts == NULL || starts == NULL)
        hearthi_fatal("hearth_init", "no memory");
    if (!hearthi_node_is_leader())
        return;
    joined = hearthi_sparse(room);
    spare = hearthi_sparse(room);
    ours = (struct hearthi_gathered){ .notice = is_alone()
                                                    ? hearthi_node.deposited[0]
                                                    : hearthi_node.news,
                                      .most = MOST };
}

void
hearthi_barrier_close(void)
{
    free(blocks);
    free(counts);
    free(starts);
    if (!hearthi_node_is_leader())
        return;
    hearthi_sparse_free(joined, room);
    hearthi_sparse_free(spare, room);
}

/* What this node's ranks have written, as the first of the barrier's notices;
 * a rank that is alone needs no notices of its own. */
static void
ours_gather(void)
{
    const struct hearthi_node_area *node = hearthi_node.area;

    hearthi_gathered_clear(&ours);
    blocks[0].asks = 0;
    for (int r = 0; r < hearthi_cluster.node_size; r++)
        blocks[0].asks |= node->of[r].asks;
    if (is_alone()) {
        ours.n = node->of[0].n;
        ours.invalidate_all = node->of[0].invalidate_all != 0;
        return;
    }
    for (int r = 0; r < hearthi_cluster.node_size; r++)
        hearthi_gathered_add(&ours, hearthi_node.deposited[r], node->of[r].n,
                             node->of[r].invalidate_all != 0);
}

/* How many of these are news. */
static uint32_t
ours_shown(void)
{
    return is_alone() ? 0 : ours.n;
}

/* What other nodes are told of it.  Returns how many notices that is. */
static uint32_t
ours_join(void)
{
    size_t n = ours.n;

    told = ours.notice;
    if (!is_alone())
        told = hearthi_notices_coalesce(told, &n, joined, spare);
    return (uint32_t)n;
}

/* Everything fits the blocks: copy out what the others brought. */
static size_t
news_from_blocks(struct hearthi_notice *to)
{
    size_t n = 0;

    for (int i = 1; i < hearthi_cluster.nodes; i++) {
        memcpy(to + n, blocks[i].first, blocks[i].n * sizeof *to);
        n += blocks[i].n;
    }
    return n;
}

/* How many of a node's n notices are exchanged if all nodes have `total`: all,
 * or so many that an equal share of each is not too much. */
static uint32_t
share_of(uint32_t n, size_t total)
{
    uint32_t most =
        HEARTHI_BARRIER_NOTICES_MAX / (uint32_t)hearthi_cluster.nodes;

    return total <= HEARTHI_BARRIER_NOTICES_MAX || n <= most ? n : most;
}

/* What is told, merged to a share and behind it some of no pages, as all
 * leaders know how many there will be.  Runs may be one whichever rank wrote
 * them.  If they cannot be so few they are everything. */
static void
told_merge(uint32_t n, uint32_t share)
{
    uint32_t leader = (uint32_t)hearthi_cluster.rank;
    size_t   some;

    if (told != joined)
        memcpy(joined, told, n * sizeof *joined);
    told = joined;
    hearthi_notices_sign(told, n, leader);
    some = hearthi_notices_merge(told, n, share);
    if (some > share) {
        told[0] = (struct hearthi_notice){ .count = HEARTHI_INVALIDATE_ALL,
                                           .writer = leader };
        some = 1;
    }
    memset(told + some, 0, (share - some) * sizeof *told);
}

/* Where each node's notices come: the others' behind our own, which are there
 * already if they are told as they are, and else once more behind them.
 * Returns how many are others'. */
static size_t
places_set(size_t total)
{
    int n = hearthi_cluster.nodes, me = hearthi_cluster.node;
    int unit = (int)sizeof *told, from = (int)ours_shown() * unit, at = from;

    for (int node = 0; node < n; node++) {
        counts[node] =
            (int)share_of(blocks[(node - me + n) % n].n, total) * unit;
        starts[node] = at;
        at += node == me ? 0 : counts[node];
    }
    starts[me] = told == hearthi_node.news ? 0 : at;
    return (size_t)((at - from) / unit);
}

/* Returns how many notices of others there are.  Counted as if each leader
 * sent its notices to each other. */
static size_t
news_exchange(size_t total)
{
    uint32_t mine = blocks[0].n, share = share_of(mine, total);
    int      me = hearthi_cluster.node;
    uint64_t others = (uint64_t)hearthi_cluster.nodes - 1;
    size_t   n;

    if (share < mine)
        told_merge(mine, share);
    n = places_set(total);
    hearthi_count(messages, others);
    hearthi_count(message_bytes, others * (uint64_t)counts[me]);
    if (told != hearthi_node.news)
        memcpy((char *)hearthi_node.news + starts[me], told,
               (size_t)counts[me]);
    hearthi_fabric->gather(hearthi_node.news, counts, starts);
    return n;
}

/* The leaders' part.  All of them see the same blocks and so decide alike. */
static void
leaders_exchange(void)
{
    struct hearthi_deposit *news = &hearthi_node.area->news;
    struct hearthi_notice  *others;
    size_t                  total = 0, n;
    bool                    invalidate_all = false, fits = true;
    unsigned                asks = 0;

    ours_gather();
    blocks[0].invalidate_all = ours.invalidate_all;
    blocks[0].n = ours_join();
    if (blocks[0].n <= INLINE)
        memcpy(blocks[0].first, told, blocks[0].n * sizeof *told);
    hearthi_fabric->exchange(blocks, sizeof *blocks);
    for (int i = 0; i < hearthi_cluster.nodes; i++) {
        total += blocks[i].n;
        invalidate_all |= blocks[i].invalidate_all != 0;
        asks |= blocks[i].asks;
        fits &= blocks[i].n <= INLINE;
    }
    news->invalidate_all = invalidate_all;
    news->asks = asks;
    news->n = invalidate_all ? 0 : ours_shown();
    if (invalidate_all)
        return;
    others = hearthi_node.news + news->n;
    n = fits ? news_from_blocks(others) : news_exchange(total);
    hearthi_notices_coalesce(others, &n, others, spare);
    news->n += (uint32_t)n;
}

void
hearthi_mpi_barrier(const struct hearthi_notice *own, size_t n,
                    bool invalidate_all, struct hearthi_barrier_notices *news)
{
    hearthi_node_barrier_arrive(own, n, invalidate_all, news->asks);
    if (hearthi_node_is_leader())
        leaders_exchange();
    /* What others have put into our home memory is seen from here on: the
     * node's barrier is an acquire. */
    hearthi_node_barrier_leave(news);
}
