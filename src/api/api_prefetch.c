/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What will be read: pages that are asked for in advance, and ranges of which
 * it is said how they are used.
 */
#include "config.h"

#include <stdlib.h>

#include "api.h"
#include "api_pin.h"
#include "base/cancel.h"
#include "base/option.h"
#include "base/report.h"
#include "base/timing.h"
#include "hearth/hearth.h"
#include "page/fetch.h"
#include "page/page.h"
#include "page/read_mostly.h"
#include "profile/profile.h"
#include "space/heap.h"
#include "world.h"

static struct hearthi_pages
run_of(const char *call, const void *p, size_t bytes)
{
    const char *last = (const char *)p + bytes - 1;

    if (!hearthi_in_heap(p) || !hearthi_in_heap(last) ||
        last < (const char *)p)
        hearthi_fatal(call, "%zu bytes at %p are not in the heap", bytes, p);
    return (struct hearthi_pages){
        hearthi_page_of(p), hearthi_page_of(last) - hearthi_page_of(p) + 1
    };
}

/* Programs ask ahead of each element, and most lie on the page of the one
 * before.  What is looked at without the lock may be old: it is a hint. */
static bool
is_on_a_page_here(const void *p, size_t bytes)
{
    uint64_t page;

    if (bytes == 0 || !hearthi_in_heap(p))
        return bytes == 0;
    page = hearthi_page_of(p);
    return hearthi_page_of((const char *)p + bytes - 1) == page &&
           __atomic_load_n(&hearthi_table.state[page], __ATOMIC_RELAXED) >
               HEARTHI_PREFETCHED;
}

static uint64_t
pages_brought(void)
{
    const hearth_stats *s = &hearthi_tally.counter;

    return s->getpages + s->matepages;
}

static void
range_prefetch(const void *p, size_t bytes, const void *from)
{
    HEARTHI_UNCANCELLED;
    struct hearthi_pages r = run_of("hearth_prefetch", p, bytes);
    uint64_t             start, ns, before = pages_brought();

    if (hearthi_opt.fetch_ahead == 0)
        return;
    start = hearthi_time_begin();
    hearthi_table_lock();
    hearthi_fetch_range(r.page, r.count, false);
    if (r.count == 1)
        hearthi_state_note(r.page); /* the next one needs no lock */
    hearthi_table_unlock();
    ns = hearthi_time_end(fault_ns, start) - start;
    if (hearthi_profile != NULL && pages_brought() > before)
        hearthi_profile_prefetched(from, pages_brought() - before, ns);
}

void
hearth_prefetch(const void *p, size_t bytes)
{
    hearthi_require_thread("hearth_prefetch");
    if (!is_on_a_page_here(p, bytes))
        range_prefetch(p, bytes, __builtin_return_address(0));
}

/* ---- many places ---- */

static int
run_compare(const void *a, const void *b)
{
    const struct hearthi_pages *x = a, *y = b;

    return x->page < y->page ? -1 : x->page > y->page;
}

/* Sorted, and those that overlap or adjoin as one: gives how many are left.
 * Most callers have them sorted. */
static size_t
runs_join(struct hearthi_pages *run, size_t n)
{
    size_t k = 0;

    for (size_t i = 1; i < n; i++)
        if (run[i].page < run[i - 1].page) {
            qsort(run, n, sizeof *run, run_compare);
            break;
        }
    for (size_t i = 1; i < n; i++) {
        uint64_t end = run[k].page + run[k].count;
        uint64_t new_end = run[i].page + run[i].count;

        if (run[i].page > end)
            run[++k] = run[i];
        else if (new_end > end)
            run[k].count = new_end - run[k].page;
    }
    return k + 1;
}

void
hearth_prefetchv(const void *const *places, const size_t *bytes, size_t n)
{
    HEARTHI_UNCANCELLED;
    const char           *call = "hearth_prefetchv";
    struct hearthi_pages *run;
    uint64_t              start;
    size_t                k = 0;

    hearthi_require_thread(call);
    start = hearthi_time_begin();
    run = calloc(n + 1, sizeof *run);
    if (run == NULL)
        hearthi_fatal(call, "no memory for %zu places", n);
    for (size_t i = 0; i < n; i++)
        if (bytes[i] > 0)
            run[k++] = run_of(call, places[i], bytes[i]);
    if (k > 0 && hearthi_opt.fetch_ahead != 0) {
        k = runs_join(run, k);
        hearthi_table_lock();
        hearthi_fetch_ranges(run, k);
        hearthi_table_unlock();
    }
    free(run);
    hearthi_time_end(fault_ns, start);
}

/* ---- how a range is used ---- */

void
hearth_read_mostly(void *p, size_t bytes)
{
    HEARTHI_UNCANCELLED;
    const char          *call = "hearth_read_mostly";
    struct hearthi_pages r;

    hearthi_require_thread(call);
    if (bytes == 0)
        return;
    hearthi_table_lock();
    r = hearthi_pages_of(call, p, bytes);
    if (hearthi_world.nodes > 1)
        hearthi_read_mostly_add(r.page, r.count);
    hearthi_table_unlock();
}
