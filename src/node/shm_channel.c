/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages inside a node, through memory that its ranks share, as in section
 * 3.3 of "A new home-based software DSM protocol for SMP clusters" (Hu, Zhang,
 * Liu, 2000): a buffer between each two ranks, and here a futex to wake.
 *
 * A client slot has one request on its way at most, so the bytes of request
 * and answer have a *box* there, and what lies in a pair's buffer, its *lane*,
 * is the slot's number: a lane as long as there are slots never overflows.
 * Nothing is lost or doubled here, so nothing is acknowledged, sealed or sent
 * again.
 */
#include "config.h"

#include <signal.h>
#include <string.h>

#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "cluster.h"
#include "node/event.h"
#include "node/shm_area.h"
#include "shm_channel.h"
#include "transport/udp/socket_thread.h"
#include "transport/udp/udp_job.h"
#include "transport/udp/wire.h"

struct lane {              /* of one rank to another */
    _Atomic uint32_t tail; /* taken by the threads that send */
    uint32_t         head; /* of the thread that receives */
    _Atomic uint16_t slot[HEARTHI_UDP_SLOTS]; /* number + 1; 0: not yet */
};

struct box { /* of a rank's slot */
    uint32_t ask_len, answer_len;
    uint8_t  ask[HEARTHI_UDP_HEAD + HEARTHI_UDP_SMALL];
    uint8_t  answer[HEARTHI_UDP_HEAD + HEARTHI_UDP_SMALL];
};

static struct {
    struct hearthi_shm_area area;
    struct hearthi_event   *asked;    /* of each rank: there is a request */
    struct hearthi_event   *answered; /* of each rank and slot */
    struct lane            *lane;     /* of each rank, to each rank */
    struct box             *box;      /* of each rank and slot */
    pthread_t               thread;
    atomic_bool             stop;
    void (*serve)(const struct hearthi_udp_message *ask);
} l;

bool
hearthi_udp_shm_channel_used(void)
{
    return hearthi_cluster.node_size > 1 &&
           hearthi_opt.udp_local == HEARTHI_LOCAL_SHM;
}

bool
hearthi_udp_is_local(int rank)
{
    return hearthi_udp_shm_channel_used() &&
           hearthi_cluster.node_of[rank] == hearthi_cluster.node &&
           rank != hearthi_cluster.rank;
}

static size_t
box_of(int rank, unsigned slot)
{
    return (size_t)hearthi_cluster.node_rank_of[rank] * HEARTHI_UDP_SLOTS +
           slot;
}

static struct lane *
lane_of(int from, int to)
{
    return &l.lane[(size_t)from * (size_t)hearthi_cluster.node_size +
                   (size_t)to];
}

/* ---- the client's part ---- */

static size_t
message_write(uint8_t *to, const struct hearthi_udp_message *m)
{
    hearthi_udp_encode(m, to);
    if (m->body_len > 0)
        memcpy(to + HEARTHI_UDP_HEAD, m->body, m->body_len);
    return HEARTHI_UDP_HEAD + m->body_len;
}

void
hearthi_udp_shm_channel_ask(const struct hearthi_udp_message *ask)
{
    int          from = hearthi_cluster.node_rank;
    int          to = hearthi_cluster.node_rank_of[ask->to];
    struct box  *box = &l.box[box_of(hearthi_cluster.rank, ask->slot)];
    struct lane *lane = lane_of(from, to);
    uint32_t     at = atomic_fetch_add(&lane->tail, 1) % HEARTHI_UDP_SLOTS;

    box->ask_len = (uint32_t)message_write(box->ask, ask);
    box->answer_len = 0;
    hearthi_count(local_messages, 1);
    atomic_store_explicit(&lane->slot[at], (uint16_t)(ask->slot + 1),
                          memory_order_release);
    hearthi_event_raise(&l.asked[to]);
}

void
hearthi_udp_shm_channel_answer(unsigned                    slot,
                               struct hearthi_udp_message *answer)
{
    size_t                i = box_of(hearthi_cluster.rank, slot);
    const struct box     *box = &l.box[i];
    struct hearthi_event *event = &l.answered[i];

    for (;;) {
        uint32_t seen = hearthi_event_value(event);
        uint32_t len = __atomic_load_n(&box->answer_len, __ATOMIC_ACQUIRE);

        if (len > 0) {
            hearthi_udp_decode_parts(box->answer,
                                     box->answer + HEARTHI_UDP_HEAD, len,
                                     &hearthi_udp.limits, answer);
            return;
        }
        hearthi_event_wait(event, seen, true);
    }
}

/* ---- the server's part ---- */

void
hearthi_udp_shm_channel_grant(const struct hearthi_udp_message *m)
{
    size_t      i = box_of((int)m->to, m->slot);
    struct box *box = &l.box[i];
    size_t      len = message_write(box->answer, m);

    hearthi_count(local_messages, 1);
    __atomic_store_n(&box->answer_len, (uint32_t)len, __ATOMIC_RELEASE);
    hearthi_event_raise(&l.answered[i]);
}

/* The next request in a lane, or false. */
static bool
lane_take(int from, struct hearthi_udp_message *m)
{
    struct lane *lane = lane_of(from, hearthi_cluster.node_rank);
    uint32_t     at = lane->head % HEARTHI_UDP_SLOTS;
    unsigned     slot =
        atomic_load_explicit(&lane->slot[at], memory_order_acquire);
    struct box *box;

    if (slot == 0)
        return false;
    lane->slot[at] = 0;
    lane->head++;
    box = &l.box[box_of(hearthi_cluster.node_member[from], slot - 1)];
    if (hearthi_udp_decode_parts(box->ask, box->ask + HEARTHI_UDP_HEAD,
                                 box->ask_len, &hearthi_udp.limits,
                                 m) != HEARTHI_UDP_GOOD)
        hearthi_fatal("udp", "rank %d has sent nonsense through shared memory",
                      hearthi_cluster.node_member[from]);
    return true;
}

static void *
serve(void *none)
{
    struct hearthi_event      *event = &l.asked[hearthi_cluster.node_rank];
    struct hearthi_udp_message m;
    struct hearthi_service     service = { 0 };

    (void)none;
    while (!l.stop) {
        uint32_t seen = hearthi_event_value(event);
        bool     any = false;

        for (int from = 0; from < hearthi_cluster.node_size; from++)
            while (lane_take(from, &m)) {
                l.serve(&m);
                any = true;
            }
        if (any)
            continue;
        hearthi_service_end(&service);
        hearthi_event_wait(event, seen, false);
        hearthi_service_begin(&service);
    }
    return NULL;
}

/* ---- start and end ---- */

void
hearthi_udp_shm_channel_open(
    void (*service)(const struct hearthi_udp_message *ask))
{
    size_t n = (size_t)hearthi_cluster.node_size,
           boxes = n * HEARTHI_UDP_SLOTS;
    size_t lanes_at = (n + boxes) * sizeof *l.asked;
    size_t boxes_at = lanes_at + n * n * sizeof *l.lane;

    memset(&l, 0, sizeof l);
    if (!hearthi_udp_shm_channel_used())
        return;
    l.serve = service;
    hearthi_shm_area_open(&l.area, boxes_at + boxes * sizeof *l.box, boxes_at);
    l.asked = (struct hearthi_event *)(void *)l.area.base;
    l.answered = l.asked + n;
    l.lane = (struct lane *)(void *)(l.area.base + lanes_at);
    l.box = (struct box *)(void *)(l.area.base + boxes_at);
    hearthi_udp_socket_thread_start(&l.thread, serve);
}

void
hearthi_udp_shm_channel_close(void)
{
    if (l.area.base == NULL)
        return;
    l.stop = true;
    hearthi_event_raise(&l.asked[hearthi_cluster.node_rank]);
    pthread_join(l.thread, NULL);
    hearthi_shm_area_close(&l.area);
}
