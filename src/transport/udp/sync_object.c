/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "sync_object.h"

#include "cluster.h"
#include "node/lock_names.h"
#include "server.h"
#include "space/heap.h"

/* Those that have names lie behind the others, and are smaller. */
static char *objects;

static size_t
size_of(int sync)
{
    return sizeof(struct hearthi_udp_sync_object) +
           hearthi_log_room(sync) * sizeof(struct hearthi_notice);
}

static size_t
named_from(void)
{
    return hearthi_managed_count(hearthi_cluster.size) * size_of(0);
}

static size_t
objects_bytes(void)
{
    return named_from() + hearthi_lock_names_each * size_of(HEARTHI_SYNCS);
}

struct hearthi_udp_sync_object *
hearthi_udp_sync_object(int sync)
{
    size_t at = hearthi_managed_at(sync, hearthi_cluster.size) * size_of(sync);

    return (void *)(objects + at +
                    (hearthi_is_named(sync) ? named_from() : 0));
}

static size_t
place_of(const struct hearthi_udp_sync_object *o)
{
    return (size_t)((const char *)o - objects);
}

int
hearthi_udp_sync_object_number(const struct hearthi_udp_sync_object *o)
{
    int    me = hearthi_cluster.rank, size = hearthi_cluster.size;
    size_t at = place_of(o);

    return at < named_from()
               ? (int)(at / size_of(0)) * size + me
               : hearthi_managed_named(
                     (at - named_from()) / size_of(HEARTHI_SYNCS), me, size);
}

uint32_t
hearthi_udp_sync_object_room(const struct hearthi_udp_sync_object *o)
{
    return hearthi_log_room(place_of(o) < named_from() ? 0 : HEARTHI_SYNCS);
}

void
hearthi_udp_sync_objects_open(void)
{
    objects = hearthi_sparse(objects_bytes());
}

void
hearthi_udp_sync_objects_close(void)
{
    hearthi_sparse_free(objects, objects_bytes());
}

void
hearthi_udp_queue_put(struct hearthi_udp_sync_object *o, uint32_t peer)
{
    hearthi_udp_served(peer)->next = 0;
    if (o->tail != 0)
        hearthi_udp_served(o->tail - 1)->next = peer + 1;
    else
        o->head = peer + 1;
    o->tail = peer + 1;
}

bool
hearthi_udp_queue_take(struct hearthi_udp_sync_object *o, uint32_t *peer)
{
    if (o->head == 0)
        return false;
    *peer = o->head - 1;
    o->head = hearthi_udp_served(*peer)->next;
    if (o->head == 0)
        o->tail = 0;
    return true;
}
