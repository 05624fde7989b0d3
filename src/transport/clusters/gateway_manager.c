/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A lock is given to who has waited longest in the cluster that had it last,
 * COHORT times in a row at most while another cluster waits; then to who has
 * waited longest in the others (cohort locks, Dice and others, 2012).  So a
 * lock crosses the link once for several of its holders, and nobody waits for
 * ever: who waits in another cluster is older than all who come later there,
 * so that so many turns are before his as there were ranks that waited when he
 * came, each of COHORT holders at most.  Notices do not depend on that order:
 * whoever gets the lock reads its log from where he was.
 *
 * The rules of the log are those of transport/log.h.
 */
#include "config.h"

#include "gateway_manager.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "gateway_server.h"
#include "node/lock_names.h"
#include "space/heap.h"
#include "transport/log.h"
#include "world.h"

enum { COHORT = 16 };

struct waiter {
    struct waiter             *next;
    struct hearthi_wan_message ask;
};

struct object {
    bool                  busy; /* a lock or writer inside, a flag not set */
    uint32_t              readers; /* inside */
    uint32_t              writers; /* that wait */
    uint32_t              last;    /* rank + 1 of who had it last */
    uint32_t              run; /* holders of one cluster while others wait */
    uint64_t              entered, woken; /* of a condition variable */
    struct waiter        *head, *tail;
    struct hearthi_log    log;
    struct hearthi_notice notice[HEARTHI_LOG];
};

static struct object *objects;

static size_t
objects_bytes(void)
{
    return (size_t)hearthi_syncs * sizeof *objects;
}

void
hearthi_gateway_manager_open(void)
{
    objects = hearthi_sparse(objects_bytes());
    for (int i = HEARTH_LOCKS; i < HEARTHI_CONDS_AT; i++)
        objects[i].busy = true;
}

void
hearthi_gateway_manager_close(void)
{
    hearthi_sparse_free(objects, objects_bytes());
}

/* ---- the queue ---- */

static void
queue_put(struct object *o, const struct hearthi_wan_message *ask)
{
    struct waiter *w = malloc(sizeof *w);

    if (w == NULL)
        hearthi_fatal("gateway", "no memory for a rank that waits");
    w->next = NULL;
    w->ask = *ask;
    if (o->tail != NULL)
        o->tail->next = w;
    else
        o->head = w;
    o->tail = w;
}

/* The one behind `before`, or the first. */
static struct hearthi_wan_message
queue_take(struct object *o, struct waiter *before)
{
    struct waiter            **at = before != NULL ? &before->next : &o->head;
    struct waiter             *w = *at;
    struct hearthi_wan_message ask = w->ask;

    *at = w->next;
    if (o->tail == w)
        o->tail = before;
    free(w);
    return ask;
}

/* Behind which one stands the first that waits in that cluster, or (`same` not
 * set) in another; false if there is none. */
static bool
first_of(struct object *o, int cluster, bool same, struct waiter **before)
{
    *before = NULL;
    for (struct waiter *w = o->head; w != NULL; *before = w, w = w->next)
        if ((hearthi_cluster_of((int)w->ask.rank) == cluster) == same)
            return true;
    return false;
}

/* Who is next, of those who wait for a lock. */
static struct hearthi_wan_message
next_of(struct object *o)
{
    int            cluster = hearthi_cluster_of((int)(o->last - 1));
    struct waiter *mine, *other;
    bool           have = first_of(o, cluster, true, &mine);
    bool           others = first_of(o, cluster, false, &other);

    if (have && (!others || o->run < COHORT)) {
        o->run = others ? o->run + 1 : 0;
        return queue_take(o, mine);
    }
    o->run = 0;
    return queue_take(o, other);
}

/* ---- the log ---- */

static uint32_t
spans_copy(const struct object *o, const struct hearthi_ring_span span[2],
           struct hearthi_notice *to)
{
    uint32_t n = 0;

    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < span[i].n; k++)
            to[n++] = o->notice[span[i].at + k];
    return n;
}

static void
spans_fill(struct object *o, const struct hearthi_ring_span span[2],
           const struct hearthi_notice *from)
{
    for (int i = 0; i < 2; i++) {
        memcpy(&o->notice[span[i].at], from, span[i].n * sizeof *from);
        from += span[i].n;
    }
}

/* More notices than a log holds are not in the body: their number says
 * enough. */
static void
log_append(struct object *o, const struct hearthi_wan_message *ask)
{
    const struct hearthi_notice *new = hearthi_wan_message_body(ask);
    struct hearthi_notice    all[2 * HEARTHI_LOG];
    struct hearthi_ring_span span[2];
    uint32_t                 room = hearthi_log_room((int)ask->to);

    if (hearthi_log_is_full(&o->log, room, ask->at, ask->n, span)) {
        spans_copy(o, span, all);
        hearthi_log_merge(&o->log, room, all, new, ask->n, span);
        spans_fill(o, span, all);
    } else if (hearthi_log_append(&o->log, room, ask->at, ask->n, span)) {
        spans_fill(o, span, new);
    }
}

static void
grant(struct object *o, const struct hearthi_wan_message *ask)
{
    struct hearthi_notice      notice[HEARTHI_LOG];
    struct hearthi_ring_span   span[2];
    struct hearthi_wan_message g = *ask;
    uint32_t                   n = 0;

    g.kind = HEARTHI_WAN_TAKEN;
    if (ask->op == HEARTHI_WAN_ACQUIRE) {
        if (o->last == ask->rank + 1)
            g.kind |= HEARTHI_WAN_AGAIN;
        o->last = ask->rank + 1;
    }
    switch (hearthi_log_read(&o->log, hearthi_log_room((int)ask->to), ask->at,
                             &g.n, span)) {
    case HEARTHI_LOG_PAST: break;
    case HEARTHI_LOG_NEWS: n = spans_copy(o, span, notice); break;
    case HEARTHI_LOG_AHEAD: g.kind |= HEARTHI_WAN_AHEAD; /* fall through */
    case HEARTHI_LOG_LOST: g.kind |= HEARTHI_WAN_INVALIDATE_ALL; break;
    }
    g.at = o->log.epoch;
    hearthi_gateway_answer(g, notice, n * sizeof *notice);
}

static void
refuse(const struct hearthi_wan_message *ask)
{
    struct hearthi_wan_message no = *ask;

    no.kind = 0;
    hearthi_gateway_answer(no, NULL, 0);
}

static void
done(const struct hearthi_wan_message *ask)
{
    hearthi_gateway_answer(*ask, NULL, 0);
}

/* ---- reader-writer locks: phase-fair ---- */

static void
rw_inside(struct object *o, const struct hearthi_wan_message *ask)
{
    if (ask->kind & HEARTHI_WAN_WRITE)
        o->busy = true;
    else
        o->readers++;
    grant(o, ask);
}

static void
rw_acquire(struct object *o, const struct hearthi_wan_message *ask)
{
    bool write = (ask->kind & HEARTHI_WAN_WRITE) != 0;

    if (!o->busy && (write ? o->readers == 0 : o->writers == 0)) {
        rw_inside(o, ask);
    } else if (ask->kind & HEARTHI_WAN_TRY) {
        refuse(ask);
    } else {
        o->writers += write;
        queue_put(o, ask);
    }
}

/* All readers that wait, or the first writer. */
static void
phase_begin(struct object *o, bool write)
{
    struct waiter *before = NULL;

    for (struct waiter *w = o->head; w != NULL;) {
        if (((w->ask.kind & HEARTHI_WAN_WRITE) != 0) == write && !o->busy) {
            struct hearthi_wan_message ask = queue_take(o, before);

            o->writers -= write;
            rw_inside(o, &ask);
        } else {
            before = w;
        }
        w = before != NULL ? before->next : o->head;
    }
}

static void
rw_leave(struct object *o)
{
    if (o->busy) {
        o->busy = false;
        phase_begin(o, false);
    } else if (o->readers > 0) {
        o->readers--;
    }
    if (o->readers == 0)
        phase_begin(o, true);
}

/* ---- locks and flags ---- */

static void
lock_acquire(struct object *o, const struct hearthi_wan_message *ask)
{
    if (!o->busy) {
        o->busy = true;
        grant(o, ask);
    } else if (ask->kind & HEARTHI_WAN_TRY) {
        refuse(ask);
    } else {
        queue_put(o, ask);
    }
}

static void
lock_leave(struct object *o)
{
    if (o->head != NULL) {
        struct hearthi_wan_message ask = next_of(o);

        grant(o, &ask);
    } else {
        o->run = 0;
        o->busy = false;
    }
}

static void
flag_set(struct object *o)
{
    o->busy = false;
    while (o->head != NULL) {
        struct hearthi_wan_message ask = queue_take(o, NULL);

        grant(o, &ask);
    }
}

/* ---- condition variables ---- */

/* Those whose place was woken; the others stay in their order. */
static void
sleepers_wake(struct object *o)
{
    struct waiter *before = NULL;

    for (struct waiter *w = o->head; w != NULL;) {
        if (w->ask.at < o->woken) {
            struct hearthi_wan_message ask = queue_take(o, before);

            done(&ask);
        } else {
            before = w;
        }
        w = before != NULL ? before->next : o->head;
    }
}

static void
cond_enter(struct object *o, const struct hearthi_wan_message *ask)
{
    struct hearthi_wan_message place = *ask;

    place.at = o->entered++;
    done(&place);
}

static void
cond_wake(struct object *o, bool all)
{
    if (all)
        o->woken = o->entered;
    else if (o->woken < o->entered)
        o->woken++;
    sleepers_wake(o);
}

/* ---- what comes ---- */

void
hearthi_gateway_manager_serve(const struct hearthi_wan_message *ask)
{
    struct object *o = &objects[ask->to];

    switch ((enum hearthi_wan_op)ask->op) {
    case HEARTHI_WAN_ACQUIRE:
        if (hearthi_is_rw((int)ask->to))
            rw_acquire(o, ask);
        else
            lock_acquire(o, ask);
        return;
    case HEARTHI_WAN_WAIT:
        if (o->busy)
            queue_put(o, ask);
        else
            grant(o, ask);
        return;
    case HEARTHI_WAN_ENTER: cond_enter(o, ask); return;
    case HEARTHI_WAN_SLEEP:
        queue_put(o, ask);
        sleepers_wake(o);
        return;
    case HEARTHI_WAN_RELEASE:
        log_append(o, ask);
        if (hearthi_is_rw((int)ask->to))
            rw_leave(o);
        else
            lock_leave(o);
        break;
    case HEARTHI_WAN_SET:
        log_append(o, ask);
        flag_set(o);
        break;
    case HEARTHI_WAN_RESET: o->busy = true; break;
    case HEARTHI_WAN_WAKE:
        cond_wake(o, (ask->kind & HEARTHI_WAN_ALL) != 0);
        break;
    default: return;
    }
    done(ask);
}
