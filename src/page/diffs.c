/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "diffs.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "base/stat.h"
#include "notice/diff.h"
#include "page.h"
#include "space/segment.h"
#include "transport/transport.h"

enum { LONGEST_DIFF = 1 << 20 };

static struct {
    char               *twins;
    uint32_t           *spare; /* free twin slots, a stack */
    uint32_t            nspare, slots, slots_max;
    struct hearthi_run *runs;  /* of one diff */
    uint64_t            diffs; /* made so far */
} d;

static struct { /* a diff run that may still grow */
    int         home;
    size_t      offset, len;
    const char *src;
} tail;

void
hearthi_diffs_open(uint64_t pages)
{
    d.slots_max = (uint32_t)pages;
    d.twins = hearthi_sparse((size_t)d.slots_max << hearthi_heap.shift);
    d.spare = hearthi_sparse(d.slots_max * sizeof *d.spare);
    d.runs = malloc((hearthi_heap.page / 2 + 1) * sizeof *d.runs);
    if (d.runs == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_diffs_close(void)
{
    hearthi_sparse_free(d.twins, (size_t)d.slots_max << hearthi_heap.shift);
    hearthi_sparse_free(d.spare, d.slots_max * sizeof *d.spare);
    free(d.runs);
    memset(&d, 0, sizeof d);
}

static char *
twin_at(uint64_t page)
{
    return d.twins + ((size_t)hearthi_table.twin[page] << hearthi_heap.shift);
}

void
hearthi_twin_make(uint64_t page)
{
    if (d.nspare == 0 && d.slots == d.slots_max)
        hearthi_fatal("page fault",
                      "no twin is left for a copy, with %u in use",
                      (unsigned)d.slots);
    hearthi_table.twin[page] = d.nspare > 0 ? d.spare[--d.nspare] : d.slots++;
    memcpy(twin_at(page), hearthi_cached(page), hearthi_heap.page);
}

void
hearthi_twin_free(uint64_t page)
{
    d.spare[d.nspare++] = hearthi_table.twin[page];
}

static void
tail_send(void)
{
    if (tail.len > 0)
        hearthi_transport->diff(tail.home, tail.offset, tail.src, tail.len);
    tail.len = 0;
}

/* Runs that continue each other at both ends, across pages too, go as one. */
static void
tail_add(int home, size_t offset, const char *src, size_t len)
{
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

static void
diff_note(uint64_t page, size_t runs, size_t bytes)
{
    hearthi_table.mark[page] |= HEARTHI_CHANGED;
    hearthi_count(diffs, 1);
    hearthi_count(diff_runs, runs);
    hearthi_count(diff_bytes, bytes);
    hearthi_distribute(diff_bytes, bytes);
    d.diffs++;
}

bool
hearthi_diff_begin(uint64_t page, bool refresh)
{
    const struct hearthi_place *r = hearthi_place_of(page);
    char                     *now = hearthi_cached(page);
    char                     *twin = twin_at(page);
    int                       home = (int)r->home;
    size_t                    at =
        hearthi_frame_at(r->frame + (page - r->page), hearthi_heap.shift);
    size_t n = hearthi_diff(now, twin, hearthi_heap.page, r->in->unit, d.runs);
    size_t bytes = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t off = d.runs[i].off, len = d.runs[i].len;

        if (refresh)
            memcpy(twin + off, now + off, len);
        tail_add(home, at + off, (refresh ? twin : now) + off, len);
        bytes += len;
    }
    if (n == 0)
        return false;
    diff_note(page, n, bytes);
    return true;
}

void
hearthi_diff_bytes(uint64_t page, size_t off, const char *src, size_t len)
{
    size_t at =
        hearthi_frame_at(hearthi_home_frame_of(page), hearthi_heap.shift);

    tail_add(hearthi_home_of(page), at + off, src, len);
    diff_note(page, 1, len);
}

/* Exact to the byte whatever the unit of the page's diffs: a longer unit would
 * write bytes that nobody else has written. */
void
hearthi_twin_merge(uint64_t page, const char *version)
{
    char  *now = hearthi_cached(page), *twin = twin_at(page);
    size_t n = hearthi_diff(version, twin, hearthi_heap.page, 1, d.runs);

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
    tail_send();
    hearthi_transport->flush();
}
