/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Under the lock of the page table there is one connection for all, on which
 * what is stored is asked before what is fetched later: so a fetch finds what
 * this rank stored and told before it.  The gateway and the link keep the
 * order.  A fetch beside the lock has a connection of its own.
 *
 * A long fetch is asked for in pieces, several on their way, which the home
 * reads while others are on the link; not more than fill a long fat one, since
 * a gateway keeps what it has read until the other has it.
 */
#include "config.h"

#include "wan_transport.h"

#include <stdlib.h>
#include <string.h>

#include "base/min.h"
#include "base/report.h"
#include "clusters.h"
#include "gateway_channel.h"
#include "space/heap.h"
#include "transport/word_split.h"
#include "world.h"

enum { PIECE = 256 << 10, PIECES = 64, RUNS = 32 };
enum { PACK = 256 << 10, PACKS = 16 };

/* One that is on its way, or (n is 0) a place for one.  They are answered in
 * any order. */
struct piece {
    char  *to[RUNS];
    size_t len[RUNS];
    int    n;
};

/* Those on one connection.  Places are there from the start: a page fault must
 * not allocate. */
struct transfer {
    struct hearthi_gateway_channel *channel;
    struct piece                    piece[PIECES]; /* by its number */
    uint32_t                        left;
};

/* Runs that are being gathered into one ask. */
struct msg {
    struct hearthi_wan_run run[RUNS];
    struct piece           piece;
    int                    cluster, n;
    size_t                 bytes;
};

static struct {
    struct hearthi_gateway_channel *channel; /* under the lock */
    char                           *pack;
    size_t                          bytes;
    int                             cluster;
    unsigned                        sent; /* that were not answered */
} push;

static struct transfer locked, ahead, of_way[HEARTHI_WAYS];

void
hearthi_remote_fetch_open(void)
{
    push.channel = hearthi_gateway_channel_take();
    push.pack = malloc(PACK + sizeof(struct hearthi_wan_bytes));
    push.bytes = push.sent = 0;
    if (push.pack == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_remote_fetch_close(void)
{
    hearthi_gateway_channel_give(push.channel);
    free(push.pack);
}

/* ---- bytes that go ---- */

static void
push_heard(void)
{
    hearthi_gateway_channel_hear(push.channel, "release");
    push.sent--;
}

static void
push_send(void)
{
    const struct hearthi_wan_message msg = {
        .op = HEARTHI_WAN_STORE,
        .to = (uint32_t)hearthi_world.first_of[push.cluster]
    };

    if (push.bytes == 0)
        return;
    while (push.sent >= PACKS)
        push_heard();
    hearthi_gateway_channel_send(push.channel, msg,
                                 &(struct iovec){ push.pack, push.bytes }, 1);
    push.bytes = 0;
    push.sent++;
}

void
hearthi_remote_store(int home, size_t offset, const void *src, size_t len)
{
    int         cluster = hearthi_cluster_of(home);
    const char *from = src;

    if (push.bytes > 0 && push.cluster != cluster)
        push_send();
    push.cluster = cluster;
    for (size_t some; len > 0; from += some, offset += some, len -= some) {
        struct hearthi_wan_bytes run = { offset, (uint32_t)home, 0 };

        if (push.bytes + sizeof run + hearthi_min(len, 64) > PACK)
            push_send();
        some = hearthi_word_split(offset, len, PACK - push.bytes - sizeof run);
        run.len = (uint32_t)some;
        memcpy(push.pack + push.bytes, &run, sizeof run);
        memset(push.pack + push.bytes + sizeof run +
                   (hearthi_wan_round(some) - 8),
               0, 8);
        memcpy(push.pack + push.bytes + sizeof run, from, some);
        push.bytes += sizeof run + hearthi_wan_round(some);
    }
}

void
hearthi_remote_stores_wait(void)
{
    push_send();
    while (push.sent > 0)
        push_heard();
}

/* ---- pages that come ---- */

static void
far_take(struct transfer *p, const struct hearthi_wan_message *answer)
{
    struct piece *piece = &p->piece[answer->n];

    for (int i = 0; i < piece->n; i++)
        hearthi_gateway_channel_read(p->channel, piece->to[i], piece->len[i]);
    piece->n = 0;
    p->left--;
}

/* That of something stored may be before it. */
static void
answer_take(struct transfer *p)
{
    struct hearthi_wan_message answer =
        hearthi_gateway_channel_hear(p->channel, "page fault");

    if (answer.op == HEARTHI_WAN_STORE)
        push.sent--;
    else
        far_take(p, &answer);
}

static uint32_t
place_free(struct transfer *p)
{
    uint32_t i = 0;

    while (p->left == PIECES)
        answer_take(p);
    while (p->piece[i].n > 0)
        i++;
    return i;
}

static void
msg_send(struct transfer *p, struct msg *a)
{
    struct hearthi_wan_message head = {
        .op = HEARTHI_WAN_FETCH,
        .to = (uint32_t)hearthi_world.first_of[a->cluster],
    };

    if (a->n == 0)
        return;
    head.n = place_free(p);
    a->piece.n = a->n;
    p->piece[head.n] = a->piece;
    p->left++;
    hearthi_gateway_channel_send(
        p->channel, head,
        &(struct iovec){ a->run, (size_t)a->n * sizeof *a->run }, 1);
    a->n = 0;
    a->bytes = 0;
}

static void
msg_add(struct transfer *p, struct msg *a, const struct hearthi_fetch *f)
{
    uint64_t most = PIECE >> hearthi_heap.shift;

    most = most > 0 ? most : 1;
    for (uint64_t at = 0, n; at < f->count; at += n) {
        n = hearthi_min(f->count - at, most);
        if (a->n > 0 &&
            (a->n == RUNS || a->cluster != hearthi_cluster_of(f->home) ||
             a->bytes + (n << hearthi_heap.shift) > PIECE))
            msg_send(p, a);
        a->cluster = hearthi_cluster_of(f->home);
        a->run[a->n] =
            (struct hearthi_wan_run){ f->page + at,
                                      f->frame + at,
                                      (uint32_t)n,
                                      (uint32_t)f->home,
                                      f->announce,
                                      f->announce_behind,
                                      at + n == f->count ? f->behind : 0 };
        a->piece.to[a->n] = f->to + (at << hearthi_heap.shift);
        a->piece.len[a->n] = (size_t)n << hearthi_heap.shift;
        a->bytes += (size_t)n << hearthi_heap.shift;
        a->n++;
    }
}

static void
far_msg(struct transfer *p, const struct hearthi_fetch *run, size_t n)
{
    struct msg a = { .n = 0 };

    for (size_t i = 0; i < n; i++)
        if (hearthi_is_far(run[i].home))
            msg_add(p, &a, &run[i]);
    msg_send(p, &a);
}

static void
far_wait(struct transfer *p)
{
    while (p->left > 0)
        answer_take(p);
}

/* Those of this cluster, in its own numbers. */
static void
near_bring(void (*bring)(int way, const struct hearthi_fetch *run, size_t n),
           int way, const struct hearthi_fetch *run, size_t n)
{
    struct hearthi_fetch near[RUNS];
    size_t               k = 0;

    for (size_t i = 0; i < n; i++) {
        if (!hearthi_is_far(run[i].home)) {
            near[k] = run[i];
            near[k++].home -= hearthi_world.first;
        }
        if (k == RUNS || (k > 0 && i + 1 == n)) {
            bring(way, near, k);
            k = 0;
        }
    }
}

static void
fetch_locked(int way, const struct hearthi_fetch *run, size_t n)
{
    (void)way;
    hearthi_local_transport->data.fetch(run, n);
}

void
hearthi_remote_fetch(const struct hearthi_fetch *run, size_t n)
{
    locked.channel = push.channel;
    push_send();
    far_msg(&locked, run, n);
    near_bring(fetch_locked, 0, run, n);
    far_wait(&locked);
    hearthi_remote_stores_wait();
}

void
hearthi_remote_fetch_concurrent(int way, const struct hearthi_fetch *run,
                                size_t n)
{
    struct transfer *p = &of_way[way];

    p->channel = hearthi_gateway_channel_take();
    far_msg(p, run, n);
    near_bring(hearthi_local_transport->data.fetch_concurrent, way, run, n);
    far_wait(p);
    hearthi_gateway_channel_give(p->channel);
}

bool
hearthi_remote_fetch_begin(const struct hearthi_fetch *run, size_t n)
{
    ahead.channel = hearthi_gateway_channel_take();
    far_msg(&ahead, run, n);
    near_bring(hearthi_local_transport->data.fetch_concurrent, 0, run, n);
    if (ahead.left > 0)
        return true;
    hearthi_gateway_channel_give(ahead.channel);
    return false;
}

void
hearthi_remote_fetch_end(void)
{
    far_wait(&ahead);
    hearthi_gateway_channel_give(ahead.channel);
}
