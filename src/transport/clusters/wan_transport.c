/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The transport over all clusters.
 *
 * Synchronisation is the gateways' alone, also between ranks of one cluster:
 * a lock has one manager and one log, and a barrier one round.  So nothing of
 * the inner transport's own locks is used, and its epochs stand still.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "clusters.h"
#include "collective.h"
#include "gateway_cache.h"
#include "gateway_channel.h"
#include "gateway_server.h"
#include "hidden_rank.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transport/log.h"
#include "wan_transport.h"
#include "world.h"

static struct hearthi_transport_ops wan;
static struct hearthi_notice       *news; /* of the last barrier */

/* ---- start and end ---- */

static void
progress(void)
{
    hearthi_local_transport->progress();
}

/* An address must mean the same page everywhere, and a frame the same bytes of
 * a segment.  What makes them differ is for the layers that lay them out to
 * agree upon; this is so that it cannot go wrong in silence. */
static void
layout_check(void)
{
    const uint64_t mine[] = {
        (uintptr_t)hearthi_app(0), hearthi_heap.bytes,
        hearthi_heap.shift,        hearthi_segments.frames,
        hearthi_segments.arena,    hearthi_segments.told_at,
        hearthi_segments.names_at, hearthi_segments.frames_at
    };
    enum { N = sizeof mine / sizeof *mine };
    uint64_t least[N], most[N];

    hearthi_all_reduce(mine, least, N, MPI_UINT64_T, MPI_MIN,
                       hearthi_collective_wait);
    hearthi_all_reduce(mine, most, N, MPI_UINT64_T, MPI_MAX,
                       hearthi_collective_wait);
    for (int i = 0; i < N; i++) {
        if (least[i] == most[i])
            continue;
        if (hearthi_cluster.rank == 0)
            hearthi_fatal("hearth_init",
                          "clusters lay out the heap differently (%d: %llu "
                          "here, from %llu to %llu): give them the same "
                          "HEARTH_HEAP, _HOME, _MALLOC and _LOCKS",
                          i, (unsigned long long)mine[i],
                          (unsigned long long)least[i],
                          (unsigned long long)most[i]);
        hearthi_end_wait();
    }
}

/* No rank asks a gateway before each is ready to serve. */
static void
wan_open(void)
{
    hearthi_local_transport->open();
    if (hearthi_gateway_is_here()) {
        hearthi_gateway_manager_open();
        hearthi_gateway_cache_open(hearthi_opt.gateway_cache);
    }
    if (hearthi_opt.transport == HEARTHI_TRANSPORT_MPI &&
        hearthi_cluster.nodes > 1)
        hearthi_gateway_channels_progress(progress);
    if (!hearthi_cluster_hidden())
        hearthi_remote_fetch_open();
    layout_check();
    hearthi_all_barrier(hearthi_collective_wait);
}

/* No rank asks any more when all have come; a handler that is a rank hears of
 * it, and then it closes, too. */
static void
last_meet(void)
{
    if (hearthi_cluster_hidden())
        return;
    hearthi_all_barrier(hearthi_collective_wait);
    hearthi_hidden_rank_closes();
    hearthi_remote_fetch_close();
}

static void
wan_close(void)
{
    last_meet();
    hearthi_gateway_channels_progress(NULL);
    if (hearthi_gateway_is_here())
        hearthi_gateway_manager_close();
    hearthi_local_transport->close();
    free(news);
    news = NULL;
}

/* What other clusters reach must be reachable for their gateway before. */
static void
reach(uint64_t frames)
{
    hearthi_hidden_rank_exposes(frames);
    hearthi_local_transport->collective.expose(frames);
    hearthi_all_barrier(hearthi_collective_wait);
}

/* ---- bytes ---- */

static void
diff(int home, size_t offset, const void *src, size_t len)
{
    if (hearthi_is_far(home))
        hearthi_remote_store(home, offset, src, len);
    else
        hearthi_local_transport->data.diff(hearthi_local_rank(home), offset,
                                           src, len);
}

static bool
patch(int home, size_t offset, const char *src, const uint64_t *mask,
      size_t blocks, size_t runs)
{
    return !hearthi_is_far(home) &&
           hearthi_local_transport->data.patch != NULL &&
           hearthi_local_transport->data.patch(
               hearthi_local_rank(home), offset, src, mask, blocks, runs);
}

static void
tell(int home)
{
    struct hearthi_told told;

    if (!hearthi_is_far(home)) {
        hearthi_local_transport->data.notify(hearthi_local_rank(home));
        return;
    }
    told = hearthi_told_next();
    hearthi_remote_store(home, told.at, &told.value, sizeof told.value);
}

static void
flush(void)
{
    hearthi_local_transport->data.flush();
    hearthi_remote_stores_wait();
}

static void
forget(uint64_t page, uint32_t count)
{
    const struct hearthi_wan_message msg = { .op = HEARTHI_WAN_FORGET };
    const struct hearthi_notice      n = { .page = page, .count = count };

    hearthi_gateway_channel_call(msg, &n, sizeof n, "hearth_acquire");
}

/* ---- locks and flags ---- */

static bool
grant_msg(unsigned op, int sync, unsigned kind, struct hearthi_grant *g)
{
    struct hearthi_gateway_channel  *ch = hearthi_gateway_channel_take();
    const struct hearthi_wan_message msg = { .op = (uint8_t)op,
                                             .kind = (uint8_t)kind,
                                             .to = (uint32_t)sync,
                                             .at = g->epoch,
                                             .n = g->pos };
    struct hearthi_wan_message       answer =
        hearthi_gateway_channel_ask(ch, msg, NULL, 0, "acquire");
    bool taken = (answer.kind & HEARTHI_WAN_TAKEN) != 0;

    if (taken) {
        g->invalidate_all = (answer.kind & HEARTHI_WAN_INVALIDATE_ALL) != 0;
        g->ahead = answer.kind & HEARTHI_WAN_AHEAD ? answer.at : 0;
        g->again = (answer.kind & HEARTHI_WAN_AGAIN) != 0;
        g->pos = answer.n;
        g->n = answer.len / sizeof *g->notice;
    }
    hearthi_gateway_channel_read(ch, g->notice, answer.len);
    hearthi_gateway_channel_give(ch);
    return taken;
}

static bool
acquire(int sync, bool try, struct hearthi_grant *g)
{
    return grant_msg(HEARTHI_WAN_ACQUIRE, sync, try ? HEARTHI_WAN_TRY : 0, g);
}

static bool
rw_acquire(int sync, bool write, bool try, struct hearthi_grant *g)
{
    return grant_msg(
        HEARTHI_WAN_ACQUIRE, sync,
        (write ? HEARTHI_WAN_WRITE : 0) | (try ? HEARTHI_WAN_TRY : 0), g);
}

static void
flag_wait(int sync, struct hearthi_grant *g)
{
    grant_msg(HEARTHI_WAN_WAIT, sync, 0, g);
}

/* More notices than a log holds are "invalidate_all": then their number says
 * enough. */
static void
publish(unsigned op, int sync, uint64_t epoch, const struct hearthi_notice *n,
        size_t count)
{
    const struct hearthi_wan_message msg = { .op = (uint8_t)op,
                                             .to = (uint32_t)sync,
                                             .at = epoch,
                                             .n = (uint32_t)count };

    hearthi_gateway_channel_call(
        msg, n, count > HEARTHI_LOG ? 0 : count * sizeof *n, "release");
}

static void
release(int sync, uint64_t epoch, const struct hearthi_notice *n, size_t count)
{
    publish(HEARTHI_WAN_RELEASE, sync, epoch, n, count);
}

static void
rw_release(int sync, bool write, const struct hearthi_notice *n, size_t count)
{
    (void)write;
    publish(HEARTHI_WAN_RELEASE, sync, hearthi_epochs.release, n, count);
}

static void
flag_set(int sync, const struct hearthi_notice *n, size_t count)
{
    publish(HEARTHI_WAN_SET, sync, hearthi_epochs.release, n, count);
}

static void
flag_reset(int sync)
{
    publish(HEARTHI_WAN_RESET, sync, hearthi_epochs.release, NULL, 0);
}

/* It goes back each time: a cluster's ranks are preferred at its manager. */
static bool
keep(int lock)
{
    (void)lock;
    return false;
}

static void
lost(int rank, struct hearthi_abandoned_locks *l)
{
    (void)rank, (void)l;
}

/* ---- condition variables ---- */

static uint64_t
cond_msg(unsigned op, int sync, unsigned kind, uint64_t at)
{
    const struct hearthi_wan_message msg = { .op = (uint8_t)op,
                                             .kind = (uint8_t)kind,
                                             .to = (uint32_t)sync,
                                             .at = at };

    return hearthi_gateway_channel_call(msg, NULL, 0, "wait").at;
}

static uint64_t
cond_enter(int sync)
{
    return cond_msg(HEARTHI_WAN_ENTER, sync, 0, 0);
}

static void
cond_wait(int sync, uint64_t place)
{
    cond_msg(HEARTHI_WAN_SLEEP, sync, 0, place);
}

static void
cond_wake(int sync, bool all)
{
    cond_msg(HEARTHI_WAN_WAKE, sync, all ? HEARTHI_WAN_ALL : 0, 0);
}

/* ---- the barrier ---- */

static void
barrier(const struct hearthi_notice *own, size_t n, bool invalidate_all,
        struct hearthi_barrier_notices *out)
{
    struct hearthi_gateway_channel  *ch = hearthi_gateway_channel_take();
    const struct hearthi_wan_message msg = {
        .op = HEARTHI_WAN_BARRIER,
        .kind = invalidate_all ? HEARTHI_WAN_INVALIDATE_ALL : 0
    };
    struct hearthi_wan_message answer =
        hearthi_gateway_channel_ask(ch, msg, own, n * sizeof *own, "barrier");

    news = realloc(news, answer.len + 1);
    if (news == NULL)
        hearthi_fatal("hearth_barrier", "no memory for %u bytes of notices",
                      answer.len);
    hearthi_gateway_channel_read(ch, news, answer.len);
    hearthi_gateway_channel_give(ch);
    *out = (struct hearthi_barrier_notices){
        .notice = news,
        .n = answer.len / sizeof *news,
        .invalidate_all = (answer.kind & HEARTHI_WAN_INVALIDATE_ALL) != 0
    };
}

const struct hearthi_transport_ops *
hearthi_transport_wan(const struct hearthi_transport_ops *inner)
{
    hearthi_local_transport = inner;
    wan = *inner; /* its names, and what it registers */
    wan.open = wan_open;
    wan.close = wan_close;
    wan.collective.expose = reach;
    wan.data.fetch = hearthi_remote_fetch;
    wan.data.fetch_concurrent = hearthi_remote_fetch_concurrent;
    wan.data.fetch_begin = hearthi_remote_fetch_begin;
    wan.data.fetch_end = hearthi_remote_fetch_end;
    wan.data.diff = diff;
    wan.data.patch = patch;
    wan.data.notify = tell;
    wan.data.flush = flush;
    wan.sync.acquire = acquire;
    wan.sync.release = release;
    wan.sync.delegate = keep;
    wan.sync.begin = NULL;
    wan.collective.barrier = barrier;
    wan.sync.flag_set = flag_set;
    wan.sync.flag_wait = flag_wait;
    wan.sync.flag_reset = flag_reset;
    wan.sync.cond_enter = cond_enter;
    wan.sync.cond_wait = cond_wait;
    wan.sync.cond_wake = cond_wake;
    wan.sync.abandoned_locks = lost;
    wan.sync.rw_acquire = rw_acquire;
    wan.sync.rw_release = rw_release;
    wan.data.forget = forget;
    wan.data.atomic = hearthi_remote_atomic;
    wan.data.all_steps = false;
    wan.data.post = NULL;
    wan.data.adds = hearthi_remote_adds;
    return &wan;
}
