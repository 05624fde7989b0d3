/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What peers ask of managed objects, and what they are answered.
 *
 * What a grant has no room for of a log (log.h) the client asks for with INV.
 */
#include "config.h"

#include "udp.h"

#include <string.h>
#include <time.h>

#include "base/mutex.h"
#include "cluster.h"
#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "server.h"
#include "space/heap.h"
#include "transport/lock_directory.h"
#include "transport/sync/managed_object.h"
#include "udp_job.h"

/* ---- answers ---- */

static void
notices_add(struct hearthi_udp_message          *m,
            const struct hearthi_managed_object *o,
            const struct hearthi_ring_span       news[2],
            struct hearthi_notice                to[HEARTHI_LOG])
{
    m->body = (const uint8_t *)to;
    m->body_len =
        hearthi_managed_notices(o, news, to, hearthi_udp.notices) * sizeof *to;
}

static void
grant(const struct hearthi_managed_object *o, struct hearthi_managed_client *c,
      const struct hearthi_managed_grant *g)
{
    struct hearthi_notice      notice[HEARTHI_LOG];
    struct hearthi_udp_message m = {
        .op = g->lock ? HEARTHI_UDP_ACQGRANT : HEARTHI_UDP_WAITGRANT,
        .kind =
            (uint8_t)(HEARTHI_UDP_TAKEN | (g->again ? HEARTHI_UDP_AGAIN : 0) |
                      (g->lost ? HEARTHI_UDP_INVALIDATE_ALL : 0) |
                      (g->ahead ? HEARTHI_UDP_AHEAD : 0)),
        .at = g->epoch,
        .pos = g->pos,
        .len = g->news[0].n + g->news[1].n,
    };

    notices_add(&m, o, g->news, notice);
    hearthi_udp_answer(hearthi_udp_served_number(c), &m);
}

static void
refuse(struct hearthi_managed_client *c)
{
    struct hearthi_udp_message no = { .op = HEARTHI_UDP_ACQGRANT };

    hearthi_udp_answer(hearthi_udp_served_number(c), &no);
}

static void
woken(struct hearthi_managed_client *c)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_WAITGRANT };

    hearthi_udp_answer(hearthi_udp_served_number(c), &m);
}

static void
done(uint32_t peer)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_NULL };

    hearthi_udp_answer(peer, &m);
}

/* ---- start and end ---- */

static const struct hearthi_managed_driver driver = {
    .grant = grant,
    .refuse = refuse,
    .woken = woken,
    .recall = hearthi_udp_delegation_recall,
};

static struct hearthi_managed_objects managed;

static size_t
managed_bytes(void)
{
    return hearthi_managed_bytes(hearthi_cluster.size, hearthi_syncs);
}

void
hearthi_udp_manager_open(void)
{
    managed = (struct hearthi_managed_objects){
        .driver = &driver,
        .me = hearthi_cluster.rank,
        .managers = hearthi_cluster.size,
        .reads = hearthi_cluster.nodes > 1,
        .object = hearthi_sparse(managed_bytes()),
    };
    hearthi_managed_open(&managed);
    hearthi_udp_delegations_open();
}

void
hearthi_udp_manager_close(void)
{
    hearthi_sparse_free(managed.object, managed_bytes());
}

bool
hearthi_udp_flag_is_set(int sync)
{
    bool set;

    hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    set = !hearthi_managed_object(&managed, sync)->busy;
    hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    return set;
}

/* ---- the end of a holder ---- */

static bool
mutex_get(void)
{
    const struct timespec nap = { .tv_nsec = 100000 };
    enum { NAPS = 20 };

    for (int i = 0; i < NAPS; i++) {
        if (pthread_mutex_trylock(&hearthi_udp_mutex) == 0) {
            hearthi_witness_tried(HEARTHI_MUTEX_SERVER);
            return true;
        }
        nanosleep(&nap, NULL);
    }
    return false;
}

static bool
had_it(int lock, int rank)
{
    return hearthi_managed_is_held(hearthi_managed_object(&managed, lock),
                                   (uint32_t)rank);
}

void
hearthi_udp_abandoned_locks(int rank, struct hearthi_abandoned_locks *l)
{
    if (!mutex_get())
        return;
    for (int i = hearthi_cluster.rank; i < HEARTH_LOCKS;
         i += hearthi_cluster.size)
        if (had_it(i, rank))
            hearthi_abandoned_locks_add(l, hearthi_lock_names_key(i));
    for (size_t i = 0; i < hearthi_lock_directory_count(); i++)
        if (had_it(hearthi_managed_named(i, hearthi_cluster.rank,
                                         hearthi_cluster.size),
                   rank))
            hearthi_abandoned_locks_add(l, hearthi_lock_directory_own(i));
    hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
}

/* ---- what is asked ---- */

/* The client of a peer, as it asks now. */
static struct hearthi_managed_client *
client_of(uint32_t peer, const struct hearthi_udp_message *m)
{
    struct hearthi_managed_client *c = &hearthi_udp_served(peer)->client;
    bool                           is_lock = m->op == HEARTHI_UDP_ACQ;

    *c = (struct hearthi_managed_client){
        .at = m->at,
        .pos = m->pos,
        .rank = m->from,
        .try = is_lock && (m->kind & HEARTHI_UDP_TRY) != 0,
        .write = is_lock && (m->kind & HEARTHI_UDP_WRITE) != 0,
    };
    return c;
}

static void
cond_serve(struct hearthi_managed_object *o, uint32_t peer,
           const struct hearthi_udp_message *m)
{
    if (m->op == HEARTHI_UDP_WAIT && m->kind == HEARTHI_UDP_ENTER) {
        struct hearthi_udp_message place = {
            .op = HEARTHI_UDP_WAITGRANT, .at = hearthi_managed_cond_enter(o)
        };

        hearthi_udp_answer(peer, &place);
    } else if (m->op == HEARTHI_UDP_WAIT) {
        hearthi_managed_cond_wait(o, client_of(peer, m));
    } else if (m->op == HEARTHI_UDP_REL && m->kind >= HEARTHI_UDP_SIGNAL) {
        hearthi_managed_cond_wake(o, m->kind == HEARTHI_UDP_BROADCAST);
        done(peer);
    } else {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_OPERATION);
    }
}

/* Where a body lies no notice may be. */
static const struct hearthi_notice *
notices_of(const struct hearthi_udp_message *m,
           struct hearthi_notice             to[HEARTHI_LOG])
{
    HEARTHI_ASSERT(m->body_len <= HEARTHI_LOG * sizeof *to);
    if (m->body_len > 0)
        memcpy(to, m->body, m->body_len);
    return to;
}

static void
give(struct hearthi_managed_object *o, uint32_t peer,
     const struct hearthi_udp_message *m)
{
    struct hearthi_notice notice[HEARTHI_LOG];

    switch (m->kind) {
    case HEARTHI_UDP_KEEP: hearthi_udp_delegation_begin(o, peer); return;
    case HEARTHI_UDP_RESET: hearthi_managed_flag_reset(o); break;
    case HEARTHI_UDP_SET:
        hearthi_managed_flag_set(o, m->at, notices_of(m, notice), m->pos);
        break;
    default:
        hearthi_udp_delegation_end(o);
        hearthi_managed_release(o, m->from, m->at, notices_of(m, notice),
                                m->pos);
    }
    done(peer);
}

static void
log_more(const struct hearthi_managed_object *o, uint32_t peer,
         const struct hearthi_udp_message *ask)
{
    struct hearthi_notice      notice[HEARTHI_LOG];
    struct hearthi_ring_span   news[2];
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_INV,
                                     .kind = HEARTHI_UDP_REPLY };

    if (hearthi_managed_reread(o, ask->at, ask->pos, news))
        notices_add(&m, o, news, notice);
    else
        m.kind |= HEARTHI_UDP_LOST;
    hearthi_udp_answer(peer, &m);
}

/* Notices that a release has no room for. */
static void
log_ahead(struct hearthi_managed_object *o, uint32_t peer,
          const struct hearthi_udp_message *m)
{
    struct hearthi_notice notice[HEARTHI_LOG];

    hearthi_managed_publish(o, m->at, notices_of(m, notice),
                            (uint32_t)(m->body_len / HEARTHI_UDP_NOTICE));
    done(peer);
}

void
hearthi_udp_manage(uint32_t peer, const struct hearthi_udp_message *m)
{
    struct hearthi_managed_object *o =
        hearthi_managed_object(&managed, (int)m->len);

    HEARTHI_ASSERT_HAS(SERVER);
    if (m->len >= HEARTHI_CONDS_AT && m->len < HEARTHI_RWS_AT) {
        cond_serve(o, peer, m);
        return;
    }
    if ((m->op == HEARTHI_UDP_WAIT && m->kind == HEARTHI_UDP_ENTER) ||
        (m->op == HEARTHI_UDP_REL && m->kind >= HEARTHI_UDP_SIGNAL)) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_OPERATION);
        return;
    }
    switch (m->op) {
    case HEARTHI_UDP_ACQ:
        hearthi_managed_acquire(o, client_of(peer, m));
        break;
    case HEARTHI_UDP_WAIT:
        hearthi_managed_flag_wait(o, client_of(peer, m));
        break;
    case HEARTHI_UDP_REL: give(o, peer, m); break;
    case HEARTHI_UDP_INV: log_more(o, peer, m); break;
    default: log_ahead(o, peer, m); /* WTNT */
    }
}

/* ---- locks that stay ---- */

void
hearthi_udp_recalled(const struct hearthi_udp_message *m)
{
    int lock = (int)m->len;

    if (m->kind == HEARTHI_UDP_RECALL) {
        struct hearthi_udp_message busy = { .op = HEARTHI_UDP_INV,
                                            .kind = HEARTHI_UDP_BUSY,
                                            .len = m->len,
                                            .at = m->at };

        if ((hearthi_delegation_want(lock) & HEARTHI_DELEGATION_USED) &&
            m->pos > 0)
            hearthi_udp_server_tell(
                (int)m->from, hearthi_udp.server[m->from].sin_addr, &busy);
    } else if (hearthi_manager(lock, hearthi_cluster.size) ==
               hearthi_cluster.rank) {
        hearthi_managed_used(hearthi_managed_object(&managed, lock), m->from,
                             m->at);
    }
}
