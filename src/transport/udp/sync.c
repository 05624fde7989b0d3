/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The client's side of locks, flags and atomics.
 */
#include "config.h"

#include <string.h>

#include "client.h"
#include "cluster.h"
#include "liveness_probe.h"
#include "node/lock_delegation.h"
#include "sync.h"
#include "wire.h"

static int
manager(int sync)
{
    return hearthi_manager(sync, hearthi_cluster.size);
}

/* What the grant had no room for.  False if a flag's log has gone round. */
static bool
grant_rest(struct hearthi_udp_client *c, int sync, uint64_t epoch, size_t all,
           struct hearthi_grant *g)
{
    struct hearthi_udp_message answer;

    while (g->n < all) {
        struct hearthi_udp_message ask = { .op = HEARTHI_UDP_INV,
                                           .kind = HEARTHI_UDP_LOG,
                                           .len = (uint32_t)sync,
                                           .at = epoch,
                                           .pos = g->pos -
                                                  (uint32_t)(all - g->n) };
        size_t                     n;

        hearthi_udp_call(c, manager(sync), &ask, "acquire", &answer);
        n = answer.body_len / sizeof *g->notice;
        if ((answer.kind & HEARTHI_UDP_LOST) || n == 0)
            return false;
        if (n > all - g->n)
            n = all - g->n;
        memcpy(g->notice + g->n, answer.body, n * sizeof *g->notice);
        g->n += n;
    }
    return true;
}

static void
grant_take(struct hearthi_udp_client *c, int sync,
           const struct hearthi_udp_message *m, struct hearthi_grant *g)
{
    size_t all = m->len < HEARTHI_LOG ? m->len : HEARTHI_LOG;

    g->invalidate_all = (m->kind & HEARTHI_UDP_INVALIDATE_ALL) != 0;
    g->ahead = m->kind & HEARTHI_UDP_AHEAD ? m->at : 0;
    g->again = (m->kind & HEARTHI_UDP_AGAIN) != 0;
    g->pos = m->pos;
    g->n = m->body_len / sizeof *g->notice;
    if (g->n > all)
        g->n = all;
    if (g->n > 0)
        memcpy(g->notice, m->body, g->n * sizeof *g->notice);
    if (grant_rest(c, sync, m->at, all, g))
        return;
    g->invalidate_all = true;
    g->n = 0;
}

/* Take a lock or wait for a flag. */
static bool
ask_grant(unsigned op, int sync, unsigned kind, struct hearthi_grant *g)
{
    struct hearthi_udp_client *c = hearthi_udp_client_take();
    struct hearthi_udp_message answer;
    struct hearthi_udp_message ask = { .op = (uint8_t)op,
                                       .kind = (uint8_t)kind,
                                       .len = (uint32_t)sync,
                                       .at = g->epoch,
                                       .pos = g->pos };
    bool                       taken;

    hearthi_udp_liveness_wait_begin("acquire");
    hearthi_udp_call(c, manager(sync), &ask, "acquire", &answer);
    hearthi_udp_liveness_wait_end();
    taken = (answer.kind & HEARTHI_UDP_TAKEN) != 0;
    if (taken)
        grant_take(c, sync, &answer, g);
    hearthi_udp_client_give(c);
    return taken;
}

bool
hearthi_udp_acquire(int sync, bool try, struct hearthi_grant *g)
{
    return ask_grant(HEARTHI_UDP_ACQ, sync, try ? HEARTHI_UDP_TRY : 0, g);
}

bool
hearthi_udp_rw_acquire(int sync, bool write, bool try, struct hearthi_grant *g)
{
    return ask_grant(
        HEARTHI_UDP_ACQ, sync,
        (write ? HEARTHI_UDP_WRITE : 0) | (try ? HEARTHI_UDP_TRY : 0), g);
}

void
hearthi_udp_flag_wait(int sync, struct hearthi_grant *g)
{
    ask_grant(HEARTHI_UDP_WAIT, sync, 0, g);
}

/* More notices than a log holds are "everything": then their number says
 * enough. */
static void
pass(int sync, unsigned kind, uint64_t epoch, const struct hearthi_notice *n,
     size_t count)
{
    struct hearthi_udp_client *c = hearthi_udp_client_take();
    struct hearthi_udp_message answer;
    struct hearthi_udp_message ask = { .kind = HEARTHI_UDP_LOG,
                                       .len = (uint32_t)sync,
                                       .at = epoch };
    size_t                     sent = 0;

    if (count <= HEARTHI_LOG)
        sent = hearthi_udp_notices_ahead(c, manager(sync), ask, n, count,
                                         "release");
    ask.op = HEARTHI_UDP_REL;
    ask.kind = (uint8_t)kind;
    ask.pos = (uint32_t)(count - sent);
    ask.body = (const uint8_t *)(n + sent);
    ask.body_len = count > HEARTHI_LOG ? 0 : (count - sent) * sizeof *n;
    hearthi_udp_call(c, manager(sync), &ask, "release", &answer);
    hearthi_udp_client_give(c);
}

void
hearthi_udp_release(int sync, uint64_t epoch, const struct hearthi_notice *n,
                    size_t count)
{
    pass(sync, HEARTHI_UDP_UNLOCK, epoch, n, count);
}

/* The manager knows whether a writer is inside. */
void
hearthi_udp_rw_release(int sync, bool write, const struct hearthi_notice *n,
                       size_t count)
{
    (void)write;
    pass(sync, HEARTHI_UDP_UNLOCK, hearthi_epochs.release, n, count);
}

/* Who wanted it meanwhile was told that it stays, and waits for it. */
bool
hearthi_udp_delegate(int lock)
{
    struct hearthi_udp_client *c = hearthi_udp_client_take();
    struct hearthi_udp_message answer;
    struct hearthi_udp_message ask = { .op = HEARTHI_UDP_REL,
                                       .kind = HEARTHI_UDP_KEEP,
                                       .len = (uint32_t)lock };

    hearthi_udp_call(c, manager(lock), &ask, "release", &answer);
    hearthi_udp_client_give(c);
    return answer.len > 0 && hearthi_delegation_begin(lock);
}

void
hearthi_udp_flag_set(int sync, const struct hearthi_notice *n, size_t count)
{
    pass(sync, HEARTHI_UDP_SET, hearthi_epochs.release, n, count);
}

void
hearthi_udp_flag_reset(int sync)
{
    pass(sync, HEARTHI_UDP_RESET, hearthi_epochs.release, NULL, 0);
}

uint64_t
hearthi_udp_atomic(int home, size_t offset, const struct hearthi_atomic_op *s)
{
    static const uint8_t       kind[] = { [HEARTHI_ADD] = HEARTHI_UDP_ADD,
                                          [HEARTHI_SWAP] = HEARTHI_UDP_SWAP,
                                          [HEARTHI_CAS] = HEARTHI_UDP_CAS };
    struct hearthi_udp_client *c = hearthi_udp_client_take();
    const uint64_t             body[2] = { s->value, s->expected };
    struct hearthi_udp_message answer;
    struct hearthi_udp_message ask = { .op = HEARTHI_UDP_DIFF,
                                       .kind = kind[s->kind],
                                       .at = offset,
                                       .len = hearthi_atomic_op_bytes(s),
                                       .body = (const uint8_t *)body,
                                       .body_len = sizeof body };
    uint64_t                   old = 0;

    hearthi_udp_call(c, home, &ask, "atomic", &answer);
    if (answer.body_len == sizeof old)
        memcpy(&old, answer.body, sizeof old);
    hearthi_udp_client_give(c);
    return old;
}
