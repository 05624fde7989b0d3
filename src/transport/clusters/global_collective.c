/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A gateway may be in the next round already while this one still waits for a
 * third: so what comes from each is kept in order, and a round takes the first
 * of each.
 */
#include "config.h"

#include "gateway_server.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "gateway_cache.h"
#include "notice/notice.h"
#include "transport/transport.h"
#include "world.h"

struct body {
    struct body *next;
    size_t       len;
    bool         invalidate_all;
    _Alignas(uint64_t) char bytes[]; /* notices, perhaps */
};

struct round {
    struct hearthi_wan_message
                 *head;  /* of each rank here, and of one that only hears */
    struct body **part;  /* what it brought */
    int           here;  /* how many have */
    bool          heard; /* and that one is here, too */
    bool          sent;
    struct body  *first[HEARTHI_CLUSTERS_MAX]; /* of each cluster */
};

static struct round gather, barrier;

static void *
memory(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (p == NULL)
        hearthi_fatal("gateway", "no memory for what %zu ranks tell", n);
    return p;
}

static void
round_open(struct round *r)
{
    size_t n = (size_t)hearthi_gateway_server.ranks + 1;

    *r = (struct round){ .head = memory(n, sizeof *r->head),
                         .part = memory(n, sizeof(struct body *)) };
}

void
hearthi_global_collectives_open(void)
{
    round_open(&gather);
    round_open(&barrier);
}

static void
bodies_free(struct body **first)
{
    while (*first != NULL) {
        struct body *b = *first;

        *first = b->next;
        free(b);
    }
}

static void
round_close(struct round *r)
{
    for (int i = 0; i < hearthi_gateway_server.ranks; i++)
        bodies_free(&r->part[i]);
    for (int i = 0; i < hearthi_gateway_server.conf->n; i++)
        bodies_free(&r->first[i]);
    free(r->head);
    free(r->part);
}

void
hearthi_global_collectives_close(void)
{
    round_close(&gather);
    round_close(&barrier);
}

static struct body *
body_new(size_t len)
{
    struct body *b = memory(1, sizeof *b + len);

    b->len = len;
    return b;
}

static struct body *
body_of(const struct hearthi_wan_message *msg)
{
    struct body *b = body_new(msg->len);

    memcpy(b->bytes, hearthi_wan_message_body(msg), msg->len);
    b->invalidate_all = (msg->kind & HEARTHI_WAN_INVALIDATE_ALL) != 0;
    return b;
}

static void
body_add(struct body **first, struct body *b)
{
    while (*first != NULL)
        first = &(*first)->next;
    *first = b;
}

/* One behind the other. */
static struct body *
join(struct body **part, int n)
{
    size_t       len = 0, at = 0;
    struct body *all;

    for (int i = 0; i < n; i++)
        len += part[i]->len;
    all = body_new(len);
    for (int i = 0; i < n; at += part[i]->len, i++) {
        memcpy(all->bytes + at, part[i]->bytes, part[i]->len);
        all->invalidate_all |= part[i]->invalidate_all;
    }
    return all;
}

/* As many notices as a barrier may bring, from each cluster its part. */
static void
news_bound(struct body *b, size_t most)
{
    struct hearthi_notice *n = (void *)b->bytes;
    size_t                 count = b->len / sizeof *n;

    if (count > most)
        count = hearthi_notices_merge(n, count, most);
    if (count > most || b->invalidate_all) {
        b->invalidate_all = true;
        count = 0;
    }
    b->len = count * sizeof *n;
}

/* What the ranks here brought goes to the others. */
static void
round_send(struct round *r)
{
    int          n = hearthi_gateway_server.conf->n;
    struct body *mine = join(r->part, hearthi_gateway_server.ranks);
    struct hearthi_wan_message head = {
        .op = r == &gather ? HEARTHI_WAN_GATHER : HEARTHI_WAN_BARRIER,
        .rank = (uint32_t)hearthi_gateway_server.first
    };

    if (r == &barrier)
        news_bound(mine, (size_t)(HEARTHI_BARRIER_NOTICES_MAX / n));
    head.len = (uint32_t)mine->len;
    head.kind = mine->invalidate_all ? HEARTHI_WAN_INVALIDATE_ALL : 0;
    for (int i = 0; i < n; i++)
        if (i != hearthi_gateway_server.me)
            hearthi_gateway_pass(i, &head, mine->bytes);
    body_add(&r->first[hearthi_gateway_server.me], mine);
    r->sent = true;
}

/* Copies that others made old go before any rank here knows of it. */
static void
cache_drop(const struct round *r, const struct body *all)
{
    if (r == &gather || all->invalidate_all)
        hearthi_gateway_cache_drop_all();
    else
        hearthi_gateway_cache_drop((const void *)all->bytes,
                                   all->len / sizeof(struct hearthi_notice));
}

static void
round_end(struct round *r)
{
    int          n = hearthi_gateway_server.conf->n;
    struct body *all = join(r->first, n);

    cache_drop(r, all);
    for (int i = 0; i < hearthi_gateway_server.ranks + r->heard; i++) {
        r->head[i].kind = all->invalidate_all ? HEARTHI_WAN_INVALIDATE_ALL : 0;
        hearthi_gateway_answer(r->head[i], all->bytes, all->len);
        free(r->part[i]);
        r->part[i] = NULL;
    }
    free(all);
    for (int i = 0; i < n; i++) {
        struct body *b = r->first[i];

        r->first[i] = b->next;
        free(b);
    }
    r->here = 0;
    r->heard = r->sent = false;
}

static bool
round_is_whole(const struct round *r)
{
    for (int i = 0; i < hearthi_gateway_server.conf->n; i++)
        if (r->first[i] == NULL)
            return false;
    return r->sent;
}

/* All ranks that take part here have come. */
static bool
round_is_here(const struct round *r)
{
    return r->here == hearthi_gateway_server.ranks &&
           (r->heard || r != &gather || !hearthi_gateway_server.attended);
}

static void
round_move(struct round *r)
{
    if (!r->sent && round_is_here(r))
        round_send(r);
    if (round_is_whole(r))
        round_end(r);
}

void
hearthi_global_collectives_without(void)
{
    hearthi_gateway_server.attended = false;
    round_move(&gather);
}

void
hearthi_global_collective_take(const struct hearthi_wan_message *msg, bool far)
{
    struct round *r = msg->op == HEARTHI_WAN_GATHER ? &gather : &barrier;
    int           place = (int)hearthi_gateway_place(msg->rank);

    if (far) {
        body_add(&r->first[hearthi_cluster_of((int)msg->rank)], body_of(msg));
    } else if (place == hearthi_gateway_server.ranks) {
        r->head[place] = *msg;
        r->heard = true;
    } else {
        r->head[place] = *msg;
        r->part[place] = body_of(msg);
        r->here++;
    }
    round_move(r);
}
