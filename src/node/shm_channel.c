/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages inside a node, through memory that its ranks share, as in section
 * 3.3 of "A new home-based software DSM protocol for SMP clusters" (Hu, Zhang,
 * Liu, 2000): a buffer between each two ranks, and here a futex to wake.
 *
 * A slot has one request on its way at most, so the bytes of request and
 * answer have a *box* there, and what lies in a pair's buffer, its *lane*, is
 * the slot's number: a lane as long as there are slots never overflows.
 * Nothing is lost or doubled here, so nothing is acknowledged, authenticated
 * or sent again.
 */
#include "config.h"

#include "shm_channel.h"

#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/stat.h"
#include "base/timing.h"
#include "cluster.h"
#include "event.h"
#include "shm_area.h"

struct lane {                /* of one rank to another; its slots follow */
    _Atomic uint32_t tail;   /* taken by the threads that send */
    uint32_t         head;   /* of the thread that receives */
    _Atomic uint16_t slot[]; /* number + 1; 0: not yet */
};

struct box { /* of a rank's slot: room for a request, and for an answer */
    uint32_t request_len, answer_len;
    uint8_t  bytes[];
};

static struct {
    struct hearthi_shm_area area;
    struct hearthi_event   *asked;    /* of each rank: there is a request */
    struct hearthi_event   *answered; /* of each rank and slot */
    char                   *lanes;    /* of each rank, to each rank */
    char                   *boxes;    /* of each rank and slot */
    unsigned                slots;
    size_t                  room, lane_bytes, box_bytes;
    atomic_bool             stop;
} c;

static size_t
index_of(int rank, unsigned slot)
{
    HEARTHI_ASSERT(slot < c.slots);
    return (size_t)rank * c.slots + slot;
}

static struct box *
box_of(int rank, unsigned slot)
{
    return (struct box *)(void *)(c.boxes +
                                  index_of(rank, slot) * c.box_bytes);
}

static struct lane *
lane_of(int from, int to)
{
    size_t i = (size_t)from * (size_t)hearthi_cluster.node_size + (size_t)to;

    return (struct lane *)(void *)(c.lanes + i * c.lane_bytes);
}

/* ---- the rank that asks ---- */

uint8_t *
hearthi_shm_channel_request(unsigned slot)
{
    return box_of(hearthi_cluster.node_rank, slot)->bytes;
}

/* The release pairs with the acquire of lane_take(): the request comes before
 * its slot's number. */
void
hearthi_shm_channel_ask(int to, unsigned slot, size_t len)
{
    int          from = hearthi_cluster.node_rank;
    struct box  *box = box_of(from, slot);
    struct lane *lane = lane_of(from, to);
    uint32_t     at = atomic_fetch_add(&lane->tail, 1) % c.slots;

    HEARTHI_ASSERT(lane->slot[at] == 0 && len > 0 && len <= c.room);
    box->request_len = (uint32_t)len;
    box->answer_len = 0;
    hearthi_count(local_messages, 1);
    atomic_store_explicit(&lane->slot[at], (uint16_t)(slot + 1),
                          memory_order_release);
    hearthi_event_raise(&c.asked[to]);
}

/* The acquire pairs with the release of hearthi_shm_channel_grant(): the
 * answer comes before its length. */
const uint8_t *
hearthi_shm_channel_wait(unsigned slot, size_t *len)
{
    struct box           *box = box_of(hearthi_cluster.node_rank, slot);
    struct hearthi_event *event =
        &c.answered[index_of(hearthi_cluster.node_rank, slot)];

    for (;;) {
        uint32_t seen = hearthi_event_value(event);

        *len = __atomic_load_n(&box->answer_len, __ATOMIC_ACQUIRE);
        if (*len > 0)
            return box->bytes + c.room;
        hearthi_event_wait(event, seen, true);
    }
}

/* ---- the rank that is asked ---- */

uint8_t *
hearthi_shm_channel_answer(int to, unsigned slot)
{
    return box_of(to, slot)->bytes + c.room;
}

void
hearthi_shm_channel_grant(int to, unsigned slot, size_t len)
{
    HEARTHI_ASSERT(len > 0 && len <= c.room);
    hearthi_count(local_messages, 1);
    __atomic_store_n(&box_of(to, slot)->answer_len, (uint32_t)len,
                     __ATOMIC_RELEASE);
    hearthi_event_raise(&c.answered[index_of(to, slot)]);
}

/* The next request in a lane, or NULL. */
static const struct box *
lane_take(int from)
{
    struct lane *lane = lane_of(from, hearthi_cluster.node_rank);
    uint32_t     at = lane->head % c.slots;
    unsigned     slot =
        atomic_load_explicit(&lane->slot[at], memory_order_acquire);

    if (slot == 0)
        return NULL;
    lane->slot[at] = 0;
    lane->head++;
    return box_of(from, slot - 1);
}

void
hearthi_shm_channel_serve(void (*take)(int from, const uint8_t *request,
                                       size_t len))
{
    struct hearthi_event  *event = &c.asked[hearthi_cluster.node_rank];
    struct hearthi_service service = { 0 };
    const struct box      *box;

    while (!c.stop) {
        uint32_t seen = hearthi_event_value(event);
        bool     any = false;

        for (int from = 0; from < hearthi_cluster.node_size; from++)
            while ((box = lane_take(from)) != NULL) {
                take(from, box->bytes, box->request_len);
                any = true;
            }
        if (any)
            continue;
        hearthi_service_end(&service);
        hearthi_event_wait(event, seen, false);
        hearthi_service_begin(&service);
    }
}

void
hearthi_shm_channel_serve_end(void)
{
    c.stop = true;
    hearthi_event_raise(&c.asked[hearthi_cluster.node_rank]);
}

/* ---- start and end ---- */

static size_t
line_up(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* A slot's number lies in 16 bits of a lane. */
void
hearthi_shm_channel_open(unsigned slots, size_t room)
{
    size_t n = (size_t)hearthi_cluster.node_size, boxes = n * slots;
    size_t lanes_at = (n + boxes) * sizeof *c.asked, boxes_at;

    HEARTHI_ASSERT(slots > 0 && slots < UINT16_MAX);
    memset(&c, 0, sizeof c);
    c.slots = slots;
    c.room = room;
    c.lane_bytes = line_up(sizeof(struct lane) + slots * sizeof(uint16_t));
    c.box_bytes = line_up(sizeof(struct box) + 2 * room);
    boxes_at = lanes_at + n * n * c.lane_bytes;
    hearthi_shm_area_open(&c.area, boxes_at + boxes * c.box_bytes, boxes_at);
    c.asked = (struct hearthi_event *)(void *)c.area.base;
    c.answered = c.asked + n;
    c.lanes = c.area.base + lanes_at;
    c.boxes = c.area.base + boxes_at;
}

void
hearthi_shm_channel_close(void)
{
    hearthi_shm_area_close(&c.area);
}
