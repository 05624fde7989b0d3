/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The barrier.  The ranks of a node deposit their notices in its memory; its
 * first rank, the leader, exchanges 64 bytes with the leaders of the other
 * nodes, and the rest of the notices only if they do not fit there; then the
 * node's ranks find the news in its memory.
 *
 * The exchange of the 64 bytes is an all-gather by the algorithm of Bruck et
 * al. (IEEE TPDS 8(11), 1997) from MPI_Isend and MPI_Irecv: MPI_Iallgather
 * takes about three times as long as MPI_Allgather in Open MPI 4.1.4 and
 * twice in MPICH 4.0.2, and the blocking one does not yield the core.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "front/direct.h"
#include "mpi.h"
#include "world.h"

enum { INLINE = 2, ROUNDS = 32 };

struct block { /* what each leader tells at once */
    uint32_t              n, everything;
    struct hearthi_notice first[INLINE];
    char                  rest[64 - 8 - INLINE * 24];
};

_Static_assert(sizeof(struct block) == 64, "one cache line a node");

static struct block *blocks; /* of leader (me + i) mod nodes */
static int          *counts, *starts;
static uint32_t      generation;

void
hearthi_barrier_open(void)
{
    size_t n = (size_t)hearthi_world.nodes;

    generation = 0;
    blocks = calloc(n, sizeof *blocks);
    counts = calloc(n, sizeof *counts);
    starts = calloc(n, sizeof *starts);
    if (blocks == NULL || counts == NULL || starts == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_barrier_close(void)
{
    free(blocks);
    free(counts);
    free(starts);
}

/* After round k, blocks[0 .. 2^(k+1)) are those of the leaders from me on. */
static void
blocks_exchange(void)
{
    int n = hearthi_world.nodes, me = hearthi_world.node;

    for (int have = 1, round = 1; have < n; have *= 2, round++) {
        int         more = have < n - have ? have : n - have;
        int         len = more * (int)sizeof *blocks;
        MPI_Request request[2];

        hearthi_count(messages, 1);
        hearthi_count(message_bytes, (uint64_t)len);
        HEARTHI_MPI(MPI_Irecv(blocks + have, len, MPI_BYTE, (me + have) % n,
                              round, hearthi_world.leaders, &request[0]));
        HEARTHI_MPI(MPI_Isend(blocks, len, MPI_BYTE, (me - have + n) % n,
                              round, hearthi_world.leaders, &request[1]));
        hearthi_requests_wait(request, 2);
    }
}

static void
depositers_wait(void)
{
    struct hearthi_node_area *node = hearthi_mpi.node;

    for (int r = 1; r < hearthi_world.node_size; r++) {
        unsigned turn = 0;

        while (atomic_load_explicit(&node->of[r].generation,
                                    memory_order_acquire) != generation)
            hearthi_relax(&turn);
    }
}

/* True if they are everything. */
static bool
node_total(size_t *n)
{
    struct hearthi_node_area *node = hearthi_mpi.node;
    bool                      everything = false;

    *n = 0;
    for (int r = 0; r < hearthi_world.node_size; r++) {
        *n += node->of[r].n;
        everything |= node->of[r].everything != 0;
    }
    return everything;
}

/* This node's notices, one rank's behind the other's. */
static void
node_gather(struct hearthi_notice *to)
{
    struct hearthi_node_area *node = hearthi_mpi.node;

    for (int r = 0; r < hearthi_world.node_size; r++) {
        memcpy(to, hearthi_mpi.deposited[r], node->of[r].n * sizeof *to);
        to += node->of[r].n;
    }
}

/* Everything fits the blocks: copy out what they brought. */
static void
news_from_blocks(struct hearthi_notice *to)
{
    for (int i = 0; i < hearthi_world.nodes; i++) {
        memcpy(to, blocks[i].first, blocks[i].n * sizeof *to);
        to += blocks[i].n;
    }
}

/* How many of a node's n notices are exchanged if all nodes have `total`: all,
 * or so many that an equal share of each is not too much. */
static uint32_t
share_of(uint32_t n, size_t total)
{
    uint32_t most = HEARTHI_NEWS_MAX / (uint32_t)hearthi_world.nodes;

    return total <= HEARTHI_NEWS_MAX || n <= most ? n : most;
}

/* This node's notices, merged to its share and behind them some of no pages,
 * as all leaders know how many there will be.  If they cannot be so few they
 * are everything, for this node, too. */
static void
node_merge(struct hearthi_notice *to, uint32_t n, uint32_t share)
{
    struct hearthi_notice *all = malloc(n * sizeof *all);
    size_t                 some;

    if (all == NULL)
        hearthi_fatal("hearth_barrier", "no memory for %u notices", n);
    node_gather(all);
    some = hearthi_notices_merge(all, n, share);
    if (some > share) {
        all[0] = (struct hearthi_notice){ .count = HEARTHI_EVERYTHING,
                                          .writer = UINT32_MAX };
        some = 1;
    }
    memset(to, 0, share * sizeof *to);
    memcpy(to, all, some * sizeof *to);
    free(all);
}

/* Counted as if each leader sent its notices to each other. */
static void
news_exchange(size_t total)
{
    int         n = hearthi_world.nodes, me = hearthi_world.node, at = 0;
    int         unit = (int)sizeof(struct hearthi_notice);
    uint32_t    mine = blocks[0].n, share = share_of(mine, total);
    MPI_Request request;

    for (int node = 0; node < n; node++) {
        counts[node] =
            (int)share_of(blocks[(node - me + n) % n].n, total) * unit;
        starts[node] = at;
        at += counts[node];
    }
    hearthi_count(messages, (uint64_t)n - 1);
    hearthi_count(message_bytes, ((uint64_t)n - 1) * (uint64_t)counts[me]);
    if (share < mine)
        node_merge(hearthi_mpi.news + starts[me] / unit, mine, share);
    else
        node_gather(hearthi_mpi.news + starts[me] / unit);
    HEARTHI_MPI(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
                                hearthi_mpi.news, counts, starts, MPI_BYTE,
                                hearthi_world.leaders, &request));
    hearthi_requests_wait(&request, 1);
}

/* The leaders' part.  All of them see the same blocks and so decide alike. */
static void
leaders_exchange(void)
{
    struct hearthi_node_area *node = hearthi_mpi.node;
    size_t                    total = 0;
    bool                      everything, fits = true;

    everything = node_total(&total);
    blocks[0].everything = everything;
    blocks[0].n = everything ? 0 : (uint32_t)total;
    if (!everything && total <= INLINE)
        node_gather(blocks[0].first);
    blocks_exchange();
    total = 0;
    for (int i = 0; i < hearthi_world.nodes; i++) {
        total += blocks[i].n;
        everything |= blocks[i].everything != 0;
        fits &= blocks[i].n <= INLINE;
    }
    node->news.everything = everything;
    node->news.n = 0;
    if (everything)
        return;
    for (int i = 0; i < hearthi_world.nodes; i++)
        node->news.n += share_of(blocks[i].n, total);
    if (fits)
        news_from_blocks(hearthi_mpi.news);
    else
        news_exchange(total);
}

static void
deposit(struct hearthi_deposit *mine, const struct hearthi_notice *own,
        size_t n, bool everything)
{
    everything |= n > HEARTHI_NEWS_OF_ONE;
    mine->everything = everything;
    mine->n = everything ? 0 : (uint32_t)n;
    if (mine->n > 0)
        memcpy(hearthi_mpi.deposited[hearthi_world.node_rank], own,
               n * sizeof *own);
}

/* The deposit of the last barrier may be overwritten: the leader read it
 * before this rank left that barrier.  The news may be overwritten: every
 * rank of the node has arrived, so has read the last ones. */
void
hearthi_mpi_barrier(const struct hearthi_notice *own, size_t n,
                    bool everything, struct hearthi_news *news)
{
    struct hearthi_node_area *node = hearthi_mpi.node;
    struct hearthi_deposit   *mine = &node->of[hearthi_world.node_rank];
    unsigned                  turn = 0;

    generation++;
    deposit(mine, own, n, everything);
    atomic_store_explicit(&mine->generation, generation, memory_order_release);
    if (hearthi_world.node_rank == 0) {
        depositers_wait();
        if (hearthi_world.nodes > 1)
            leaders_exchange();
        atomic_store_explicit(&node->news.generation, generation,
                              memory_order_release);
    } else {
        while (atomic_load_explicit(&node->news.generation,
                                    memory_order_acquire) != generation)
            hearthi_relax(&turn);
    }
    /* What RMA wrote into our home memory is ordered as by MPI_Win_sync. */
    atomic_thread_fence(memory_order_acquire);
    news->notice = hearthi_mpi.news;
    news->n = node->news.n;
    news->everything = node->news.everything != 0;
}
