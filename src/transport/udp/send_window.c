/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The send window: requests for pages and with diffs, of which several of one
 * client are on their way to a home.
 *
 * A home takes a client's requests in the order in which they come, and
 * answers each before the next.  So the answer to one says that those sent
 * before it, and not answered, were lost, or their answers were: they go
 * again, as soon as the network's window (congestion.c) has room.  An answer
 * carries the turn of its request, so that what comes late of an earlier try
 * says nothing of the later.  (Where the network changes the order something
 * goes again needlessly.)
 *
 * Only when a home says nothing at all there is a time-out, and then one
 * request goes again, the oldest, and asks for no more than a page: its answer
 * tells what to do with the others.  A home that is slow is not flooded, nor
 * is a network.
 */
#include "config.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/min.h"
#include "base/stat.h"
#include "client.h"
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
    HEARTHI_ASSERT(way >= 0 && way < HEARTHI_WAYS);
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

/* Those that are lost go first; one may always go. */
bool
hearthi_udp_in_flight_may(const struct hearthi_udp_send_window *fs,
                          uint32_t home, size_t bytes, size_t brings)
{
    uint64_t                      next = fs->client->seq[home] + 1;
    struct hearthi_udp_in_flight *f;

    EACH_FLIGHT (f, fs, home)
        if (next - f->ask.seq >= AHEAD || f->lost)
            return false;
    return !is_any(fs, home) ||
           (hearthi_udp_flow_may(home, bytes) &&
            bytes + brings <= hearthi_udp_flow_left(home));
}

static void
flight_send(struct hearthi_udp_in_flight *f)
{
    f->turn = ++f->of->turns;
    f->ask.turn++;
    f->lost = false;
    f->way = f->prepare != NULL ? f->prepare(f)
                                : HEARTHI_UDP_HEAD + f->ask.body_len;
    hearthi_udp_flow_put(f->ask.to, f->way);
    hearthi_udp_send(f->of->client->in.fd, &hearthi_udp.server[f->ask.to],
                     &f->ask, NULL);
}

static void
flight_repeat(struct hearthi_udp_in_flight *f)
{
    f->room = hearthi_udp_flow_left(f->ask.to);
    hearthi_udp_count_resent(f->ask.op);
    flight_send(f);
}

void
hearthi_udp_in_flight_launch(struct hearthi_udp_send_window *fs,
                             struct hearthi_udp_in_flight   *f)
{
    uint32_t home = f->ask.to;

    HEARTHI_ASSERT(!f->busy && fs->n < HEARTHI_UDP_SEND_WINDOW);
    hearthi_udp_handshake(&fs->client->in, fs->client->slot, (int)home,
                          f->what);
    f->of = fs;
    f->alone = !is_any(fs, home);
    f->busy = true;
    f->room = SIZE_MAX;
    fs->all[fs->n++] = f;
    f->ask.slot = fs->client->slot;
    f->ask.seq = ++fs->client->seq[home];
    hearthi_udp_timer_start(&f->timer, (int)home);
    hearthi_udp_flow_sent(home, f->ask.body_len);
    flight_send(f);
}

/* What is lost is not on its way any more. */
static void
flight_lose(struct hearthi_udp_in_flight *f)
{
    if (!f->lost)
        hearthi_udp_flow_lost(f->ask.to, f->way);
    f->lost = true;
}

static void
flight_find(struct hearthi_udp_in_flight *f)
{
    if (f->lost)
        hearthi_udp_flow_put(f->ask.to, f->way);
    f->lost = false;
}

void
hearthi_udp_in_flight_came(struct hearthi_udp_in_flight *f, size_t bytes)
{
    bytes = hearthi_min(bytes, f->way);
    f->way -= bytes;
    if (!f->lost)
        hearthi_udp_flow_came(f->ask.to, bytes);
}

void
hearthi_udp_in_flight_land(struct hearthi_udp_in_flight *f, size_t told)
{
    struct hearthi_udp_send_window *fs = f->of;
    unsigned                        i = 0;

    HEARTHI_ASSERT(f->busy && fs->n > 0);
    f->busy = false;
    while (fs->all[i] != f)
        i++;
    HEARTHI_ASSERT(i < fs->n);
    fs->all[i] = fs->all[--fs->n];
    if (!f->lost)
        hearthi_udp_flow_lost(f->ask.to, f->way);
    hearthi_udp_flow_done(f->ask.to, f->ask.body_len, told);
}

/* Of a home's requests in flight the one whose last try is the oldest, of
 * those that are lost, or are not; or NULL. */
static struct hearthi_udp_in_flight *
oldest(const struct hearthi_udp_send_window *fs, uint32_t home, bool lost)
{
    struct hearthi_udp_in_flight *f, *first = NULL;

    EACH_FLIGHT (f, fs, home)
        if (f->lost == lost &&
            (first == NULL || (int)(f->turn - first->turn) < 0))
            first = f;
    return first;
}

/* Those that are lost go again, as far as the network's window has room. */
static void
lost_repeat(const struct hearthi_udp_send_window *fs, uint32_t home)
{
    struct hearthi_udp_in_flight *f;

    while ((f = oldest(fs, home, true)) != NULL &&
           (oldest(fs, home, false) == NULL ||
            hearthi_udp_flow_left(home) >=
                hearthi_min(f->way, hearthi_udp.fragment))) {
        hearthi_udp_timer_again(&f->timer);
        flight_repeat(f);
    }
}

/* An answer to a try that was given up: it was not lost, nor need the others
 * be.  To the last try, behind a time-out: the one before it was lost. */
static void
tries_judge(struct hearthi_udp_in_flight *now, uint32_t turn)
{
    uint32_t                       home = now->ask.to;
    struct hearthi_udp_congestion *network = hearthi_udp_flow_network(home);
    bool                           late = now->lost || turn != now->ask.turn;
    struct hearthi_udp_in_flight  *f;

    if (now->alone || late)
        hearthi_udp_timer_done(&now->timer, (int)home, turn - 1, false);
    now->alone = false;
    if (!late && now->timer.tries > 0)
        hearthi_udp_congestion_again(network);
    if (!late)
        return;
    hearthi_udp_congestion_late(network);
    EACH_FLIGHT (f, now->of, home)
        flight_find(f);
}

/* Those before it in the row were lost, and what is missing of itself. */
static void
holes_find(struct hearthi_udp_in_flight *now, bool ended, uint64_t time)
{
    uint32_t                      home = now->ask.to;
    unsigned                      asked = now->turn;
    struct hearthi_udp_in_flight *f;

    EACH_FLIGHT (f, now->of, home) {
        if ((int)(f->turn - asked) >= (f == now && ended) || f->lost)
            continue;
        if (f != now || f->way > 0)
            hearthi_udp_congestion_lose(hearthi_udp_flow_network(home),
                                        hearthi_udp_timer_asked(&f->timer),
                                        time);
        flight_lose(f);
    }
}

/* As long as a home answers, what it owes besides is not late.  A request
 * that did not stand behind others has measured a round trip. */
void
hearthi_udp_in_flight_heard(struct hearthi_udp_in_flight *now, uint32_t turn,
                            bool ended)
{
    uint32_t                      home = now->ask.to;
    uint64_t                      time = hearthi_now();
    struct hearthi_udp_in_flight *f;

    tries_judge(now, turn);
    EACH_FLIGHT (f, now->of, home)
        hearthi_udp_timer_heard(&f->timer, (int)home, time);
    if (now->ask.turn == turn)
        holes_find(now, ended, time);
    lost_repeat(now->of, home);
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

/* The others wait for the oldest, and have heard as little. */
static void
home_late(const struct hearthi_udp_send_window *fs, uint32_t home)
{
    struct hearthi_udp_in_flight *f, *first = oldest(fs, home, false);
    uint64_t                      silent;

    if (first == NULL)
        first = oldest(fs, home, true);
    HEARTHI_ASSERT(first != NULL);
    silent = first->timer.silent;
    if (!hearthi_udp_timer_late(&first->timer, (int)home, first->what))
        return;
    silent = first->timer.silent - silent;
    hearthi_udp_congestion_silent(hearthi_udp_flow_network(home),
                                  first->timer.sent);
    EACH_FLIGHT (f, fs, home) {
        flight_lose(f);
        if (f == first)
            continue;
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
        hearthi_udp_timer_heard(&fs->all[i]->timer, (int)fs->all[i]->ask.to,
                                now);
        hearthi_udp_timer_forget(&fs->all[i]->timer, now);
        fs->all[i]->alone = false;
    }
}
