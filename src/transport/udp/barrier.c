/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The barrier, up and down a tree (barrier_notices.h).
 *
 * Going up, each leader's server gathers the notices of its children (WTNT,
 * BARR) and of its own thread.  At the root the last thread to arrive,
 * whichever it is, makes what was gathered the barrier's notices.  In between,
 * the leader's own thread waits until all have arrived, and asks the parent as
 * a leaf does; what it learns becomes the barrier's notices of its children.
 *
 * Between nodes what does not fit one datagram goes in a row of several.  In
 * the node the notices lie in memory that its ranks share (barrier_notices.c):
 * there the grant says only how many they are.
 *
 * News may be asked for (INV), and read by the ranks of the node, until the
 * next barrier's notices take their place; that needs the arrival of every
 * child, so each has done with the old ones.  What was gathered is free again
 * as soon as the children cannot arrive before the next notices.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "barrier_notices.h"
#include "base/mutex.h"
#include "base/report.h"
#include "client.h"
#include "cluster.h"
#include "node/event.h"
#include "peer_failure.h"
#include "pipeline.h"
#include "server.h"
#include "shm_message.h"
#include "udp.h"
#include "udp_job.h"
#include "wire.h"

_Static_assert((HEARTHI_ASKS_MOVES | HEARTHI_ASKS_DUE | HEARTHI_ASKS_SIGNAL |
                HEARTHI_ASKS_SHARED) == HEARTHI_UDP_ASKS,
               "what ranks ask is in the kind of a message, bit for bit");

static struct {
    uint32_t                        number; /* barriers passed here */
    struct hearthi_udp_barrier_tree tree;
    int                             arrived;
    uint32_t            *waiting; /* peers, up to one for each child */
    int                  n_waiting;
    unsigned             asked, asks; /* of what is gathered; notices */
    struct hearthi_event changed;
} b;

static bool
is_root(void)
{
    return hearthi_cluster.rank == 0;
}

static bool
is_led(void)
{
    return hearthi_udp_is_local(b.tree.parent);
}

void
hearthi_udp_barrier_open(void)
{
    memset(&b, 0, sizeof b);
    b.tree = hearthi_udp_barrier_tree();
    b.waiting = calloc((size_t)b.tree.children + 1, sizeof *b.waiting);
    if (b.waiting == NULL)
        hearthi_fatal("hearth_init", "no memory");
    hearthi_udp_barrier_notices_open(is_led());
}

void
hearthi_udp_barrier_close(void)
{
    hearthi_udp_barrier_notices_close();
    free(b.waiting);
}

/* ---- with the mutex: arrivals and notices ---- */

/* As many of the barrier's notices, from a place on, as a message has room
 * for. */
static void
news_put(struct hearthi_udp_message *m, uint32_t at)
{
    const struct hearthi_gathered *news = &hearthi_udp_barrier_notices.news;
    uint32_t                       n = news->n - at;

    HEARTHI_ASSERT(at <= news->n && news->n <= HEARTHI_BARRIER_NOTICES_MAX);
    if (n > hearthi_udp.notices)
        n = hearthi_udp.notices;
    m->body = (const uint8_t *)(news->notice + at);
    m->body_len = n * sizeof *news->notice;
}

static void
news_grant(uint32_t peer)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_BARRGRANT };
    bool local = hearthi_udp_is_local((int)(peer / HEARTHI_UDP_SLOTS));

    m.kind = hearthi_udp_barrier_notices.news.invalidate_all
                 ? HEARTHI_UDP_INVALIDATE_ALL
                 : 0;
    m.kind |= (uint8_t)b.asks;
    m.pos = b.number;
    m.len = local ? hearthi_udp_barrier_notices.list.n
                  : hearthi_udp_barrier_notices.news.n;
    if (!local)
        news_put(&m, 0);
    hearthi_udp_answer(peer, &m);
}

/* What was gathered, or brought, is the barrier's notices. */
static void
publish(void)
{
    HEARTHI_ASSERT_HAS(SERVER);
    HEARTHI_ASSERT(b.n_waiting == b.tree.children);
    HEARTHI_ASSERT(b.arrived == b.tree.children + 1);
    hearthi_udp_barrier_notices_turn();
    b.asks = b.asked;
    b.asked = 0;
    b.number++;
    b.arrived = 0;
    for (int i = 0; i < b.n_waiting; i++)
        news_grant(b.waiting[i]);
    b.n_waiting = 0;
    hearthi_event_raise(&b.changed);
}

static void
arrive(void)
{
    HEARTHI_ASSERT_HAS(SERVER);
    HEARTHI_ASSERT(b.n_waiting <= b.tree.children);
    if (++b.arrived <= b.tree.children)
        return;
    if (!is_root()) {
        hearthi_event_raise(&b.changed);
        return;
    }
    hearthi_udp_barrier_notices_join();
    hearthi_udp_barrier_notices_list();
    publish();
}

/* ---- the server's part ---- */

static void
news_more(uint32_t peer, const struct hearthi_udp_message *ask)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_INV,
                                     .kind = HEARTHI_UDP_REPLY };

    if (ask->pos != b.number || ask->at >= hearthi_udp_barrier_notices.news.n)
        m.kind |= HEARTHI_UDP_LOST;
    else
        news_put(&m, (uint32_t)ask->at);
    hearthi_udp_answer(peer, &m);
}

/* Numbers are in a row for each client, so what comes here is of the barrier
 * that gathers. */
void
hearthi_udp_barrier_serve(uint32_t peer, const struct hearthi_udp_message *m)
{
    struct hearthi_udp_message done = { .op = HEARTHI_UDP_NULL };
    int                        from = (int)(peer / HEARTHI_UDP_SLOTS);
    bool                       invalidate_all;

    if (m->op == HEARTHI_UDP_INV) {
        news_more(peer, m);
        return;
    }
    if (m->pos != b.number + 1 || b.n_waiting == b.tree.children)
        hearthi_fatal("udp",
                      "rank %u is at barrier %u and this rank at %u: call "
                      "hearth_barrier on every rank",
                      m->from, m->pos, b.number + 1);
    invalidate_all =
        m->op == HEARTHI_UDP_BARR && (m->kind & HEARTHI_UDP_INVALIDATE_ALL);
    if (m->op == HEARTHI_UDP_BARR)
        b.asked |= m->kind & HEARTHI_UDP_ASKS;
    if (hearthi_udp_is_local(from))
        hearthi_udp_barrier_notices_fetch(from, m->len, invalidate_all);
    else
        hearthi_udp_barrier_notices_add(
            from, m->body, m->body_len / HEARTHI_UDP_NOTICE, invalidate_all);
    if (m->op == HEARTHI_UDP_WTNT) {
        hearthi_udp_answer(peer, &done);
        return;
    }
    b.waiting[b.n_waiting++] = peer;
    arrive();
}

/* ---- the client's part, at the parent ---- */

static uint8_t
kind_gathered(void)
{
    return (hearthi_udp_barrier_notices.gather.invalidate_all
                ? HEARTHI_UDP_INVALIDATE_ALL
                : 0) |
           (uint8_t)b.asked;
}

/* Tell what was gathered, and wait for the beginning of the barrier's notices.
 * All other parts have arrived before the one that says so. */
static void
parent_tell(struct hearthi_udp_client *c, struct hearthi_udp_message *answer)
{
    const struct hearthi_gathered *g = &hearthi_udp_barrier_notices.gather;
    struct hearthi_udp_pipeline    row = { .rank = b.tree.parent,
                                           .what = "hearth_barrier" };
    struct hearthi_udp_message     ask = { .op = HEARTHI_UDP_WTNT,
                                           .kind = HEARTHI_UDP_NEWS,
                                           .pos = b.number + 1 };
    uint32_t                       n = g->invalidate_all ? 0 : g->n, at = 0;

    ask.body_len = hearthi_udp.notices * sizeof *g->notice;
    for (; n - at > hearthi_udp.notices; at += hearthi_udp.notices) {
        ask.body = (const uint8_t *)(g->notice + at);
        hearthi_udp_pipeline_ask(&row, &ask);
    }
    hearthi_udp_pipeline_end(&row);
    ask.op = HEARTHI_UDP_BARR;
    ask.kind = kind_gathered();
    ask.body = (const uint8_t *)(g->notice + at);
    ask.body_len = (n - at) * sizeof *g->notice;
    hearthi_udp_call(c, b.tree.parent, &ask, "hearth_barrier", answer);
}

/* Those of the barrier's notices that begin at a place: as many as are due. */
static void
news_take(uint64_t at, const struct hearthi_udp_message *answer)
{
    struct hearthi_gathered *g = &hearthi_udp_barrier_notices.gather;
    uint64_t                 left = at < g->n ? g->n - at : 0;
    uint64_t due = left < hearthi_udp.notices ? left : hearthi_udp.notices;

    if (answer->body_len != due * sizeof *g->notice)
        hearthi_fatal("hearth_barrier", "rank %d has lost the notices",
                      b.tree.parent);
    memcpy(g->notice + at, answer->body, answer->body_len);
}

static void
part_take(const struct hearthi_udp_message *ask,
          const struct hearthi_udp_message *answer)
{
    news_take(ask->at, answer);
}

/* They take the place of what was gathered and told: no rank below arrives
 * again before they are published. */
static void
news_bring(const struct hearthi_udp_message *answer)
{
    struct hearthi_gathered    *g = &hearthi_udp_barrier_notices.gather;
    struct hearthi_udp_message  ask = { .op = HEARTHI_UDP_INV,
                                        .kind = HEARTHI_UDP_NEWS,
                                        .pos = b.number + 1 };
    struct hearthi_udp_pipeline row = { .rank = b.tree.parent,
                                        .what = "hearth_barrier",
                                        .take = part_take };

    g->invalidate_all = (answer->kind & HEARTHI_UDP_INVALIDATE_ALL) != 0;
    b.asked = answer->kind & HEARTHI_UDP_ASKS;
    g->n = answer->len < HEARTHI_BARRIER_NOTICES_MAX
               ? answer->len
               : HEARTHI_BARRIER_NOTICES_MAX;
    news_take(0, answer);
    for (ask.at = hearthi_udp.notices; ask.at < g->n;
         ask.at += hearthi_udp.notices)
        hearthi_udp_pipeline_ask(&row, &ask);
    hearthi_udp_pipeline_end(&row);
}

/* A node's rank and its leader: both find the notices where the other has
 * them. */
static void
leader_tell(struct hearthi_udp_client *c, struct hearthi_udp_message *answer)
{
    const struct hearthi_gathered *g = &hearthi_udp_barrier_notices.gather;
    struct hearthi_udp_message     ask = { .op = HEARTHI_UDP_BARR,
                                           .pos = b.number + 1,
                                           .len = g->n };

    ask.kind = kind_gathered();
    hearthi_udp_call(c, b.tree.parent, &ask, "hearth_barrier", answer);
}

static void
news_see(const struct hearthi_udp_message *answer)
{
    hearthi_udp_barrier_notices.list.invalidate_all =
        (answer->kind & HEARTHI_UDP_INVALIDATE_ALL) != 0;
    hearthi_udp_barrier_notices.list.n = answer->len;
    b.asks = answer->kind & HEARTHI_UDP_ASKS;
    b.asked = 0;
    HEARTHI_ASSERT(is_led() && b.arrived == b.tree.children + 1);
    hearthi_gathered_clear(&hearthi_udp_barrier_notices.gather);
    b.number++;
    b.arrived = 0;
}

static void
leader_ask(struct hearthi_udp_client *c)
{
    struct hearthi_udp_message answer;

    leader_tell(c, &answer);
    hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    news_see(&answer);
    hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
}

/* Between the last arrival and publish() no other thread is at the barrier's
 * notices. */
static void
parent_ask(struct hearthi_udp_client *c)
{
    struct hearthi_udp_message answer;

    hearthi_udp_barrier_notices_join();
    parent_tell(c, &answer);
    news_bring(&answer);
    hearthi_udp_barrier_notices_list();
    hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    publish();
    hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
}

static void
ask(void)
{
    struct hearthi_udp_client *c = hearthi_udp_client_take();

    if (is_led())
        leader_ask(c);
    else
        parent_ask(c);
    hearthi_udp_client_give(c);
}

/* This rank's part. */
static void
own_add(const struct hearthi_notice *own, size_t n, bool invalidate_all)
{
    struct hearthi_gathered *g = &hearthi_udp_barrier_notices.gather;

    if (!is_led()) {
        hearthi_udp_barrier_notices_add(hearthi_cluster.rank, own, n,
                                        invalidate_all);
        return;
    }
    g->invalidate_all = invalidate_all || n > HEARTHI_NOTICES_OF_ONE;
    g->n = g->invalidate_all ? 0 : (uint32_t)n;
    hearthi_udp_barrier_notices_leave(own, g->n);
}

/* ---- the transport's function ---- */

void
hearthi_udp_barrier(const struct hearthi_notice *own, size_t n,
                    bool invalidate_all, struct hearthi_barrier_notices *news)
{
    uint32_t passed;

    hearthi_udp_liveness_wait_begin("hearth_barrier");
    hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    passed = b.number + 1;
    own_add(own, n, invalidate_all);
    b.asked |= news->asks;
    arrive();
    while (b.number != passed && (is_root() || b.arrived <= b.tree.children)) {
        uint32_t seen = hearthi_event_value(&b.changed);

        hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
        hearthi_event_wait(&b.changed, seen, true);
        hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    }
    hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    if (!is_root())
        ask();
    hearthi_udp_liveness_wait_end();
    HEARTHI_ASSERT(b.number == passed);
    HEARTHI_ASSERT(hearthi_udp_barrier_notices.list.n <=
                   2 * HEARTHI_BARRIER_NOTICES_MAX);
    news->notice = hearthi_udp_barrier_notices.list.notice;
    news->n = hearthi_udp_barrier_notices.list.n;
    news->invalidate_all = hearthi_udp_barrier_notices.list.invalidate_all;
    news->asks = b.asks;
}
