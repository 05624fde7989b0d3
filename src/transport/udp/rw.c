/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reader-writer locks at their manager, phase-fair as over mpi: who comes to
 * read enters unless a writer is inside or waits.  When a writer leaves all
 * readers that wait enter; when the last reader leaves, or none waited, the
 * first writer does.
 */
#include "config.h"

#include "rw.h"

#include "server.h"

static void
inside(struct hearthi_udp_sync_object *o, bool write)
{
    if (write)
        o->busy = true;
    else
        o->readers++;
}

bool
hearthi_udp_rw_enter(struct hearthi_udp_sync_object *o, uint32_t peer)
{
    const struct hearthi_udp_served *p = hearthi_udp_served(peer);

    if (!o->busy && (p->write ? o->readers == 0 : o->writers == 0)) {
        inside(o, p->write);
        return true;
    }
    if (!p->try) {
        o->writers += p->write;
        hearthi_udp_queue_put(o, peer);
    }
    return false;
}

/* All readers, or the first writer; the others stay in their order. */
static void
phase_begin(struct hearthi_udp_sync_object *o, bool write,
            void (*grant)(struct hearthi_udp_sync_object *o, uint32_t peer))
{
    uint32_t peer, last = o->tail;

    while (last != 0 && hearthi_udp_queue_take(o, &peer)) {
        if (hearthi_udp_served(peer)->write == write && !o->busy) {
            inside(o, write);
            o->writers -= write;
            grant(o, peer);
        } else {
            hearthi_udp_queue_put(o, peer);
        }
        if (peer + 1 == last)
            break;
    }
}

void
hearthi_udp_rw_leave(struct hearthi_udp_sync_object *o,
                     void (*grant)(struct hearthi_udp_sync_object *o,
                                   uint32_t                        peer))
{
    if (o->busy) {
        o->busy = false;
        phase_begin(o, false, grant);
    } else if (o->readers > 0) {
        o->readers--;
    }
    if (o->readers == 0)
        phase_begin(o, true, grant);
}
