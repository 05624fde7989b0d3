/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Handshakes.  A rank says hello to another before it first asks it for
 * something, and waits for the answer: all to all at the start would be N^2
 * datagrams.  Some are met at the start (udp_address.c), so that a network
 * that passes nothing is found there.
 *
 * A rank that is met on the way, in a page fault for instance, is met by the
 * socket that will ask it.  An answer to other requests of that socket which
 * comes meanwhile is dropped, as one that is lost: it is asked for again.
 *
 * Between machines a datagram of full size must pass, too.  Each rank tries
 * that once for each machine that it meets a rank of.
 */
#include "config.h"

#include "peer_handshake.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "life/life.h"
#include "peer_failure.h"
#include "socket.h"
#include "timer.h"
#include "udp_job.h"

/* In nanoseconds: how long at the start, and when again, if a round trip is
 * not longer. */
static const uint64_t first_ns = 5000000000;
enum { AGAIN = 5000000, AGAIN_MOST = 80000000 };

/* Some ranks, and which of them have answered. */
struct round {
    struct hearthi_udp_rx *in;
    const int             *rank;
    unsigned               n;
    uint32_t               heard;
    uint16_t               slot;
    size_t                 len;         /* of the hello's body */
    uint64_t               first, last; /* numbers of its hellos */
    struct {
        uint64_t number, when;
    } said[16]; /* the first of them */
    unsigned n_said;
};

static bool
has_heard(const struct round *r, unsigned i)
{
    return r->heard >> i & 1;
}

/* One number for all of them: each has had less. */
static void
round_say(struct round *r)
{
    static uint8_t             nothing[HEARTHI_UDP_DATAGRAM];
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_BCAST,
                                     .from = (uint32_t)hearthi_cluster.rank,
                                     .slot = r->slot,
                                     .body = nothing,
                                     .body_len = r->len };

    m.seq = r->last = hearthi_udp_hello_number();
    if (r->first == 0)
        r->first = r->last;
    if (r->n_said < sizeof r->said / sizeof r->said[0]) {
        r->said[r->n_said].number = m.seq;
        r->said[r->n_said++].when = hearthi_now();
    }
    for (unsigned i = 0; i < r->n; i++)
        if (!has_heard(r, i)) {
            m.to = (uint32_t)r->rank[i];
            hearthi_udp_hello_send(r->in->fd, &m);
        }
}

/* The first that is known of the round trip, and of one with a datagram of
 * full size. */
static void
round_measure(const struct round *r, const struct hearthi_udp_message *m)
{
    for (unsigned i = 0; i < r->n_said; i++)
        if (r->said[i].number == m->seq)
            hearthi_udp_took((int)m->from, hearthi_now() - r->said[i].when);
}

/* What is of an earlier round says nothing of this one's size. */
static void
round_hear(struct round *r, const struct hearthi_udp_message *m)
{
    if (m->op != HEARTHI_UDP_NULL || m->kind != HEARTHI_UDP_DONE ||
        m->slot != r->slot || m->seq < r->first || m->seq > r->last)
        return;
    for (unsigned i = 0; i < r->n; i++)
        if (m->from == (uint32_t)r->rank[i]) {
            if (!has_heard(r, i))
                round_measure(r, m);
            r->heard |= UINT32_C(1) << i;
            hearthi_udp_hello_heard(m);
        }
}

/* A rank that was measured is given that time. */
static uint64_t
round_again(const struct round *r)
{
    uint64_t again = AGAIN;

    for (unsigned i = 0; i < r->n; i++)
        if (hearthi_udp_takes(r->rank[i]) != 0 &&
            hearthi_udp_time_out(r->rank[i]) > again)
            again = hearthi_udp_time_out(r->rank[i]);
    return again;
}

/* Ask those that have not answered, until all have or it is late: the first
 * that has not, or -1. */
static int
round_go(struct round *r, uint64_t patience)
{
    uint64_t now = hearthi_now(), end = now + patience, next = 0;
    uint64_t again = round_again(r);

    for (unsigned i = 0; i < r->n; now = hearthi_now()) {
        struct hearthi_udp_message m;
        struct sockaddr_in         from;

        if (now > end)
            return r->rank[i];
        if (now >= next) {
            round_say(r);
            next = now + again;
            again = again < AGAIN_MOST ? 2 * again : again;
        }
        if (hearthi_udp_receive(r->in, next, &m, &from))
            round_hear(r, &m);
        while (i < r->n && has_heard(r, i))
            i++;
    }
    return -1;
}

/* ---- a rank that does not answer ---- */

_Noreturn static void
unheard(int rank, size_t len, const char *what)
{
    char     all[20 * HEARTHI_ADDRESSES], mine[20 * HEARTHI_ADDRESSES];
    int      me = hearthi_cluster.rank;
    unsigned port = ntohs(hearthi_udp.server[rank].sin_port);

    hearthi_udp_ways_text(rank, all, sizeof all);
    hearthi_udp_ways_text(me, mine, sizeof mine);
    if (len > 0)
        hearthi_life_gone(
            rank, what,
            "rank %d at %s, port %u, answers over UDP, but not to "
            "datagrams of %zu bytes from rank %d at %s: lower "
            "HEARTH_UDP_DATAGRAM to what the network passes",
            rank, all, port, len + HEARTHI_UDP_HEAD, me, mine);
    hearthi_life_gone(
        rank, what,
        "no answer over UDP from rank %d at %s, port %u, to rank %d "
        "at %s: let a firewall pass UDP (HEARTH_UDP_PORT fixes the "
        "ports), or use HEARTH_TRANSPORT=mpi",
        rank, all, port, me, mine);
}

/* ---- sizes ---- */

/* Of those ranks the ones by which this rank knows a machine's network: one of
 * each other machine, and the ranks that are called at the start. */
static unsigned
far_ranks(const int *rank, unsigned n, int *far)
{
    const int *of = hearthi_cluster.machine_of;
    unsigned   some = 0;

    for (unsigned i = 0; i < n; i++) {
        bool known = of[rank[i]] == of[hearthi_cluster.rank];

        for (unsigned k = 0; k < some && !known; k++)
            known = of[far[k]] == of[rank[i]];
        if (!known && !hearthi_udp_size_passes(rank[i]))
            far[some++] = rank[i];
    }
    return some;
}

/* All have answered: do they get a datagram of full size? */
static void
sizes_try(const struct round *was, uint64_t patience, const char *what)
{
    int          far[HEARTHI_UDP_HANDSHAKES_MOST], silent;
    struct round r = { .in = was->in, .slot = was->slot, .rank = far };

    r.n = far_ranks(was->rank, was->n, far);
    r.len = hearthi_udp.fragment;
    silent = round_go(&r, patience);
    if (silent >= 0)
        unheard(silent, r.len, what);
    for (unsigned i = 0; i < r.n; i++)
        hearthi_udp_size_passed(far[i]);
}

/* ---- meetings ---- */

void
hearthi_udp_handshake_first(struct hearthi_udp_rx *in, uint16_t slot,
                            const int *rank, unsigned n)
{
    struct round r = { .in = in, .slot = slot, .rank = rank, .n = n };
    int          silent = round_go(&r, first_ns);

    if (silent >= 0)
        unheard(silent, 0, "hearth_init");
    sizes_try(&r, first_ns, "hearth_init");
    for (unsigned i = 0; i < n; i++)
        hearthi_udp_met_set(rank[i]);
}

void
hearthi_udp_handshake_now(struct hearthi_udp_rx *in, uint16_t slot, int rank,
                          const char *what)
{
    struct round r = { .in = in, .slot = slot, .rank = &rank, .n = 1 };

    if (round_go(&r, hearthi_opt.udp_giveup) >= 0)
        hearthi_udp_peer_failed(rank, what);
    sizes_try(&r, hearthi_opt.udp_giveup, what);
    hearthi_udp_met_set(rank);
}
