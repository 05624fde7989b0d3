/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The barrier, up and down a tree (tree.h).
 *
 * Going up, each leader's server gathers the notices of its children (WTNT,
 * BARR) and of its own thread.  At the root the last to arrive, whoever it
 * is, makes what was gathered the news.  In between, the leader's own thread
 * waits until all have arrived, and asks the parent as a leaf does; what it
 * learns becomes the news of its children.
 *
 * Between nodes what does not fit one datagram goes in a row of several.  In
 * the node news lie in memory that its ranks share: there only the grant says
 * in which of the buffers.
 *
 * There are two buffers.  News may be asked for (INV), and read by the ranks
 * of the node, until the next barrier's news take their place; that needs the
 * arrival of every child, so each has done with the old ones.  The buffer that
 * gathers is free again as soon as the children cannot arrive before the next
 * news.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "base/report.h"
#include "client.h"
#include "job.h"
#include "local.h"
#include "row.h"
#include "server.h"
#include "space/heap.h"
#include "transport/area.h"
#include "transport/event.h"
#include "tree.h"
#include "watch.h"
#include "wire.h"
#include "world.h"

struct heap_of_notices {
    struct hearthi_notice *notice;
    uint32_t               n;
    bool                   everything;
};

enum { BUFFERS = 2 };

static struct {
    struct heap_of_notices  gather, news; /* of number + 1 and number */
    uint32_t                number;       /* barriers passed here */
    struct hearthi_udp_tree tree;
    int                     arrived;
    uint32_t               *waiting; /* peers, up to one for each child */
    int                     n_waiting;
    struct hearthi_event    changed;

    struct hearthi_area    shared; /* two of the leader's, of its node */
    struct hearthi_notice *buffer[BUFFERS]; /* there */
} b;

static const size_t buffer_bytes =
    HEARTHI_NEWS_MAX * sizeof(struct hearthi_notice);

static bool
is_root(void)
{
    return hearthi_world.rank == 0;
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
    b.tree = hearthi_udp_tree();
    b.waiting = calloc((size_t)b.tree.children + 1, sizeof *b.waiting);
    if (b.waiting == NULL)
        hearthi_fatal("hearth_init", "no memory");
    if (hearthi_udp_local_used())
        hearthi_area_open(&b.shared, BUFFERS * buffer_bytes, 0);
    for (size_t i = 0; i < BUFFERS && b.shared.base != NULL; i++)
        b.buffer[i] = (struct hearthi_notice *)(void *)(b.shared.base +
                                                        i * buffer_bytes);
    if (b.shared.base != NULL && !is_led()) {
        b.gather.notice = b.buffer[0];
        b.news.notice = b.buffer[1];
        return;
    }
    b.gather.notice = hearthi_sparse(buffer_bytes);
    if (!is_led())
        b.news.notice = hearthi_sparse(buffer_bytes);
}

void
hearthi_udp_barrier_close(void)
{
    bool shared = b.shared.base != NULL;

    if (!shared || is_led())
        hearthi_sparse_free(b.gather.notice, buffer_bytes);
    if (!shared)
        hearthi_sparse_free(b.news.notice, buffer_bytes);
    else
        hearthi_area_close(&b.shared);
    free(b.waiting);
}

/* ---- with the mutex: arrivals and news ---- */

/* Room for n more, and for as many again if that may be. */
static void
room_make(struct heap_of_notices *g, size_t n)
{
    size_t most = HEARTHI_NEWS_MAX / 2;

    if (n > most)
        most = HEARTHI_NEWS_MAX - n;
    g->n = (uint32_t)hearthi_notices_merge(g->notice, g->n, most);
}

/* What does not fit is merged with what there is.  Of too many writers for
 * that it is "everything", for good. */
static void
gather(const void *notice, size_t n, bool everything)
{
    struct heap_of_notices *g = &b.gather;

    if (n <= HEARTHI_NEWS_MAX && n > HEARTHI_NEWS_MAX - g->n)
        room_make(g, n);
    if (everything || g->everything || n > HEARTHI_NEWS_MAX - g->n) {
        g->everything = true;
        g->n = 0;
        return;
    }
    if (n > 0)
        memcpy(g->notice + g->n, notice, n * sizeof *g->notice);
    g->n += (uint32_t)n;
}

/* As many of the news, from a place on, as a message has room for. */
static void
news_put(struct hearthi_udp_message *m, uint32_t at)
{
    uint32_t n = b.news.n - at;

    if (n > hearthi_udp.notices)
        n = hearthi_udp.notices;
    m->body = (const uint8_t *)(b.news.notice + at);
    m->body_len = n * sizeof *b.news.notice;
}

static void
news_grant(uint32_t peer)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_BARRGRANT };

    m.kind = b.news.everything ? HEARTHI_UDP_EVERYTHING : 0;
    m.pos = b.number;
    m.len = b.news.n;
    m.at = b.news.notice == b.buffer[1];
    if (!hearthi_udp_is_local((int)(peer / HEARTHI_UDP_SLOTS)))
        news_put(&m, 0);
    hearthi_udp_answer(peer, &m);
}

/* What was gathered is the news. */
static void
publish(void)
{
    struct heap_of_notices was = b.news;

    b.news = b.gather;
    b.gather = was;
    b.gather.n = 0;
    b.gather.everything = false;
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
    if (++b.arrived <= b.tree.children)
        return;
    if (is_root())
        publish();
    else
        hearthi_event_raise(&b.changed);
}

/* ---- the server's part ---- */

static void
news_more(uint32_t peer, const struct hearthi_udp_message *ask)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_INV,
                                     .kind = HEARTHI_UDP_REPLY };

    if (ask->pos != b.number || ask->at >= b.news.n)
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

    if (m->op == HEARTHI_UDP_INV) {
        news_more(peer, m);
        return;
    }
    if (m->pos != b.number + 1 || b.n_waiting == b.tree.children)
        hearthi_fatal("udp",
                      "rank %u is at barrier %u and this rank at %u: call "
                      "hearth_barrier on every rank",
                      m->from, m->pos, b.number + 1);
    gather(m->body, m->body_len / HEARTHI_UDP_NOTICE,
           m->op == HEARTHI_UDP_BARR && m->kind == HEARTHI_UDP_EVERYTHING);
    if (m->op == HEARTHI_UDP_WTNT) {
        hearthi_udp_answer(peer, &done);
        return;
    }
    b.waiting[b.n_waiting++] = peer;
    arrive();
}

/* ---- the client's part, at the parent ---- */

/* Tell what was gathered, and wait for the beginning of the news.  All other
 * parts have arrived before the one that says so. */
static void
parent_tell(struct hearthi_udp_client *c, struct hearthi_udp_message *answer)
{
    const struct heap_of_notices *g = &b.gather;
    struct hearthi_udp_row        row = { .rank = b.tree.parent,
                                          .what = "hearth_barrier" };
    struct hearthi_udp_message    ask = { .op = HEARTHI_UDP_WTNT,
                                          .kind = HEARTHI_UDP_NEWS,
                                          .pos = b.number + 1 };
    uint32_t                      n = g->everything ? 0 : g->n, at = 0;

    ask.body_len = hearthi_udp.notices * sizeof *g->notice;
    for (; n - at > hearthi_udp.notices; at += hearthi_udp.notices) {
        ask.body = (const uint8_t *)(g->notice + at);
        hearthi_udp_row_ask(&row, &ask);
    }
    hearthi_udp_row_end(&row);
    ask.op = HEARTHI_UDP_BARR;
    ask.kind = g->everything ? HEARTHI_UDP_EVERYTHING : 0;
    ask.body = (const uint8_t *)(g->notice + at);
    ask.body_len = (n - at) * sizeof *g->notice;
    hearthi_udp_call(c, b.tree.parent, &ask, "hearth_barrier", answer);
}

/* Those of the news that begin at a place: as many as are due. */
static void
news_take(uint64_t at, const struct hearthi_udp_message *answer)
{
    struct heap_of_notices *g = &b.gather;
    uint64_t                left = at < g->n ? g->n - at : 0;
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

/* They take the place of what was gathered and told: nobody below arrives
 * again before they are published. */
static void
news_bring(const struct hearthi_udp_message *answer)
{
    struct heap_of_notices    *g = &b.gather;
    struct hearthi_udp_message ask = { .op = HEARTHI_UDP_INV,
                                       .kind = HEARTHI_UDP_NEWS,
                                       .pos = b.number + 1 };
    struct hearthi_udp_row     row = { .rank = b.tree.parent,
                                       .what = "hearth_barrier",
                                       .take = part_take };

    g->everything = (answer->kind & HEARTHI_UDP_EVERYTHING) != 0;
    g->n = answer->len < HEARTHI_NEWS_MAX ? answer->len : HEARTHI_NEWS_MAX;
    news_take(0, answer);
    for (ask.at = hearthi_udp.notices; ask.at < g->n;
         ask.at += hearthi_udp.notices)
        hearthi_udp_row_ask(&row, &ask);
    hearthi_udp_row_end(&row);
}

/* The leader has them here. */
static void
news_see(const struct hearthi_udp_message *answer)
{
    b.news.everything = (answer->kind & HEARTHI_UDP_EVERYTHING) != 0;
    b.news.n = answer->len;
    b.news.notice = b.buffer[answer->at % BUFFERS];
    b.gather.n = 0;
    b.gather.everything = false;
    b.number++;
    b.arrived = 0;
}

static void
parent_ask(void)
{
    struct hearthi_udp_client *c = hearthi_udp_client_take();
    struct hearthi_udp_message answer;

    parent_tell(c, &answer);
    if (!is_led())
        news_bring(&answer);
    pthread_mutex_lock(&hearthi_udp_mutex);
    if (is_led())
        news_see(&answer);
    else
        publish();
    pthread_mutex_unlock(&hearthi_udp_mutex);
    hearthi_udp_client_give(c);
}

/* ---- the transport's function ---- */

void
hearthi_udp_barrier(const struct hearthi_notice *own, size_t n,
                    bool everything, struct hearthi_news *news)
{
    uint32_t passed;

    hearthi_udp_wait_begin("hearth_barrier");
    pthread_mutex_lock(&hearthi_udp_mutex);
    passed = b.number + 1;
    gather(own, n, everything);
    arrive();
    while (b.number != passed && (is_root() || b.arrived <= b.tree.children)) {
        uint32_t seen = hearthi_event_value(&b.changed);

        pthread_mutex_unlock(&hearthi_udp_mutex);
        hearthi_event_wait(&b.changed, seen, true);
        pthread_mutex_lock(&hearthi_udp_mutex);
    }
    pthread_mutex_unlock(&hearthi_udp_mutex);
    if (!is_root())
        parent_ask();
    hearthi_udp_wait_end();
    news->notice = b.news.notice;
    news->n = b.news.everything ? 0 : b.news.n;
    news->everything = b.news.everything;
}
