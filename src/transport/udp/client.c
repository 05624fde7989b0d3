/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clients: slots, and a request with its answer.
 *
 * A client's requests to one server are numbered without gaps, and all but
 * those of the first slots (udp_job.h) go one at a time: that is what lets a
 * server tell a repeated request from a new one and keep one answer for each
 * client.
 */
#include "config.h"

#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/option.h"
#include "base/report.h"
#include "client.h"
#include "cluster.h"
#include "datagram_rx.h"
#include "peer_handshake.h"
#include "server.h"
#include "shm_message.h"
#include "socket.h"
#include "space/heap.h"
#include "timer.h"
#include "udp_job.h"
#include "wire.h"
#include "world.h"

/* ---- slots ---- */

enum { WORDS = HEARTHI_UDP_SLOTS / 64 };

static struct hearthi_udp_client *clients; /* of each slot */
static uint64_t                  *numbers; /* of each slot and rank */
static atomic_bool                made[HEARTHI_UDP_SLOTS];
static _Atomic uint64_t           taken[WORDS];

static size_t
numbers_bytes(void)
{
    return HEARTHI_UDP_SLOTS * (size_t)hearthi_cluster.size * sizeof *numbers;
}

/* The release pairs with the acquire of hearthi_udp_client_take(). */
static void
client_make(unsigned slot)
{
    struct hearthi_udp_client *c = &clients[slot];

    hearthi_udp_rx_open(&c->in, hearthi_udp_socket(0), false);
    c->slot = (uint16_t)slot;
    c->seq = numbers + slot * (size_t)hearthi_cluster.size;
    atomic_store_explicit(&made[slot], true, memory_order_release);
}

/* One thread needs that of the lock, one way for what was begun in advance,
 * and another beside it. */
enum { ALONE = 3 };

void
hearthi_udp_clients_open(void)
{
    clients = hearthi_sparse(HEARTHI_UDP_SLOTS * sizeof *clients);
    numbers = hearthi_sparse(numbers_bytes());
    memset(made, 0, sizeof made);
    memset(taken, 0, sizeof taken);
    taken[0] = (UINT64_C(1) << HEARTHI_UDP_BULK) - 1;
    for (unsigned i = 0; i < HEARTHI_UDP_BULK; i++)
        if (i < ALONE || hearthi_world.multiple ||
            (i == HEARTHI_WAY_BESIDE + 1 && hearthi_world.gather != NULL))
            client_make(i);
    client_make(HEARTHI_UDP_BULK);
}

void
hearthi_udp_clients_close(void)
{
    HEARTHI_ASSERT(taken[0] == (UINT64_C(1) << HEARTHI_UDP_BULK) - 1);
    for (unsigned i = 0; i < HEARTHI_UDP_SLOTS; i++)
        if (made[i])
            hearthi_udp_rx_close(&clients[i].in);
    hearthi_sparse_free(clients, HEARTHI_UDP_SLOTS * sizeof *clients);
    hearthi_sparse_free(numbers, numbers_bytes());
}

/* They are made at start, since a page fault must not need a socket. */
struct hearthi_udp_client *
hearthi_udp_bulk(unsigned slot)
{
    HEARTHI_ASSERT(slot < HEARTHI_UDP_BULK);
    return &clients[slot];
}

/* The lowest free slot, or -1. */
static int
slot_take(void)
{
    for (int i = 0; i < WORDS; i++) {
        uint64_t now = atomic_load(&taken[i]);

        while (~now != 0) {
            int bit = __builtin_ctzll(~now);

            if (atomic_compare_exchange_weak(&taken[i], &now,
                                             now | UINT64_C(1) << bit))
                return 64 * i + bit;
        }
    }
    return -1;
}

/* Most programs never have more than one: a socket is made when as many
 * threads wait at the same time. */
struct hearthi_udp_client *
hearthi_udp_client_take(void)
{
    int slot = slot_take();

    if (slot < 0)
        hearthi_fatal("udp",
                      "more than %d threads of this rank wait for locks, "
                      "flags or barriers",
                      HEARTHI_UDP_SLOTS - HEARTHI_UDP_BULK);
    if (!atomic_load_explicit(&made[slot], memory_order_acquire))
        client_make((unsigned)slot);
    return &clients[slot];
}

void
hearthi_udp_client_give(struct hearthi_udp_client *c)
{
    HEARTHI_ASSERT(c->slot >= HEARTHI_UDP_BULK);
    HEARTHI_ASSERT(taken[c->slot / 64] >> c->slot % 64 & 1);
    atomic_fetch_and(&taken[c->slot / 64], ~(UINT64_C(1) << c->slot % 64));
}

/* ---- asking ---- */

/* The operation waits for others, or its answer for its turn to be taken
 * (pipeline.c), so its time may be no round trip. */
static bool
may_wait(const struct hearthi_udp_message *ask)
{
    bool is_part = ask->op == HEARTHI_UDP_WTNT || ask->op == HEARTHI_UDP_INV;

    return ask->op == HEARTHI_UDP_ACQ || ask->op == HEARTHI_UDP_WAIT ||
           ask->op == HEARTHI_UDP_BARR ||
           (is_part && (ask->kind & HEARTHI_UDP_NEWS) != 0);
}

static bool
is_about(const struct hearthi_udp_message *m,
         const struct hearthi_udp_message *ask)
{
    return !hearthi_udp_is_request(m) && m->from == ask->to &&
           m->slot == ask->slot && m->seq == ask->seq;
}

static void
ask_send(struct hearthi_udp_client *c, struct hearthi_udp_message *ask)
{
    hearthi_udp_send(c->in.fd, &hearthi_udp.server[ask->to], ask, NULL);
}

/* The request is there, and must wait: from now on what it carries need not be
 * sent again. */
static void
wait_begin(struct hearthi_udp_message *ask, struct hearthi_udp_timer *timer,
           const struct hearthi_udp_message *answer)
{
    if (answer->kind == HEARTHI_UDP_WAITS) {
        hearthi_udp_timer_done(timer, (int)ask->to, answer->turn, false);
        timer->waits = true;
        if (ask->op == HEARTHI_UDP_BARR)
            ask->body_len = 0;
    }
    timer->silent = 0;
}

/* Take a message before the time-out; true if it is the answer. */
static bool
answer_take(struct hearthi_udp_client *c, struct hearthi_udp_message *ask,
            struct hearthi_udp_timer   *timer,
            struct hearthi_udp_message *answer)
{
    struct sockaddr_in from;

    if (!hearthi_udp_receive(&c->in, timer->sent + timer->wait, answer, &from))
        return false;
    if (!hearthi_udp_is_request(answer))
        hearthi_udp_acknowledge(c->in.fd, answer,
                                &hearthi_udp.server[answer->from]);
    if (!is_about(answer, ask))
        return false;
    if (answer->op != HEARTHI_UDP_NULL || answer->kind == HEARTHI_UDP_DONE)
        return true;
    wait_begin(ask, timer, answer);
    return false;
}

/* Of another node. */
static void
remote_begin(struct hearthi_udp_call *call)
{
    struct hearthi_udp_client *c = call->client;
    int                        rank = (int)call->ask.to;

    hearthi_udp_handshake(&c->in, c->slot, rank, call->what);
    call->ask.reliable = hearthi_udp_acked(call->ask.op);
    hearthi_udp_timer_start(&call->timer, rank);
    ask_send(c, &call->ask);
}

static void
remote_end(struct hearthi_udp_call *call, struct hearthi_udp_message *answer)
{
    struct hearthi_udp_message *ask = &call->ask;
    int                         rank = (int)ask->to;

    while (!answer_take(call->client, ask, &call->timer, answer))
        if (hearthi_udp_timer_late(&call->timer, rank, call->what)) {
            hearthi_udp_count_resent(ask->op);
            ask->turn++;
            ask_send(call->client, ask);
        }
    hearthi_udp_timer_done(&call->timer, rank, answer->turn, may_wait(ask));
}

void
hearthi_udp_call_begin(struct hearthi_udp_call *call, int rank,
                       const char *what)
{
    struct hearthi_udp_message *ask = &call->ask;

    HEARTHI_ASSERT(rank >= 0 && rank < hearthi_cluster.size);
    HEARTHI_ASSERT(call->client->slot >= HEARTHI_UDP_BULK);
    call->what = what;
    ask->from = (uint32_t)hearthi_cluster.rank;
    ask->to = (uint32_t)rank;
    ask->slot = call->client->slot;
    ask->seq = ++call->client->seq[rank];
    if (hearthi_udp_is_local(rank))
        hearthi_udp_shm_channel_ask(ask);
    else if (rank != hearthi_cluster.rank)
        remote_begin(call);
}

void
hearthi_udp_call_end(struct hearthi_udp_call    *call,
                     struct hearthi_udp_message *answer)
{
    int rank = (int)call->ask.to;

    if (rank == hearthi_cluster.rank)
        hearthi_udp_serve_own(&call->ask, answer);
    else if (hearthi_udp_is_local(rank))
        hearthi_udp_shm_channel_answer(call->client->slot, answer);
    else
        remote_end(call, answer);
}

size_t
hearthi_udp_notices_ahead(struct hearthi_udp_client *c, int rank,
                          struct hearthi_udp_message   part,
                          const struct hearthi_notice *notice, size_t count,
                          const char *what)
{
    struct hearthi_udp_message done;
    size_t                     at = 0, most = hearthi_udp.notices;

    part.op = HEARTHI_UDP_WTNT;
    part.body_len = most * sizeof *notice;
    for (; count - at > most; at += most) {
        part.body = (const uint8_t *)(notice + at);
        hearthi_udp_call(c, rank, &part, what, &done);
    }
    return at;
}

void
hearthi_udp_call(struct hearthi_udp_client *c, int rank,
                 struct hearthi_udp_message *ask, const char *what,
                 struct hearthi_udp_message *answer)
{
    struct hearthi_udp_call call = { .client = c, .ask = *ask };

    hearthi_udp_call_begin(&call, rank, what);
    hearthi_udp_call_end(&call, answer);
}
