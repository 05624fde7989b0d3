/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "twins.h"

#include <string.h>
#include <sys/mman.h>

#include "base/report.h"
#include "overwrite.h"
#include "page.h"
#include "transport/transport.h"

struct hearthi_twins hearthi_twins;

/* Free slots: those that have memory grow from the beginning of an array, a
 * stack, and those that have none from its end. */
static struct {
    char     *at;
    uint32_t *free;
    uint32_t  cold, slots, slots_max;
    bool     *sent; /* of each slot: a network card may have registered it */
    uint64_t  recent[HEARTHI_TWINS_RECENT]; /* pages */
    unsigned  at_recent;
} d;

void
hearthi_twins_open(uint64_t pages)
{
    d.slots_max = (uint32_t)pages;
    d.at = hearthi_sparse((size_t)d.slots_max << hearthi_heap.shift);
    d.free = hearthi_sparse(d.slots_max * sizeof *d.free);
    d.sent = hearthi_sparse(d.slots_max * sizeof *d.sent);
}

/* Twins that belong to pages: no more than pages have frames. */
HEARTHI_FOR_ASSERT static uint64_t
used(void)
{
    return hearthi_twins.resident - hearthi_twins.spare;
}

#ifdef HEARTHI_DEBUG
/* Was it given back lately?  Not all are looked at, which may be many. */
static bool
is_spare_lately(uint32_t slot)
{
    enum { SOME = 64 };
    uint64_t n = hearthi_twins.spare;

    for (uint64_t i = n; i > 0 && i + SOME > n; i--)
        if (d.free[i - 1] == slot)
            return true;
    return false;
}

bool
hearthi_has_twin(uint64_t page)
{
    uint32_t slot = hearthi_table.twin[page];

    return slot < d.slots && !is_spare_lately(slot);
}
#endif

/* Twins of pages that are open: all that are used. */
HEARTHI_FOR_ASSERT static bool
are_counted(void)
{
    uint32_t n = 0;
    uint64_t end = hearthi_heap.pages;

    for (uint64_t p = 0; (p = hearthi_touched_next(p, end)) < end; p++)
        n += hearthi_table.state[p] == HEARTHI_DIRTY &&
             !hearthi_is_overwritten(p);
    return n == used();
}

void
hearthi_twins_close(void)
{
    HEARTHI_ASSERT(are_counted());
    hearthi_sparse_free(d.at, (size_t)d.slots_max << hearthi_heap.shift);
    hearthi_sparse_free(d.free, d.slots_max * sizeof *d.free);
    hearthi_sparse_free(d.sent, d.slots_max * sizeof *d.sent);
    memset(&d, 0, sizeof d);
    hearthi_twins = (struct hearthi_twins){ 0 };
}

static char *
slot_at(uint32_t slot)
{
    return d.at + ((size_t)slot << hearthi_heap.shift);
}

char *
hearthi_twin_at(uint64_t page)
{
    return slot_at(hearthi_table.twin[page]);
}

static uint32_t *
cold(void)
{
    return d.free + d.slots_max - d.cold;
}

/* One that has memory, if there is any. */
static uint32_t
slot_take(void)
{
    if (hearthi_twins.spare > 0)
        return d.free[--hearthi_twins.spare];
    hearthi_twins.resident++;
    if (hearthi_twins.most < hearthi_twins.resident)
        hearthi_twins.most = hearthi_twins.resident;
    if (d.cold == 0)
        return d.slots++;
    d.cold--;
    return cold()[-1];
}

void
hearthi_twin_make(uint64_t page)
{
    HEARTHI_ASSERT(hearthi_table.state[page] != HEARTHI_DIRTY);
    HEARTHI_ASSERT(hearthi_table.mark[page] & HEARTHI_RESIDENT);
    if (used() == d.slots_max)
        hearthi_fatal("page fault",
                      "no twin is left for a copy, with %u in use",
                      (unsigned)d.slots);
    hearthi_table.twin[page] = slot_take();
    d.recent[d.at_recent++ % HEARTHI_TWINS_RECENT] = page;
    HEARTHI_ASSERT(hearthi_has_twin(page));
    HEARTHI_ASSERT(used() <= hearthi_frames.given);
    memcpy(hearthi_twin_at(page), hearthi_cached(page), hearthi_heap.page);
}

void
hearthi_twin_free(uint64_t page)
{
    if (hearthi_table.twin[page] == HEARTHI_NO_TWIN)
        return;
    HEARTHI_ASSERT(hearthi_has_twin(page) && used() > 0);
    HEARTHI_ASSERT(hearthi_table.state[page] != HEARTHI_DIRTY ||
                   hearthi_frame_of(page) < hearthi_heap.pages);
    d.free[hearthi_twins.spare++] = hearthi_table.twin[page];
}

bool
hearthi_twin_is_recent(uint64_t page)
{
    for (int i = 0; i < HEARTHI_TWINS_RECENT; i++)
        if (d.recent[i] == page)
            return true;
    return false;
}

void
hearthi_twins_stuck(void)
{
    hearthi_twins.stuck = hearthi_frames.used + hearthi_twins.resident +
                          hearthi_twins_limit() / 64 + 1;
}

/* ---- memory that goes back ---- */

void
hearthi_twin_sent(uint64_t page)
{
    if (hearthi_transport->registers())
        d.sent[hearthi_table.twin[page]] = true;
}

/* No page has the slot: nobody reads what is there, and no card knows it. */
static void
slot_chill(uint32_t slot)
{
    madvise(slot_at(slot), hearthi_heap.page, MADV_DONTNEED);
    hearthi_twins.resident--;
    d.cold++;
    cold()[0] = slot;
}

void
hearthi_twins_shrink(void)
{
    hearthi_twins.stuck = 0;
    hearthi_twins_trim();
}

void
hearthi_twins_trim(void)
{
    const uint64_t limit = hearthi_twins_limit();

    for (uint64_t i = hearthi_twins.spare;
         i > 0 && hearthi_frames.used + hearthi_twins.resident > limit; i--) {
        uint32_t slot = d.free[i - 1];

        if (d.sent[slot])
            continue;
        d.free[i - 1] = d.free[--hearthi_twins.spare];
        slot_chill(slot);
    }
}
