/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Flights: requests for pages and with diffs, of which several of one client
 * are on their way to a home.
 *
 * A home takes a client's requests in the order in which they come, and
 * answers each before the next.  So the answer to one says that those sent
 * before it, and not answered, were lost, or their answers were: they go again
 * at once.  An answer carries the turn of its request, so that what comes late
 * of an earlier try says nothing of the later.  (Where the network changes the
 * order something goes again needlessly.)
 *
 * Only when a home says nothing at all there is a time-out, and then one
 * request goes again, the oldest: its answer tells what to do with the others.
 * A home that is slow is not flooded.
 */
#include "config.h"

#include <string.h>

#include "ack.h"
#include "base/clock.h"
#include "base/stat.h"
#include "client.h"
#include "count.h"
#include "datagram_rx.h"
#include "flow_control.h"
#include "peer_handshake.h"
#include "send_window.h"
#include "socket.h"
#include "timer.h"
#include "udp_job.h"
#include "wire.h"

/* The home knows which of the last 64 numbers of a client it has done
 * (udp_home.c); the client keeps well within that of its oldest request. */
enum { AHEAD = 32 };

_Static_assert(HEARTHI_UDP_BULK == HEARTHI_WAYS + 1, "a slot for each way");

struct hearthi_udp_send_window        hearthi_udp_locked;
static struct hearthi_udp_send_window of_way[HEARTHI_WAYS];

void
hearthi_udp_send_window_open(void)
{
    memset(of_way, 0, sizeof of_way);
    hearthi_udp_locked =
        (struct hearthi_udp_send_window){ .client = hearthi_udp_bulk(0) };
}

struct hearthi_udp_send_window *
hearthi_udp_send_window_of(int way)
{
    if (of_way[way].client == NULL)
        of_way[way].client = hearthi_udp_bulk((unsigned)way + 1);
    return &of_way[way];
}

/* Those to a home, one after the other; start with *i == 0. */
static struct hearthi_udp_in_flight *
flight_next(const struct hearthi_udp_send_window *fs, uint32_t home,
            unsigned *i)
{
    while (*i < fs->n)
        if (fs->all[(*i)++]->ask.to == home)
            return fs->all[*i - 1];
    return NULL;
}

#define EACH_FLIGHT(f, fs, home) \
    for (unsigned i_ = 0; ((f) = flight_next((fs), (home), &i_)) != NULL;)

static bool
is_any(const struct hearthi_udp_send_window *fs, uint32_t home)
{
    unsigned i = 0;

    return flight_next(fs, home, &i) != NULL;
}

/* One may always go. */
bool
hearthi_udp_in_flight_may(const struct hearthi_udp_send_window *fs,
                          uint32_t home, size_t bytes)
{
    uint64_t                      next = fs->client->seq[home] + 1;
    struct hearthi_udp_in_flight *f;

    EACH_FLIGHT (f, fs, home)
        if (next - f->ask.seq >= AHEAD)
            return false;
    return !is_any(fs, home) || hearthi_udp_flow_may(home, bytes);
}

static void
flight_send(struct hearthi_udp_in_flight *f)
{
    f->turn = ++f->of->turns;
    f->ask.turn++;
    if (f->prepare != NULL)
        f->prepare(f);
    hearthi_udp_send(f->of->client->in.fd, &hearthi_udp.server[f->ask.to],
                     &f->ask, NULL);
}

static void
flight_repeat(struct hearthi_udp_in_flight *f)
{
    hearthi_udp_count_resent(f->ask.op);
    flight_send(f);
}

void
hearthi_udp_in_flight_launch(struct hearthi_udp_send_window *fs,
                             struct hearthi_udp_in_flight   *f)
{
    uint32_t home = f->ask.to;

    hearthi_udp_handshake(&fs->client->in, fs->client->slot, (int)home,
                          f->what);
    f->of = fs;
    f->alone = !is_any(fs, home);
    f->busy = true;
    fs->all[fs->n++] = f;
    f->ask.slot = fs->client->slot;
    f->ask.seq = ++fs->client->seq[home];
    hearthi_udp_timer_start(&f->timer, (int)home);
    hearthi_udp_flow_sent(home, f->ask.body_len);
    flight_send(f);
}

void
hearthi_udp_in_flight_land(struct hearthi_udp_in_flight *f, size_t told)
{
    struct hearthi_udp_send_window *fs = f->of;
    unsigned                        i = 0;

    f->busy = false;
    while (fs->all[i] != f)
        i++;
    fs->all[i] = fs->all[--fs->n];
    hearthi_udp_flow_done(f->ask.to, f->ask.body_len, told);
}

/* As long as a home answers, what it owes besides is not late.  A request
 * that did not stand behind others has measured a round trip. */
void
hearthi_udp_in_flight_heard(struct hearthi_udp_in_flight *now, uint32_t turn,
                            bool ended)
{
    uint32_t                      home = now->ask.to;
    unsigned                      asked = now->turn;
    uint64_t                      time = hearthi_now();
    struct hearthi_udp_in_flight *f;

    if (now->alone)
        hearthi_udp_timer_done(&now->timer, (int)home, false);
    now->alone = false;
    EACH_FLIGHT (f, now->of, home)
        hearthi_udp_timer_heard(&f->timer, time);
    if (now->ask.turn != turn)
        return;
    EACH_FLIGHT (f, now->of, home) {
        if ((int)(f->turn - asked) >= (f == now && ended))
            continue;
        f->timer.tries++;
        flight_repeat(f);
    }
}

/* ---- time-outs ---- */

static uint64_t
flights_due(const struct hearthi_udp_send_window *fs)
{
    uint64_t due = UINT64_MAX;

    for (unsigned i = 0; i < fs->n; i++) {
        const struct hearthi_udp_timer *t = &fs->all[i]->timer;

        if (t->sent + t->wait < due)
            due = t->sent + t->wait;
    }
    return due;
}

static struct hearthi_udp_in_flight *
oldest(const struct hearthi_udp_send_window *fs, uint32_t home)
{
    struct hearthi_udp_in_flight *f, *first = NULL;

    EACH_FLIGHT (f, fs, home)
        if (first == NULL || (int)(f->turn - first->turn) < 0)
            first = f;
    return first;
}

/* The others wait for the oldest, and have heard as little. */
static void
home_late(const struct hearthi_udp_send_window *fs, uint32_t home)
{
    struct hearthi_udp_in_flight *f, *first = oldest(fs, home);
    uint64_t                      silent = first->timer.silent;

    if (!hearthi_udp_timer_late(&first->timer, (int)home, first->what))
        return;
    silent = first->timer.silent - silent;
    EACH_FLIGHT (f, fs, home)
        if (f != first) {
            f->timer.sent = first->timer.sent;
            f->timer.wait = first->timer.wait;
            f->timer.silent += silent;
        }
    flight_repeat(first);
}

static void
flights_late(const struct hearthi_udp_send_window *fs)
{
    for (unsigned i = 0; i < fs->n; i++)
        home_late(fs, fs->all[i]->ask.to);
}

/* ---- waiting ---- */

/* What a message answers, or NULL. */
static struct hearthi_udp_in_flight *
flight_of(const struct hearthi_udp_send_window *fs,
          const struct hearthi_udp_message     *m)
{
    struct hearthi_udp_in_flight *f;

    EACH_FLIGHT (f, fs, m->from)
        if (f->ask.seq == m->seq && f->answer == m->op)
            return f;
    return NULL;
}

static void
message_take(const struct hearthi_udp_send_window *fs,
             const struct hearthi_udp_message     *m)
{
    const struct hearthi_udp_client *c = fs->client;
    struct hearthi_udp_in_flight    *f;

    if (m->slot != c->slot || hearthi_udp_is_request(m)) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_OPERATION);
        return;
    }
    hearthi_udp_acknowledge(c->in.fd, m, &hearthi_udp.server[m->from]);
    f = flight_of(fs, m);
    if (f != NULL)
        f->take(f, m);
    else if (m->op == HEARTHI_UDP_GETPGRANT)
        hearthi_count(repeats, 1); /* asked for again, and there already */
}

/* What is late is late however much comes in besides: the clock is read once
 * for each call of the kernel. */
void
hearthi_udp_send_window_turn(struct hearthi_udp_send_window *fs)
{
    struct hearthi_udp_rx     *in = &fs->client->in;
    uint64_t                   due = flights_due(fs);
    struct hearthi_udp_message m;
    struct sockaddr_in         from;
    bool                       late = true;

    if (hearthi_udp_receive(in, due, &m, &from)) {
        message_take(fs, &m);
        late = in->at == in->n && hearthi_now() >= due;
    }
    if (late)
        flights_late(fs);
}

/* They may lie here for long: none of them is late, and none measures a round
 * trip. */
void
hearthi_udp_send_window_resume(struct hearthi_udp_send_window *fs)
{
    uint64_t now = hearthi_now();

    for (unsigned i = 0; i < fs->n; i++) {
        hearthi_udp_timer_heard(&fs->all[i]->timer, now);
        fs->all[i]->alone = false;
    }
}
