/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Homes whose memory the gateway's machine shares are read and written by this
 * processor, the others by the cluster's own transport, on a way of its own
 * beside all that the program does.
 *
 * A page that is announced is read after its flag has arrived and its home was
 * told, so that what is read then is as good as a copy that may survive an
 * acquire (coherence/sharer_flags.c has why), and the gateway that asked may
 * keep it.  The rank that asked drops its own copy at its next acquire, as
 * always.
 */
#include "config.h"

#include "gateway_server.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/report.h"
#include "cluster.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "transport/word_split.h"
#include "wan_transport.h"
#include "world.h"

enum { RUNS = 64 };

static int
local(uint32_t home)
{
    return (int)home - hearthi_gateway_server.first;
}

/* The segment of a home whose memory is here, or NULL. */
static char *
segment_of(uint32_t home)
{
    int rank = local(home);

    HEARTHI_ASSERT(rank >= 0 && rank < hearthi_cluster.size);
    if (hearthi_cluster.node_of[rank] != hearthi_cluster.node)
        return NULL;
    return hearthi_segments.base[hearthi_cluster.node_rank_of[rank]];
}

/* ---- bytes ---- */

static void
store_here_or_there(uint32_t home, uint64_t at, const char *from, size_t len)
{
    char *here = segment_of(home);

    if (here != NULL)
        hearthi_run_store(here + at, from, len);
    else
        hearthi_local_transport->data.store(local(home), at, from, len);
}

static void
stored(void)
{
    if (hearthi_cluster.nodes > 1)
        hearthi_local_transport->data.stored();
}

/* The fences: what is stored comes behind the message, and before the answer
 * to it. */
static void
store(const struct hearthi_wan_message *msg)
{
    const char *at = hearthi_wan_message_body(msg), *end = at + msg->len;

    atomic_thread_fence(memory_order_seq_cst);
    while (at < end) {
        struct hearthi_wan_bytes run;

        memcpy(&run, at, sizeof run);
        at += sizeof run;
        store_here_or_there(run.home, run.at, at, run.len);
        at += hearthi_wan_round(run.len);
    }
    stored();
    atomic_thread_fence(memory_order_seq_cst);
    hearthi_gateway_answer(*msg, NULL, 0);
}

/* ---- words ---- */

static void
atomic(const struct hearthi_wan_message *msg)
{
    const struct hearthi_atomic_op s = { .kind = msg->kind,
                                         .narrow = msg->narrow,
                                         .value = msg->value,
                                         .expected = msg->expected };
    struct hearthi_wan_message     answer = *msg;

    answer.value = hearthi_local_transport_atomic(local(msg->to), msg->at, &s);
    hearthi_gateway_answer(answer, NULL, 0);
}

/* ---- pages ---- */

static void
flags_set(char *segment, uint64_t frame, uint64_t count)
{
    char    *summary = segment + hearthi_segments.summary_at;
    uint64_t first = frame / HEARTHI_SUMMARY;
    uint64_t last = (frame + count - 1) / HEARTHI_SUMMARY;

    HEARTHI_ASSERT(count > 0 && frame + count <= hearthi_segments.frames);
    memset(segment + frame, 1, count);
    memset(summary + first, 1, last - first + 1);
}

/* Each home once; the word stays until it has arrived. */
static void
homes_tell(const struct hearthi_wan_run *run, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct hearthi_told told =
            hearthi_told_by((uint64_t)hearthi_world.size +
                            (uint64_t)hearthi_gateway_server.me);

        if (!run[i].announce ||
            (i > 0 && run[i - 1].announce && run[i - 1].home == run[i].home))
            continue;
        store_here_or_there(run[i].home, told.at, (const char *)&told.value,
                            sizeof told.value);
        stored();
    }
}

/* Set the flags of what is announced, and tell the homes; `to` has room for
 * the pages.  The fences: flags come before the words that tell of them
 * (told_changed()), and these before the loads of pages, which pairs with
 * hearthi_sharer_flags_scan(). */
static void
announce(const struct hearthi_wan_run *run, size_t n, char *to)
{
    for (size_t i = 0; i < n; i++) {
        char *here = segment_of(run[i].home);

        if (!run[i].announce)
            continue;
        if (here != NULL)
            flags_set(here, run[i].frame, run[i].count);
        else
            hearthi_local_transport_fetch(
                &(struct hearthi_fetch){ .page = run[i].page,
                                         .count = run[i].count,
                                         .home = local(run[i].home),
                                         .frame = run[i].frame,
                                         .to = to,
                                         .announce = true },
                1);
    }
    atomic_thread_fence(memory_order_seq_cst);
    homes_tell(run, n);
    atomic_thread_fence(memory_order_seq_cst);
}

static void
pages_read(const struct hearthi_wan_run *run, size_t n, char *to)
{
    struct hearthi_fetch far[RUNS];
    size_t               k = 0;

    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)run[i].count << hearthi_heap.shift;
        char  *here = segment_of(run[i].home);

        if (here != NULL)
            memcpy(to,
                   here + hearthi_frame_at(run[i].frame, hearthi_heap.shift),
                   len);
        else
            far[k++] = (struct hearthi_fetch){ .page = run[i].page,
                                               .count = run[i].count,
                                               .home = local(run[i].home),
                                               .frame = run[i].frame,
                                               .to = to };
        if (k == RUNS || (k > 0 && i + 1 == n)) {
            hearthi_local_transport_fetch(far, k);
            k = 0;
        }
        to += len;
    }
}

/* Of a home elsewhere the pages that the bytes are on. */
static void
bytes_bring(const struct hearthi_wan_bytes *run, char *to)
{
    size_t   page = hearthi_heap.page, from = hearthi_segments.frames_at;
    uint64_t first = (run->at - from) / page;
    uint64_t count = (run->at + run->len - 1 - from) / page - first + 1;
    char    *all = malloc(count * page);

    if (all == NULL)
        hearthi_fatal("gateway", "no memory for %u bytes", run->len);
    hearthi_local_transport_fetch(
        &(struct hearthi_fetch){ .count = (uint32_t)count,
                                 .home = local(run->home),
                                 .frame = first,
                                 .to = all },
        1);
    memcpy(to, all + (run->at - from - first * page), run->len);
    free(all);
}

/* The fence: the loads come behind the message that asks for them. */
static void
bytes_read(const struct hearthi_wan_message *msg)
{
    const struct hearthi_wan_bytes *run = hearthi_wan_message_body(msg);
    size_t                          n = msg->len / sizeof *run, bytes = 0;
    char                           *to;

    for (size_t i = 0; i < n; i++)
        bytes += hearthi_wan_round(run[i].len);
    to = hearthi_gateway_body(bytes);
    atomic_thread_fence(memory_order_seq_cst);
    for (size_t i = 0; i < n; i++) {
        char *here = segment_of(run[i].home);

        if (here != NULL)
            hearthi_run_load(to, here + run[i].at, run[i].len);
        else
            bytes_bring(&run[i], to);
        to += hearthi_wan_round(run[i].len);
    }
    hearthi_gateway_answer_body(*msg, bytes);
}

static void
fetch(const struct hearthi_wan_message *msg)
{
    const struct hearthi_wan_run *run = hearthi_wan_message_body(msg);
    size_t                        n = msg->len / sizeof *run, bytes = 0;
    char                         *to;

    for (size_t i = 0; i < n; i++)
        bytes += (size_t)run[i].count << hearthi_heap.shift;
    to = hearthi_gateway_body(bytes);
    announce(run, n, to);
    pages_read(run, n, to);
    hearthi_gateway_answer_body(*msg, bytes);
}

void
hearthi_gateway_homes_serve(const struct hearthi_wan_message *msg)
{
    switch ((enum hearthi_wan_op)msg->op) {
    case HEARTHI_WAN_FETCH:
    case HEARTHI_WAN_KEEP: fetch(msg); break;
    case HEARTHI_WAN_STORE: store(msg); break;
    case HEARTHI_WAN_READ: bytes_read(msg); break;
    case HEARTHI_WAN_ATOMIC: atomic(msg); break;
    default: break;
    }
}
