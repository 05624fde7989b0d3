/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "object.h"

#include "server.h"
#include "space/heap.h"
#include "world.h"

static struct hearthi_udp_object *objects;

static size_t
objects_bytes(void)
{
    return hearthi_managed_count(hearthi_world.size) * sizeof *objects;
}

struct hearthi_udp_object *
hearthi_udp_object(int sync)
{
    return &objects[hearthi_managed_at(sync, hearthi_world.size)];
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
