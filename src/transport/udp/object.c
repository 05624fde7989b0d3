/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "object.h"

#include "server.h"
#include "space/heap.h"
#include "transport/named.h"
#include "world.h"

/* Those that have names lie behind the others, and are smaller. */
static char *objects;

static size_t
size_of(int sync)
{
    return sizeof(struct hearthi_udp_object) +
           hearthi_log_room(sync) * sizeof(struct hearthi_notice);
}

static size_t
named_from(void)
{
    return hearthi_managed_count(hearthi_world.size) * size_of(0);
}

static size_t
objects_bytes(void)
{
    return named_from() + hearthi_named_each * size_of(HEARTHI_SYNCS);
}

struct hearthi_udp_object *
hearthi_udp_object(int sync)
{
    size_t at = hearthi_managed_at(sync, hearthi_world.size) * size_of(sync);
    struct hearthi_udp_object *o =
        (void *)(objects + at + (hearthi_is_named(sync) ? named_from() : 0));

    o->room = hearthi_log_room(sync);
    return o;
}

int
hearthi_udp_object_number(const struct hearthi_udp_object *o)
{
    size_t at = (size_t)((const char *)o - objects), i;
    int    first = 0;

    if (at >= named_from()) {
        at -= named_from();
        first = HEARTHI_SYNCS;
    }
    i = at / size_of(first);
    return first + (int)i * hearthi_world.size + hearthi_world.rank;
}

void
hearthi_udp_objects_open(void)
{
    objects = hearthi_sparse(objects_bytes());
}

void
hearthi_udp_objects_close(void)
{
    hearthi_sparse_free(objects, objects_bytes());
}

void
hearthi_udp_queue_put(struct hearthi_udp_object *o, uint32_t peer)
{
    hearthi_udp_peer(peer)->next = 0;
    if (o->tail != 0)
        hearthi_udp_peer(o->tail - 1)->next = peer + 1;
    else
        o->head = peer + 1;
    o->tail = peer + 1;
}

bool
hearthi_udp_queue_take(struct hearthi_udp_object *o, uint32_t *peer)
{
    if (o->head == 0)
        return false;
    *peer = o->head - 1;
    o->head = hearthi_udp_peer(*peer)->next;
    if (o->head == 0)
        o->tail = 0;
    return true;
}
