/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The manager of locks and flags: lock or flag i is at rank i modulo the
 * number of ranks.  Waiting clients stand in a queue, first come, first
 * served; a flag lets all of its queue go.
 *
 * What a grant has no room for of a log (log.h) the client asks for with INV.
 * A lock's log stands still meanwhile, since only its holder writes there; a
 * flag's may go round, and then the client is told that it has lost some.
 */
#include "config.h"

#include <string.h>

#include "base/report.h"
#include "job.h"
#include "manager.h"
#include "server.h"
#include "space/heap.h"
#include "wire.h"
#include "world.h"

struct object {
    bool                  busy;       /* a lock that is held, a flag not set */
    uint32_t              head, tail; /* of the queue: peer + 1, or 0 */
    struct hearthi_log    log;
    struct hearthi_notice notice[HEARTHI_LOG];
};

static struct object *objects;

static size_t
objects_bytes(void)
{
    return hearthi_managed_count(hearthi_world.size) * sizeof *objects;
}

static struct object *
object(int sync)
{
    return &objects[hearthi_managed_at(sync, hearthi_world.size)];
}

void
hearthi_udp_manager_open(void)
{
    objects = hearthi_sparse(objects_bytes());
    for (int i = HEARTH_LOCKS; i < HEARTHI_SYNCS; i++)
        if (hearthi_manager(i, hearthi_world.size) == hearthi_world.rank)
            object(i)->busy = true;
}

void
hearthi_udp_manager_close(void)
{
    hearthi_sparse_free(objects, objects_bytes());
}

/* ---- the log ---- */

/* Copy up to `room` notices of a span pair, which are in order. */
static uint32_t
spans_copy(const struct object *o, const struct hearthi_span span[2],
           struct hearthi_notice *to, uint32_t room)
{
    uint32_t n = 0;

    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < span[i].n && n < room; k++)
            to[n++] = o->notice[span[i].at + k];
    return n;
}

static void
log_read(const struct object *o, const struct hearthi_udp_peer *p,
         struct hearthi_udp_message *m, struct hearthi_notice *to)
{
    struct hearthi_span   span[2];
    enum hearthi_log_news news;

    m->at = o->log.epoch;
    m->pos = p->pos;
    news = hearthi_log_read(&o->log, p->epoch, &m->pos, span);
    if (news == HEARTHI_LOG_LOST || news == HEARTHI_LOG_AHEAD)
        m->kind |= HEARTHI_UDP_EVERYTHING;
    if (news == HEARTHI_LOG_AHEAD)
        m->kind |= HEARTHI_UDP_AHEAD;
    m->len = span[0].n + span[1].n;
    m->body = (const uint8_t *)to;
    m->body_len = spans_copy(o, span, to, hearthi_udp.notices) * sizeof *to;
}

static void
spans_fill(struct object *o, const struct hearthi_span span[2],
           const struct hearthi_notice *from)
{
    for (int i = 0; i < 2; i++) {
        memcpy(&o->notice[span[i].at], from, span[i].n * sizeof *from);
        from += span[i].n;
    }
}

static void
log_append(struct object *o, const struct hearthi_udp_message *m,
           uint32_t count)
{
    struct hearthi_notice all[2 * HEARTHI_LOG], new[HEARTHI_LOG];
    struct hearthi_span   span[2];

    memcpy(new, m->body, m->body_len);
    if (hearthi_log_is_full(&o->log, m->at, count, span)) {
        spans_copy(o, span, all, HEARTHI_LOG);
        hearthi_log_merge(&o->log, all, new, count, span);
        spans_fill(o, span, all);
    } else if (hearthi_log_append(&o->log, m->at, count, span)) {
        spans_fill(o, span, new);
    }
}

/* ---- grants ---- */

static void
grant(struct object *o, uint32_t peer, unsigned op)
{
    struct hearthi_notice      notice[HEARTHI_LOG];
    struct hearthi_udp_message m = { .op = (uint8_t)op,
                                     .kind = HEARTHI_UDP_TAKEN };

    if (hearthi_world.nodes > 1)
        log_read(o, hearthi_udp_peer(peer), &m, notice);
    hearthi_udp_answer(peer, &m);
}

static void
queue_put(struct object *o, uint32_t peer)
{
    hearthi_udp_peer(peer)->next = 0;
    if (o->tail != 0)
        hearthi_udp_peer(o->tail - 1)->next = peer + 1;
    else
        o->head = peer + 1;
    o->tail = peer + 1;
}

static bool
queue_take(struct object *o, uint32_t *peer)
{
    if (o->head == 0)
        return false;
    *peer = o->head - 1;
    o->head = hearthi_udp_peer(*peer)->next;
    if (o->head == 0)
        o->tail = 0;
    return true;
}

/* A try leaves the queue alone. */
static void
take(struct object *o, uint32_t number, const struct hearthi_udp_message *m)
{
    struct hearthi_udp_peer   *p = hearthi_udp_peer(number);
    struct hearthi_udp_message no = { .op = HEARTHI_UDP_ACQGRANT };
    bool                       is_lock = m->op == HEARTHI_UDP_ACQ;

    p->epoch = m->at;
    p->pos = m->pos;
    if (!o->busy) {
        o->busy = is_lock;
        grant(o, number,
              is_lock ? HEARTHI_UDP_ACQGRANT : HEARTHI_UDP_WAITGRANT);
    } else if (is_lock && m->kind == HEARTHI_UDP_TRY) {
        hearthi_udp_answer(number, &no);
    } else {
        queue_put(o, number);
    }
}

/* ---- the other requests ---- */

static void
done(uint32_t peer)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_NULL };

    hearthi_udp_answer(peer, &m);
}

/* The next in the queue is served before the one who gives: he waits. */
static void
give(struct object *o, uint32_t peer, const struct hearthi_udp_message *m)
{
    uint32_t next;

    log_append(o, m, m->pos);
    if (m->kind == HEARTHI_UDP_RESET) {
        o->busy = true;
    } else if (m->kind == HEARTHI_UDP_SET) {
        o->busy = false;
        while (queue_take(o, &next))
            grant(o, next, HEARTHI_UDP_WAITGRANT);
    } else if (queue_take(o, &next)) {
        grant(o, next, HEARTHI_UDP_ACQGRANT);
    } else {
        o->busy = false;
    }
    done(peer);
}

static void
log_more(const struct object *o, uint32_t peer,
         const struct hearthi_udp_message *ask)
{
    struct hearthi_notice      notice[HEARTHI_LOG];
    struct hearthi_span        span[2];
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_INV,
                                     .kind = HEARTHI_UDP_REPLY };

    if (o->log.epoch != ask->at ||
        !hearthi_ring_read(HEARTHI_LOG, ask->pos, o->log.end, span)) {
        m.kind |= HEARTHI_UDP_LOST;
    } else {
        m.body = (const uint8_t *)notice;
        m.body_len =
            spans_copy(o, span, notice, hearthi_udp.notices) * sizeof *notice;
    }
    hearthi_udp_answer(peer, &m);
}

void
hearthi_udp_manage(uint32_t peer, const struct hearthi_udp_message *m)
{
    struct object *o = object((int)m->len);

    switch (m->op) {
    case HEARTHI_UDP_ACQ:
    case HEARTHI_UDP_WAIT: take(o, peer, m); break;
    case HEARTHI_UDP_REL: give(o, peer, m); break;
    case HEARTHI_UDP_INV: log_more(o, peer, m); break;
    default: /* WTNT */
        log_append(o, m, (uint32_t)(m->body_len / HEARTHI_UDP_NOTICE));
        done(peer);
    }
}
