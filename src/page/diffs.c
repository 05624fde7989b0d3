/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "diffs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "home_write_guard.h"
#include "node_cache.h"
#include "notice/diff.h"
#include "overwrite.h"
#include "page.h"
#include "pin_count.h"
#include "profile/profile.h"
#include "races/race_history.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "twins.h"
#include "world.h"

enum { LONGEST_DIFF = 1 << 20, BLOCK = 64 };

/* From so many runs of a page on a transport is given masks. */
enum { MANY = 8 };

static struct {
    struct hearthi_run *runs; /* of one diff */
    uint64_t           *masks;
    uint64_t            diffs;      /* made so far */
    uint64_t            home;       /* of these, those that have arrived */
    bool                queued;     /* some since the last wait */
    bool                one_by_one; /* HEARTH_DIFF_DEPTH */
} d;

static struct { /* a diff run that may still grow */
    int         home;
    size_t      offset, len;
    const char *src;
} tail;

void
hearthi_diffs_open(uint64_t pages)
{
    hearthi_twins_open(pages);
    d.runs = malloc((hearthi_heap.page / 2 + 1) * sizeof *d.runs);
    d.masks = malloc(hearthi_heap.page / BLOCK * sizeof *d.masks);
    if (d.runs == NULL || d.masks == NULL)
        hearthi_fatal("hearth_init", "no memory");
    d.one_by_one = hearthi_diffs_one_by_one();
}

#ifdef HEARTHI_DEBUG
bool
hearthi_diffs_have_arrived(void)
{
    return d.home == d.diffs && tail.len == 0 && !d.queued;
}
#endif

void
hearthi_diffs_close(void)
{
    HEARTHI_ASSERT(hearthi_diffs_have_arrived());
    hearthi_twins_close();
    free(d.runs);
    free(d.masks);
    memset(&d, 0, sizeof d);
}

static void
tail_send(void)
{
    if (tail.len > 0)
        hearthi_transport->data.diff(tail.home, tail.offset, tail.src,
                                     tail.len);
    tail.len = 0;
}

/* Runs that continue each other at both ends, across pages too, go as one. */
static void
tail_add(int home, size_t offset, const char *src, size_t len)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(!hearthi_home_is_near(home));
    HEARTHI_ASSERT(len > 0 && offset >= hearthi_segments.frames_at);
    HEARTHI_ASSERT(offset + len <= hearthi_segments.bytes);
    if (tail.len > 0 && tail.home == home &&
        tail.offset + tail.len == offset && tail.src + tail.len == src &&
        tail.len < LONGEST_DIFF) {
        tail.len += len;
        return;
    }
    tail_send();
    tail.home = home;
    tail.offset = offset;
    tail.src = src;
    tail.len = len;
}

/* A page's diff is queued: of these bytes, or of all (NULL). */
static void
diff_note(uint64_t page, const uint64_t *mask, size_t runs, size_t bytes)
{
    hearthi_table.mark[page] |= HEARTHI_CHANGED;
    hearthi_count(diffs, 1);
    hearthi_count(diff_runs, runs);
    hearthi_count(diff_bytes, bytes);
    hearthi_distribute(diff_bytes, bytes);
    if (hearthi_profile != NULL)
        hearthi_profile_diff(page, mask, bytes);
    d.diffs++;
    d.queued = true;
    if (d.one_by_one)
        hearthi_diff_end();
}

/* Of each word as it is now, read once.  The twin is this rank's alone. */
static void
twin_refresh(char *twin, const char *now)
{
    for (size_t i = 0; i < hearthi_heap.page / sizeof(uint64_t); i++) {
        uint8_t bytes = (uint8_t)(d.masks[i / 8] >> i % 8 * 8);
        size_t  at = i * sizeof(uint64_t);

        if (bytes == 0xff)
            memcpy(twin + at, now + at, sizeof(uint64_t));
        else
            for (; bytes != 0; bytes &= (uint8_t)(bytes - 1))
                twin[at + (size_t)__builtin_ctz(bytes)] =
                    now[at + (size_t)__builtin_ctz(bytes)];
    }
}

static void
runs_add(int home, size_t at, const char *src)
{
    size_t n = hearthi_mask_runs(d.masks, hearthi_heap.page / BLOCK, d.runs);

    HEARTHI_ASSERT(n > 0 && n <= hearthi_heap.page / 2 + 1);
    for (size_t i = 0; i < n; i++)
        tail_add(home, at + d.runs[i].off, src + d.runs[i].off, d.runs[i].len);
}

/* Send what the masks say.  The tail may be of the same home, and bytes go in
 * any order within a flush.  Where they say halves of words, no patch is to
 * bring in halves what are whole words beside them. */
static void
masks_send(uint64_t page, const char *src, size_t runs, bool words)
{
    const struct hearthi_page_place *r = hearthi_page_place_of(page);
    int                              home = (int)r->home;
    size_t                           at =
        hearthi_frame_at(r->frame + (page - r->page), hearthi_heap.shift);

    if (runs < MANY || !words || hearthi_transport->data.patch == NULL ||
        !hearthi_transport->data.patch(home, at, src, d.masks,
                                       hearthi_heap.page / BLOCK, runs))
        runs_add(home, at, src);
}

/* All of a page that has no twin; those that follow each other go as one. */
static bool
whole_begin(uint64_t page)
{
    size_t at = hearthi_home_at(page);

    tail_add(hearthi_home_of(page), at, hearthi_cached(page),
             hearthi_heap.page);
    diff_note(page, NULL, 1, hearthi_heap.page);
    return true;
}

static struct hearthi_changed
masks_count(void)
{
    size_t                 blocks = hearthi_heap.page / BLOCK;
    struct hearthi_changed c = { .runs = hearthi_mask_runs(d.masks, blocks,
                                                           d.runs) };

    for (size_t i = 0; i < blocks; i++)
        c.bytes += hearthi_bits(d.masks[i]);
    return c;
}

/* Where races are looked for each byte counts by itself. */
static unsigned
unit_of(uint64_t page)
{
    return hearthi_races != NULL ? 1 : hearthi_page_place_of(page)->in->unit;
}

static bool
changed_begin(uint64_t page, bool refresh)
{
    char *now = hearthi_cached(page), *twin = hearthi_twin_at(page);
    struct hearthi_changed c = hearthi_diff_masks(
        now, twin, hearthi_heap.page, unit_of(page), d.masks);

    HEARTHI_ASSERT(hearthi_has_twin(page));
    bool exact =
        c.runs > 0 && hearthi_home_write_guard_exact(page, now, twin, d.masks);

    if (exact)
        c = masks_count();
    if (c.runs == 0)
        return false;
    HEARTHI_ASSERT(c.bytes >= c.runs && c.bytes <= hearthi_heap.page);
    if (refresh) {
        hearthi_twin_sent(page);
        twin_refresh(twin, now);
    }
    if (hearthi_races != NULL)
        hearthi_races_stored(page, d.masks, refresh ? twin : now);
    masks_send(page, refresh ? twin : now, c.runs, !exact);
    diff_note(page, d.masks, c.runs, c.bytes);
    return true;
}

bool
hearthi_diff_begin(uint64_t page, bool refresh)
{
    HEARTHI_ASSERT(hearthi_table.mark[page] & HEARTHI_LISTED);
    HEARTHI_ASSERT(refresh == (hearthi_table.state[page] == HEARTHI_DIRTY));
    return hearthi_table.twin[page] == HEARTHI_NO_TWIN
               ? whole_begin(page)
               : changed_begin(page, refresh);
}

void
hearthi_diff_bytes(uint64_t page, size_t off, const char *src, size_t len)
{
    size_t at = hearthi_home_at(page);

    HEARTHI_ASSERT(off + len <= hearthi_heap.page);
    HEARTHI_ASSERT(hearthi_state_of(page) == HEARTHI_INVALID);
    tail_add(hearthi_home_of(page), at + off, src, len);
    diff_note(page, NULL, 1, len);
}

/* Exact to the byte whatever the unit of the page's diffs: a longer unit would
 * write bytes that no other rank has written. */
void
hearthi_twin_merge(uint64_t page, const char *version)
{
    char  *now = hearthi_cached(page), *twin = hearthi_twin_at(page);
    size_t n = hearthi_diff(version, twin, hearthi_heap.page, 1, d.runs);

    HEARTHI_ASSERT(hearthi_table.state[page] == HEARTHI_DIRTY);
    HEARTHI_ASSERT(hearthi_is_pinned(page) && hearthi_has_twin(page));
    if (hearthi_races != NULL &&
        hearthi_diff_masks(now, twin, hearthi_heap.page, 1, d.masks).runs > 0)
        hearthi_races_stored(page, d.masks, now);
    for (size_t i = 0; i < n; i++) {
        uint32_t off = d.runs[i].off, len = d.runs[i].len;

        memcpy(now + off, version + off, len);
        memcpy(twin + off, version + off, len);
    }
}

uint64_t
hearthi_diffs_made(void)
{
    return d.diffs;
}

void
hearthi_diff_end(void)
{
    HEARTHI_ASSERT_HAS(TABLE);
    tail_send();
    hearthi_transport->data.flush();
    hearthi_count(diff_waits, d.queued);
    d.queued = false;
    if (d.home != d.diffs)
        hearthi_node_cache_acquired();
    d.home = d.diffs;
}
