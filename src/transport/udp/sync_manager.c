/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The manager of locks, flags and so on: object i is at rank i modulo the
 * number of ranks.  Waiting clients stand in a queue, first come, first
 * served; a flag lets all of its queue go.
 *
 * What a grant has no room for of a log (log.h) the client asks for with INV.
 * A lock's log stands still meanwhile, since only its holder writes there; a
 * flag's may go round, and then the client is told that it has lost some.
 */
#include "config.h"

#include <string.h>
#include <time.h>

#include "cluster.h"
#include "cond.h"
#include "count.h"
#include "node/lock_names.h"
#include "rw.h"
#include "server.h"
#include "sync_manager.h"
#include "sync_object.h"
#include "transport/lock_directory.h"
#include "udp_delegation.h"
#include "wire.h"

void
hearthi_udp_manager_open(void)
{
    hearthi_udp_sync_objects_open();
    hearthi_udp_delegations_open();
    for (int i = HEARTH_LOCKS; i < HEARTHI_RWS_AT; i++)
        if (hearthi_manager(i, hearthi_cluster.size) == hearthi_cluster.rank)
            hearthi_udp_sync_object(i)->busy = true;
}

void
hearthi_udp_manager_close(void)
{
    hearthi_udp_sync_objects_close();
}

/* ---- the log ---- */

/* Copy up to `room` notices of a span pair, which are in order. */
static uint32_t
spans_copy(const struct hearthi_udp_sync_object *o,
           const struct hearthi_ring_span span[2], struct hearthi_notice *to,
           uint32_t room)
{
    uint32_t n = 0;

    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < span[i].n && n < room; k++)
            to[n++] = o->notice[span[i].at + k];
    return n;
}

static void
log_read(const struct hearthi_udp_sync_object *o,
         const struct hearthi_udp_served *p, struct hearthi_udp_message *m,
         struct hearthi_notice *to)
{
    struct hearthi_ring_span span[2];
    enum hearthi_log_news    news;

    m->at = o->log.epoch;
    m->pos = p->pos;
    news = hearthi_log_read(&o->log, hearthi_udp_sync_object_room(o), p->epoch,
                            &m->pos, span);
    if (news == HEARTHI_LOG_LOST || news == HEARTHI_LOG_AHEAD)
        m->kind |= HEARTHI_UDP_INVALIDATE_ALL;
    if (news == HEARTHI_LOG_AHEAD)
        m->kind |= HEARTHI_UDP_AHEAD;
    m->len = span[0].n + span[1].n;
    m->body = (const uint8_t *)to;
    m->body_len = spans_copy(o, span, to, hearthi_udp.notices) * sizeof *to;
}

static void
spans_fill(struct hearthi_udp_sync_object *o,
           const struct hearthi_ring_span  span[2],
           const struct hearthi_notice    *from)
{
    for (int i = 0; i < 2; i++) {
        memcpy(&o->notice[span[i].at], from, span[i].n * sizeof *from);
        from += span[i].n;
    }
}

static void
log_append(struct hearthi_udp_sync_object   *o,
           const struct hearthi_udp_message *m, uint32_t count)
{
    struct hearthi_notice    all[2 * HEARTHI_LOG], new[HEARTHI_LOG];
    struct hearthi_ring_span span[2];
    uint32_t                 room = hearthi_udp_sync_object_room(o);

    memcpy(new, m->body, m->body_len);
    if (hearthi_log_is_full(&o->log, room, m->at, count, span)) {
        spans_copy(o, span, all, HEARTHI_LOG);
        hearthi_log_merge(&o->log, room, all, new, count, span);
        spans_fill(o, span, all);
    } else if (hearthi_log_append(&o->log, room, m->at, count, span)) {
        spans_fill(o, span, new);
    }
}

/* ---- grants ---- */

static void
grant(struct hearthi_udp_sync_object *o, uint32_t peer, unsigned op)
{
    struct hearthi_notice      notice[HEARTHI_LOG];
    struct hearthi_udp_message m = { .op = (uint8_t)op,
                                     .kind = HEARTHI_UDP_TAKEN };
    uint32_t                   rank = peer / HEARTHI_UDP_SLOTS;

    if (op == HEARTHI_UDP_ACQGRANT) {
        if (o->last == rank + 1)
            m.kind |= HEARTHI_UDP_AGAIN;
        o->last = rank + 1;
    }
    if (hearthi_cluster.nodes > 1)
        log_read(o, hearthi_udp_served(peer), &m, notice);
    hearthi_udp_answer(peer, &m);
}

static void
rw_grant(struct hearthi_udp_sync_object *o, uint32_t peer)
{
    grant(o, peer, HEARTHI_UDP_ACQGRANT);
}

/* A try leaves the queue alone, unless nobody may be inside. */
static void
lock_wait(struct hearthi_udp_sync_object *o, uint32_t number)
{
    if (hearthi_udp_served(number)->try && (o->keeper == 0 || o->head != 0))
        hearthi_udp_refuse(number);
    else
        hearthi_udp_queue_put(o, number);
    if (o->keeper != 0) /* who asks may have wiped out what was said */
        hearthi_udp_delegation_recall(o);
}

static void
take(struct hearthi_udp_sync_object *o, uint32_t number,
     const struct hearthi_udp_message *m)
{
    struct hearthi_udp_served *p = hearthi_udp_served(number);
    bool                       is_lock = m->op == HEARTHI_UDP_ACQ;

    p->epoch = m->at;
    p->pos = m->pos;
    p->try = is_lock && (m->kind & HEARTHI_UDP_TRY) != 0;
    p->write = is_lock && (m->kind & HEARTHI_UDP_WRITE) != 0;
    if (hearthi_is_rw((int)m->len)) {
        if (hearthi_udp_rw_enter(o, number))
            rw_grant(o, number);
        else if (p->try)
            hearthi_udp_refuse(number);
    } else if (o->busy) {
        lock_wait(o, number);
    } else {
        o->busy = is_lock;
        grant(o, number,
              is_lock ? HEARTHI_UDP_ACQGRANT : HEARTHI_UDP_WAITGRANT);
    }
}

/* ---- the end of a holder ---- */

static bool
mutex_get(void)
{
    const struct timespec nap = { .tv_nsec = 100000 };
    enum { NAPS = 20 };

    for (int i = 0; i < NAPS; i++) {
        if (pthread_mutex_trylock(&hearthi_udp_mutex) == 0)
            return true;
        nanosleep(&nap, NULL);
    }
    return false;
}

static bool
had_it(int lock, uint32_t name)
{
    const struct hearthi_udp_sync_object *o = hearthi_udp_sync_object(lock);

    return o->busy && (o->keeper != 0 ? o->keeper : o->last) == name;
}

void
hearthi_udp_abandoned_locks(int rank, struct hearthi_abandoned_locks *l)
{
    uint32_t name = (uint32_t)rank + 1;

    if (!mutex_get())
        return;
    for (int i = hearthi_cluster.rank; i < HEARTH_LOCKS;
         i += hearthi_cluster.size)
        if (had_it(i, name))
            hearthi_abandoned_locks_add(l, hearthi_lock_names_key(i));
    for (size_t i = 0; i < hearthi_lock_directory_count(); i++)
        if (had_it(hearthi_managed_named(i, hearthi_cluster.rank,
                                         hearthi_cluster.size),
                   name))
            hearthi_abandoned_locks_add(l, hearthi_lock_directory_own(i));
    pthread_mutex_unlock(&hearthi_udp_mutex);
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
give(struct hearthi_udp_sync_object *o, uint32_t peer,
     const struct hearthi_udp_message *m)
{
    uint32_t next;

    if (m->kind == HEARTHI_UDP_KEEP) {
        hearthi_udp_delegation_begin(o, peer);
        return;
    }
    hearthi_udp_delegation_set(o, 0);
    log_append(o, m, m->pos);
    if (m->kind == HEARTHI_UDP_RESET) {
        o->busy = true;
    } else if (hearthi_is_rw((int)m->len)) {
        hearthi_udp_rw_leave(o, rw_grant);
    } else if (m->kind == HEARTHI_UDP_SET) {
        o->busy = false;
        while (hearthi_udp_queue_take(o, &next))
            grant(o, next, HEARTHI_UDP_WAITGRANT);
    } else if (hearthi_udp_queue_take(o, &next)) {
        grant(o, next, HEARTHI_UDP_ACQGRANT);
    } else {
        o->busy = false;
    }
    done(peer);
}

static void
log_more(const struct hearthi_udp_sync_object *o, uint32_t peer,
         const struct hearthi_udp_message *ask)
{
    struct hearthi_notice      notice[HEARTHI_LOG];
    struct hearthi_ring_span   span[2];
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_INV,
                                     .kind = HEARTHI_UDP_REPLY };

    if (o->log.epoch != ask->at ||
        !hearthi_ring_read(hearthi_udp_sync_object_room(o), ask->pos,
                           o->log.end, span)) {
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
    struct hearthi_udp_sync_object *o = hearthi_udp_sync_object((int)m->len);

    if (m->len >= HEARTHI_CONDS_AT && m->len < HEARTHI_RWS_AT) {
        hearthi_udp_cond_serve(o, peer, m);
        return;
    }
    if ((m->op == HEARTHI_UDP_WAIT && m->kind == HEARTHI_UDP_ENTER) ||
        (m->op == HEARTHI_UDP_REL && m->kind >= HEARTHI_UDP_SIGNAL)) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_OPERATION);
        return;
    }
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
