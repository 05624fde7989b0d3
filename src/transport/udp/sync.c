/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The client's side of locks, flags, condition variables and atomics.
 */
#include "config.h"

#include <string.h>

#include "base/min.h"
#include "base/mutex.h"
#include "client.h"
#include "cluster.h"
#include "node/lock_delegation.h"
#include "peer_failure.h"
#include "pipeline.h"
#include "socket.h"
#include "space/segment.h"
#include "udp.h"
#include "udp_job.h"
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
    HEARTHI_ASSERT(g->ahead == 0 || g->invalidate_all);
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

/* More notices than a log holds are "invalidate_all": then their number says
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

    HEARTHI_ASSERT_HAS_NOT(TABLE);
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

/* A client that wanted it meanwhile was told that it stays, and waits for it.
 */
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

/* ---- condition variables ---- */

static uint64_t
cond_ask(struct hearthi_udp_message m, const char *what)
{
    struct hearthi_udp_client *c = hearthi_udp_client_take();
    struct hearthi_udp_message answer;

    hearthi_udp_call(c, manager((int)m.len), &m, what, &answer);
    hearthi_udp_client_give(c);
    return answer.at;
}

uint64_t
hearthi_udp_cond_enter(int sync)
{
    return cond_ask((struct hearthi_udp_message){ .op = HEARTHI_UDP_WAIT,
                                                  .kind = HEARTHI_UDP_ENTER,
                                                  .len = (uint32_t)sync },
                    "wait");
}

void
hearthi_udp_cond_wait(int sync, uint64_t place)
{
    hearthi_udp_liveness_wait_begin("wait");
    cond_ask((struct hearthi_udp_message){ .op = HEARTHI_UDP_WAIT,
                                           .len = (uint32_t)sync,
                                           .at = place },
             "wait");
    hearthi_udp_liveness_wait_end();
}

void
hearthi_udp_cond_wake(int sync, bool all)
{
    cond_ask((struct hearthi_udp_message){ .op = HEARTHI_UDP_REL,
                                           .kind = all ? HEARTHI_UDP_BROADCAST
                                                       : HEARTHI_UDP_SIGNAL,
                                           .len = (uint32_t)sync },
             "signal");
}

/* ---- atomics ---- */

/* The segment of a home of this node: all steps on its words are done by
 * processors of its machine, so this thread can do its own.  NULL: it is
 * elsewhere. */
static char *
near(int home)
{
    const struct hearthi_cluster *c = &hearthi_cluster;

    return c->node_of[home] == c->node
               ? hearthi_segments.base[c->node_rank_of[home]]
               : NULL;
}

static uint64_t
remote_step(int home, size_t offset, const struct hearthi_atomic_op *s)
{
    static const uint8_t kind[] = {
        [HEARTHI_ADD] = HEARTHI_UDP_ADD, [HEARTHI_SWAP] = HEARTHI_UDP_SWAP,
        [HEARTHI_CAS] = HEARTHI_UDP_CAS, [HEARTHI_AND] = HEARTHI_UDP_AND,
        [HEARTHI_OR] = HEARTHI_UDP_OR,   [HEARTHI_XOR] = HEARTHI_UDP_XOR,
        [HEARTHI_SUM] = HEARTHI_UDP_SUM
    };
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

uint64_t
hearthi_udp_atomic(int home, size_t offset, const struct hearthi_atomic_op *s)
{
    char *base = near(home);

    return base != NULL ? hearthi_atomic_op_here(base + offset, s)
                        : remote_step(home, offset, s);
}

/* As many in a message as a datagram holds without being cut, and several
 * messages on their way, each of which is done once as any request is. */
static void
remote_adds(struct hearthi_udp_pipeline *row, const struct hearthi_add_run *r)
{
    size_t most = hearthi_min(hearthi_udp.fragment / sizeof *r->add,
                              (size_t)HEARTHI_UDP_ADDS_MOST);

    row->rank = r->home;
    for (size_t i = 0, n; i < r->n; i += n) {
        struct hearthi_udp_message ask = { .op = HEARTHI_UDP_DIFF,
                                           .kind = HEARTHI_UDP_ADDS };

        n = hearthi_min(most, r->n - i);
        ask.body = (const uint8_t *)(r->add + i);
        ask.body_len = n * sizeof *r->add;
        hearthi_udp_pipeline_ask(row, &ask);
    }
}

void
hearthi_udp_adds(const struct hearthi_add_run *run, size_t n)
{
    struct hearthi_udp_pipeline row = { .what = "atomic" };

    for (size_t i = 0; i < n; i++)
        if (near(run[i].home) == NULL)
            remote_adds(&row, &run[i]);
    for (size_t i = 0; i < n; i++) {
        char *base = near(run[i].home);

        if (base != NULL)
            hearthi_adds_here(base, &run[i]);
    }
    hearthi_udp_pipeline_end(&row);
}
