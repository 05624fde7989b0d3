/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the objects of a manager lie, whose they are, and their logs.
 *
 * A lock's log stands still while a client reads it, since only its holder
 * writes there; a flag's may go round, and then the client is told that it has
 * lost some.
 */
#include "config.h"

#include "managed_object.h"

#include <string.h>

#include "base/assert.h"
#include "base/min.h"

/* ---- where ---- */

static size_t
size_of(uint32_t room)
{
    return sizeof(struct hearthi_managed_object) +
           room * sizeof(struct hearthi_notice);
}

/* Those that have names lie behind all others, whose memory is not touched
 * before they are used.  They may be very many, and all but the first are as
 * small as their logs. */
static size_t
named_at(size_t at, int managers)
{
    size_t large = hearthi_min(at, HEARTHI_LOGS_LONG / managers + 1);

    return (hearthi_managed_count(managers) + large) * size_of(HEARTHI_LOG) +
           (at - large) *
               size_of(hearthi_log_room(HEARTHI_SYNCS + HEARTHI_LOGS_LONG));
}

size_t
hearthi_managed_bytes(int managers, int syncs)
{
    return named_at((size_t)((syncs - HEARTHI_SYNCS) / managers + 1),
                    managers);
}

struct hearthi_managed_object *
hearthi_managed_object(struct hearthi_managed_objects *all, int sync)
{
    size_t at = hearthi_managed_at(sync, all->managers);
    struct hearthi_managed_object *o =
        (void *)(all->object + (hearthi_is_named(sync)
                                    ? named_at(at, all->managers)
                                    : at * size_of(HEARTHI_LOG)));

    if (o->all == NULL) { /* the first time, and never again */
        o->all = all;
        o->sync = sync;
    }
    HEARTHI_ASSERT(o->all == all && o->sync == sync);
    return o;
}

void
hearthi_managed_open(struct hearthi_managed_objects *all)
{
    for (int i = HEARTH_LOCKS; i < HEARTHI_CONDS_AT; i++)
        if (hearthi_manager(i, all->managers) == all->me)
            hearthi_managed_object(all, i)->busy = true;
}

/* ---- whose it is ---- */

uint64_t
hearthi_managed_keep(struct hearthi_managed_object *o, uint32_t rank)
{
    HEARTHI_ASSERT(o->busy && o->keeper == 0 && o->last == rank + 1);
    if (o->head != NULL)
        return 0; /* which a release serves */
    o->keeper = rank + 1;
    return ++o->stay;
}

bool
hearthi_managed_is_tried(const struct hearthi_managed_object *o)
{
    for (const struct hearthi_managed_client *c = o->head; c != NULL;
         c = c->next)
        if (c->try)
            return true;
    return false;
}

bool
hearthi_managed_is_held(const struct hearthi_managed_object *o, uint32_t rank)
{
    return o->busy && (o->keeper != 0 ? o->keeper : o->last) == rank + 1;
}

/* ---- the log ---- */

uint32_t
hearthi_managed_notices(const struct hearthi_managed_object *o,
                        const struct hearthi_ring_span       news[2],
                        struct hearthi_notice *to, uint32_t most)
{
    uint32_t n = 0;

    HEARTHI_ASSERT(news[0].n + news[1].n <= hearthi_log_room(o->sync));
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < news[i].n && n < most; k++)
            to[n++] = o->notice[news[i].at + k];
    return n;
}

static void
spans_fill(struct hearthi_managed_object *o,
           const struct hearthi_ring_span span[2],
           const struct hearthi_notice   *from)
{
    for (int i = 0; i < 2; i++) {
        memcpy(&o->notice[span[i].at], from, span[i].n * sizeof *from);
        from += span[i].n;
    }
}

void
hearthi_managed_publish(struct hearthi_managed_object *o, uint64_t epoch,
                        const struct hearthi_notice *n, uint32_t count)
{
    struct hearthi_notice    all[2 * HEARTHI_LOG];
    struct hearthi_ring_span span[2];
    uint32_t                 room = hearthi_log_room(o->sync);

    if (hearthi_log_is_full(&o->log, room, epoch, count, span)) {
        hearthi_managed_notices(o, span, all, HEARTHI_LOG);
        hearthi_log_merge(&o->log, room, all, n, count, span);
        spans_fill(o, span, all);
    } else if (hearthi_log_append(&o->log, room, epoch, count, span)) {
        spans_fill(o, span, n);
    }
}

bool
hearthi_managed_reread(const struct hearthi_managed_object *o, uint64_t epoch,
                       uint32_t pos, struct hearthi_ring_span news[2])
{
    return o->log.epoch == epoch &&
           hearthi_ring_read(hearthi_log_room(o->sync), pos, o->log.end, news);
}
