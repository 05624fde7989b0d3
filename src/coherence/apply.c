/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What notices do to this rank's copies.
 */
#include "config.h"

#include "coherence.h"

#include "base/stat.h"
#include "page/copies.h"
#include "page/overwrite.h"
#include "page/page.h"
#include "page/pin.h"
#include "page/reuse_prefetch.h"
#include "page/sharer_notify.h"
#include "space/segment.h"
#include "world.h"

/* A first copy may have been fetched before its shared flag could be seen. The
 * flags have arrived by now, since each fetch waited for its own, and their
 * homes are to be told (sharer_flags.c). */
static void
provisional_drop(void)
{
    struct hearthi_pagelist *l = &hearthi_provisional;

    for (size_t i = 0, n; i < l->n; i += n) {
        n = hearthi_pages_in_row(l->page, l->n, i);
        for (size_t k = i; k < i + n; k++) {
            hearthi_table.mark[l->page[k]] &= (uint8_t)~HEARTHI_PROVISIONAL;
            hearthi_sharer_notify_later(hearthi_home_of(l->page[k]));
        }
        hearthi_count(provisional, hearthi_copies_drop(l->page[i], n));
    }
    l->n = 0;
}

static void
notices_drop(const struct hearthi_notice *notice, size_t n, bool invalidate_all)
{
    for (size_t i = 0; i < n && !invalidate_all; i++)
        invalidate_all = notice[i].count == HEARTHI_INVALIDATE_ALL &&
                     notice[i].writer != (uint32_t)hearthi_world.rank;
    if (invalidate_all) {
        hearthi_count(everything, 1);
        hearthi_count(invalidations, hearthi_copies_drop_all());
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t page = notice[i].page, count = notice[i].count;

        /* A writer that was alone keeps its own copy.  Which other rank it
         * was is all one, so transports join what those wrote (coalesce.c). */
        if (notice[i].writer == (uint32_t)hearthi_world.rank ||
            page >= hearthi_table.top)
            continue;
        if (count > hearthi_table.top - page)
            count = hearthi_table.top - page;
        hearthi_count(invalidations, hearthi_copies_drop(page, count));
    }
    hearthi_count(notices_in, n);
}

/* Copies that are held could not be dropped: they are new when the acquire
 * ends, all of them together, after every home was told of first copies. */
void
hearthi_notices_apply(const struct hearthi_notice *notice, size_t n,
                      bool invalidate_all)
{
    hearthi_overwrite_end();
    provisional_drop();
    hearthi_reuse_prefetch_begin(); /* that first copies go says nothing of use
                                     */
    notices_drop(notice, n, invalidate_all);
    hearthi_pins_renew();
}
