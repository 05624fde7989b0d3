/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The barrier: a tree in which a rank has up to eight children, so that up to
 * nine ranks are a root and its leaves.
 *
 * Going up, each rank's server gathers the notices of its children (WTNT,
 * BARR) and of its own thread.  At the root the last to arrive, whoever it
 * is, makes what was gathered the news.  In between, the rank's own thread
 * waits until all have arrived, and asks the parent as a leaf does; what it
 * learns becomes the news of its children.
 *
 * There are two buffers.  News may be asked for (INV) until the next barrier's
 * news take their place; that needs the arrival of every child, so each has
 * got the old ones.  The buffer that gathers is free again as soon as the
 * children cannot arrive before the next news.
 */
#include "config.h"

#include <string.h>

#include "barrier.h"
#include "base/report.h"
#include "client.h"
#include "job.h"
#include "server.h"
#include "space/heap.h"
#include "transport/event.h"
#include "watch.h"
#include "wire.h"
#include "world.h"

enum { FAN = 8 };

struct heap_of_notices {
    struct hearthi_notice *notice;
    uint32_t               n;
    bool                   everything;
};

static struct {
    struct heap_of_notices gather, news; /* of number + 1 and number */
    uint32_t               number;       /* barriers passed here */
    int                    children, arrived;
    uint32_t               waiting[FAN]; /* peers */
    int                    n_waiting;
    struct hearthi_event   changed;
} b;

static const size_t buffer_bytes =
    HEARTHI_NEWS_MAX * sizeof(struct hearthi_notice);

static bool
is_root(void)
{
    return hearthi_world.rank == 0;
}

static int
parent(void)
{
    return (hearthi_world.rank - 1) / FAN;
}

void
hearthi_udp_barrier_open(void)
{
    int first = hearthi_world.rank * FAN + 1;
    int left = hearthi_world.size - first;

    memset(&b, 0, sizeof b);
    b.children = left < 0 ? 0 : left < FAN ? left : FAN;
    b.gather.notice = hearthi_sparse(buffer_bytes);
    b.news.notice = hearthi_sparse(buffer_bytes);
}

void
hearthi_udp_barrier_close(void)
{
    hearthi_sparse_free(b.gather.notice, buffer_bytes);
    hearthi_sparse_free(b.news.notice, buffer_bytes);
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
    if (++b.arrived <= b.children)
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
    if (m->pos != b.number + 1 || b.n_waiting == FAN)
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

/* Tell what was gathered, and wait for the beginning of the news. */
static void
parent_tell(struct hearthi_udp_client *c, struct hearthi_udp_message *answer)
{
    const struct heap_of_notices *g = &b.gather;
    struct hearthi_udp_message    ask = { .kind = HEARTHI_UDP_NEWS,
                                          .pos = b.number + 1 };
    uint32_t                      n = g->everything ? 0 : g->n;
    size_t at = hearthi_udp_notices_ahead(c, parent(), ask, g->notice, n,
                                          "hearth_barrier");

    ask.op = HEARTHI_UDP_BARR;
    ask.kind = g->everything ? HEARTHI_UDP_EVERYTHING : 0;
    ask.body = (const uint8_t *)(g->notice + at);
    ask.body_len = (n - at) * sizeof *g->notice;
    hearthi_udp_call(c, parent(), &ask, "hearth_barrier", answer);
}

/* The news, of which this answer brings some, up to n; how many are here. */
static uint32_t
news_take(struct heap_of_notices *to, uint32_t n,
          const struct hearthi_udp_message *answer)
{
    uint32_t some = (uint32_t)(answer->body_len / sizeof *to->notice);

    if (some > n - to->n)
        some = n - to->n;
    memcpy(to->notice + to->n, answer->body, some * sizeof *to->notice);
    to->n += some;
    return some;
}

/* They take the place of what was gathered and told: nobody below arrives
 * again before they are published. */
static void
parent_ask(void)
{
    struct hearthi_udp_client *c = hearthi_udp_client_take();
    struct heap_of_notices    *g = &b.gather;
    struct hearthi_udp_message answer, ask = { .op = HEARTHI_UDP_INV,
                                               .kind = HEARTHI_UDP_NEWS,
                                               .pos = b.number + 1 };
    uint32_t                   n;

    parent_tell(c, &answer);
    g->everything = (answer.kind & HEARTHI_UDP_EVERYTHING) != 0;
    n = answer.len < HEARTHI_NEWS_MAX ? answer.len : HEARTHI_NEWS_MAX;
    g->n = 0;
    while (news_take(g, n, &answer) > 0 && g->n < n) {
        ask.at = g->n;
        hearthi_udp_call(c, parent(), &ask, "hearth_barrier", &answer);
    }
    if (g->n < n)
        hearthi_fatal("hearth_barrier", "rank %d has lost the notices",
                      parent());
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
    while (b.number != passed && (is_root() || b.arrived <= b.children)) {
        uint32_t seen = hearthi_event_value(&b.changed);

        pthread_mutex_unlock(&hearthi_udp_mutex);
        hearthi_event_wait(&b.changed, seen, true);
        pthread_mutex_lock(&hearthi_udp_mutex);
    }
    pthread_mutex_unlock(&hearthi_udp_mutex);
    if (!is_root()) {
        parent_ask();
        pthread_mutex_lock(&hearthi_udp_mutex);
        publish();
        pthread_mutex_unlock(&hearthi_udp_mutex);
    }
    hearthi_udp_wait_end();
    news->notice = b.news.notice;
    news->n = b.news.everything ? 0 : b.news.n;
    news->everything = b.news.everything;
}
