/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The end of an interval: what was written is closed, and what ends is
 * counted.
 */
#include "config.h"

#include "base/clock.h"
#include "base/mutex.h"
#include "base/stat.h"
#include "coherence.h"
#include "page/copies.h"
#include "page/diffs.h"
#include "page/evict.h"
#include "page/hull.h"
#include "page/overwrite.h"
#include "page/page.h"
#include "page/pin_count.h"
#include "page/twins.h"
#include "page/written_row.h"
#include "policy/sticky_home.h"
#include "profile/profile.h"
#include "space/segment.h"
#include "world.h"

#include <stdatomic.h>

/* When the interval began, and the diffs that had been made at the end of the
 * one before.  Threads that synchronise at the same time have one interval
 * between them.  Relaxed: coherence.h says why. */
_Atomic uint64_t hearthi_interval_began;
static uint64_t  diffs_before;

void
hearthi_interval_open(void)
{
    hearthi_interval_begin(hearthi_now(), false);
    diffs_before = 0;
}

/* ---- closing what was written ---- */

/* Which of a page's ways to end applies.  A page that is pinned for writing
 * may be written by a device that no protection stops, now and later: it stays
 * open and listed.  Of a copy the twin tells what was written until now
 * (KEEP); a home page counts as written each time (DONE). */
enum ending { CLOSE, STAY, KEEP, ARM, DONE };

/* Where a home page's frame is in the system view of this rank. */
static const char *
home_bytes(uint64_t page)
{
    int rank = hearthi_world.node_rank_of[hearthi_home_of(page)];

    return hearthi_segments.base[rank] + hearthi_home_at(page);
}

static enum ending
ending_of(uint64_t page, enum hearthi_end how)
{
    unsigned state = hearthi_state_of(page);
    bool     held = hearthi_is_pinned_open(page);

    if (state == HEARTHI_HOME_DIRTY)
        return held || (how == HEARTHI_END_LOCK &&
                        hearthi_sticky_home_stays(page, home_bytes))
                   ? DONE
                   : ARM;
    if (state != HEARTHI_DIRTY)
        return DONE;
    if (held)
        return KEEP;
    if (hearthi_is_overwritten(page))
        return CLOSE;
    return how == HEARTHI_END_BARRIER && hearthi_was_written(page) ? STAY
                                                                   : CLOSE;
}

static void
run_end(uint64_t page, uint64_t count, enum ending e)
{
    if (e == ARM)
        hearthi_pages_set(page, count, HEARTHI_HOME_ARMED);
    if (e == CLOSE)
        hearthi_copies_shut(page, count);
    if (e != STAY && e != KEEP)
        return;
    for (uint64_t p = page; p < page + count; p++)
        if (!hearthi_copies_refresh(p) && e == STAY)
            hearthi_copies_shut(p, 1); /* not written this time */
}

/* What ends in one way, and where it begins. */
struct row {
    uint64_t         first;
    enum ending      e;
    enum hearthi_end how;
};

/* Home pages that are armed may lie between those that will be, and nothing
 * else: one that no other node has must stay writable, as must one that stays
 * open, and one whose mapping is gone has none to protect.  Clean copies may
 * lie between those that will be (copies.c). */
static bool
lies_between(uint64_t page, const struct row *r)
{
    if (r->e == ARM)
        return hearthi_table.state[page] == HEARTHI_HOME_ARMED;
    return r->e == CLOSE && hearthi_copies_may_cover(page, r->first);
}

static enum hearthi_in_hull
in_row(uint64_t page, const void *arg)
{
    const struct row *r = arg;

    if ((hearthi_table.mark[page] & HEARTHI_LISTED) &&
        ending_of(page, r->how) == r->e)
        return HEARTHI_HULL_OF;
    return lies_between(page, r) ? HEARTHI_HULL_OVER : HEARTHI_HULL_END;
}

/* Of a copy that is open after an interval: was it to stay so? */
HEARTHI_FOR_ASSERT static bool
may_stay(uint64_t page)
{
    return !hearthi_is_overwritten(page) &&
           (hearthi_is_pinned_open(page) ||
            (hearthi_table.mark[page] & HEARTHI_CHANGED));
}

/* Was the page written, as far as is known?  Then it will be again. */
static bool
mark_end(uint64_t page)
{
    uint8_t *mark = &hearthi_table.mark[page];
    bool     home = hearthi_is_home(hearthi_state_of(page));
    bool     wrote = home || (*mark & HEARTHI_CHANGED);

    HEARTHI_ASSERT(*mark & HEARTHI_LISTED);
    HEARTHI_ASSERT(home || hearthi_table.state[page] != HEARTHI_DIRTY ||
                   may_stay(page));
    *mark &= (uint8_t) ~(HEARTHI_LISTED | HEARTHI_CHANGED);
    hearthi_written_row_end(page, wrote && !home);
    return wrote;
}

/* Does it belong to the next interval too?  Home pages are open still where
 * they are pinned. */
static bool
stays_open(uint64_t page)
{
    unsigned state = hearthi_state_of(page);

    return state == HEARTHI_DIRTY || state == HEARTHI_HOME_DIRTY;
}

/* True if anything was written. */
static bool
marks_end(hearthi_publish *publish)
{
    size_t   n = hearthi_written.n;
    bool     any = false;
    uint64_t first = 0, count = 0;

    HEARTHI_ASSERT(hearthi_diffs_have_arrived());
    hearthi_pagelist_count(&hearthi_written, 0);
    for (size_t i = 0; i < n; i++) {
        uint64_t page = hearthi_written.page[i];

        if (mark_end(page)) {
            if (hearthi_profile != NULL &&
                hearthi_is_home(hearthi_state_of(page)))
                hearthi_profile_own(page);
            any = true;
            if (count > 0 && first + count != page) {
                publish(first, count);
                count = 0;
            }
            if (count == 0)
                first = page;
            count++;
        }
        if (stays_open(page))
            hearthi_list(page);
    }
    if (count > 0)
        publish(first, count);
    return any;
}

/* ---- the interval ---- */

static void
interval_count(uint64_t end)
{
    uint64_t from =
        atomic_load_explicit(&hearthi_interval_began, memory_order_relaxed);
    uint64_t diffs = hearthi_diffs_made();

    HEARTHI_ASSERT(diffs >= diffs_before);
    hearthi_count(intervals, 1);
    hearthi_distribute(interval_us, end > from ? (end - from) / 1000 : 0);
    hearthi_distribute(burst, diffs - diffs_before);
    diffs_before = diffs;
    hearthi_interval_begin(end, false);
}

void
hearthi_interval_end(hearthi_publish *publish, enum hearthi_end how)
{
    const hearthi_page *page = hearthi_written.page;
    uint64_t            end;
    size_t              n;

    HEARTHI_ASSERT_HAS(TABLE);
    hearthi_overwrite_end();
    hearthi_sticky_home_begin();
    hearthi_sharer_flags_scan();
    n = hearthi_written.n;
    if (n == 0)
        return;
    end = hearthi_now();
    hearthi_pagelist_sort(&hearthi_written);
    for (size_t i = 0; i < n;) {
        struct row r = { .first = page[i], .how = how };
        uint64_t   count;

        hearthi_copies_reserve(0); /* may give up pages of this list too */
        HEARTHI_ASSERT(i == 0 || page[i - 1] < page[i]);
        r.e = ending_of(r.first, how);
        count = hearthi_hull(r.first, hearthi_table.top, in_row, &r);
        run_end(r.first, count, r.e);
        while (i < n && page[i] < r.first + count)
            i++;
    }
    HEARTHI_ASSERT(hearthi_written.n == n);
    hearthi_diff_end();
    hearthi_twins_shrink();
    if (marks_end(publish))
        interval_count(end);
    hearthi_count(diff_ns, hearthi_now() - end);
}
