/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fault injection, for tests: a receiver that loses datagrams, takes some
 * twice, some late and some with a byte that is not what was authenticated.
 * All that a socket brings goes through here first, and then the same way as
 * ever.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "datagram_rx.h"
#include "space/heap.h"
#include "udp_job.h"
#include "wire.h"

enum { HELD = 64, LATER_NS = 2000000 };

struct held {
    uint64_t           due;
    size_t             len; /* 0: free */
    struct sockaddr_in from;
    uint8_t           *data;
};

struct hearthi_udp_fault {
    uint64_t    state;
    struct held held[HELD];
};

struct hearthi_udp_fault *
hearthi_udp_fault_open(void)
{
    static atomic_uint        number;
    struct hearthi_udp_fault *t;

    if (hearthi_opt.udp_drop == 0 && hearthi_opt.udp_dup == 0 &&
        hearthi_opt.udp_reorder == 0 && hearthi_opt.udp_delay == 0 &&
        hearthi_opt.udp_tear == 0)
        return NULL;
    t = calloc(1, sizeof *t);
    if (t == NULL)
        hearthi_fatal("hearth_init", "no memory");
    t->state = hearthi_opt.udp_seed * 1000003 +
               (uint64_t)hearthi_cluster.rank * 1009 +
               atomic_fetch_add(&number, 1);
    return t;
}

void
hearthi_udp_fault_close(struct hearthi_udp_fault *t)
{
    for (int i = 0; t != NULL && i < HELD; i++)
        hearthi_sparse_free(t->held[i].data, HEARTHI_UDP_DATAGRAM);
    free(t);
}

static bool
chance(struct hearthi_udp_fault *t, size_t percent)
{
    return hearthi_random(&t->state) % 100 < percent;
}

/* Without room nothing is held back. */
static bool
hold(struct hearthi_udp_fault *t, const uint8_t *data, size_t len,
     const struct sockaddr_in *from, uint64_t later)
{
    int i = 0;

    while (i < HELD && t->held[i].len > 0)
        i++;
    if (i == HELD || len == 0)
        return false;
    if (t->held[i].data == NULL)
        t->held[i].data = hearthi_sparse(HEARTHI_UDP_DATAGRAM);
    memcpy(t->held[i].data, data, len);
    t->held[i].len = len;
    t->held[i].from = *from;
    t->held[i].due = hearthi_now() + later;
    return true;
}

/* A random time after the delay that all have. */
static uint64_t
later(struct hearthi_udp_fault *t)
{
    return hearthi_opt.udp_delay + hearthi_random(&t->state) % LATER_NS;
}

/* Any byte but the MAC's own.  A receiver that does not look at MACs would
 * take it. */
static void
tear(struct hearthi_udp_fault *t, uint8_t *data, size_t len)
{
    const size_t mac = sizeof(uint64_t);

    if (len > mac && hearthi_udp.auth)
        data[mac + hearthi_random(&t->state) % (len - mac)] ^= 1;
}

bool
hearthi_udp_fault_pass(struct hearthi_udp_fault *t, uint8_t *data, size_t len,
                       const struct sockaddr_in *from)
{
    uint64_t delay = hearthi_opt.udp_delay;

    if (chance(t, hearthi_opt.udp_drop))
        return false;
    if (chance(t, hearthi_opt.udp_tear))
        tear(t, data, len);
    if (chance(t, hearthi_opt.udp_dup))
        hold(t, data, len, from, later(t));
    if (chance(t, hearthi_opt.udp_reorder))
        return !hold(t, data, len, from, later(t));
    return delay == 0 || !hold(t, data, len, from, delay);
}

static const struct held *
first(const struct hearthi_udp_fault *t)
{
    const struct held *f = NULL;

    for (const struct held *h = t->held; h < t->held + HELD; h++)
        if (h->len > 0 && (f == NULL || h->due < f->due))
            f = h;
    return f;
}

size_t
hearthi_udp_fault_take(struct hearthi_udp_fault *t, uint8_t *data,
                       struct sockaddr_in *from)
{
    const struct held *f = first(t);
    size_t             len;

    if (f == NULL || f->due > hearthi_now())
        return 0;
    len = f->len;
    memcpy(data, f->data, len);
    *from = f->from;
    t->held[f - t->held].len = 0;
    return len;
}

uint64_t
hearthi_udp_fault_due(const struct hearthi_udp_fault *t)
{
    const struct held *f = first(t);

    return f == NULL ? UINT64_MAX : f->due;
}
