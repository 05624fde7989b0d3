/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A lock, a flag, a condition variable or a reader-writer lock at its manager,
 * and the queue of those who wait for it.  With the mutex of the servers.
 */
#ifndef HEARTHI_SYNC_OBJECT_H
#define HEARTHI_SYNC_OBJECT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "transport/log.h"

struct hearthi_udp_sync_object {
    bool           busy;       /* a lock or writer inside, a flag not set */
    uint32_t       readers;    /* that are inside (rw.c) */
    uint32_t       writers;    /* that wait (rw.c) */
    uint32_t       last;       /* rank + 1 of who had it last */
    uint32_t       keeper;     /* rank + 1 of with whom it stays, or 0 */
    struct in_addr keeper_at;  /* the host from which it asked */
    uint64_t       stay;       /* its number */
    uint64_t       due, again; /* the next RECALL, and how long to it */
    struct hearthi_udp_sync_object
                      *recalled;       /* the next that waits for its keeper */
    uint32_t           head, tail;     /* of the queue: peer + 1, or 0 */
    uint64_t           entered, woken; /* of a condition variable (cond.c) */
    struct hearthi_log log;
    struct hearthi_notice notice[];
};

void hearthi_udp_sync_objects_open(void);
void hearthi_udp_sync_objects_close(void);

/* One of those that this rank manages; and its number. */
struct hearthi_udp_sync_object *hearthi_udp_sync_object(int sync);
int hearthi_udp_sync_object_number(const struct hearthi_udp_sync_object *o);

/* Of its log. */
uint32_t hearthi_udp_sync_object_room(const struct hearthi_udp_sync_object *o);

void hearthi_udp_queue_put(struct hearthi_udp_sync_object *o, uint32_t peer);
bool hearthi_udp_queue_take(struct hearthi_udp_sync_object *o, uint32_t *peer);

#endif
