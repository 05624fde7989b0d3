/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "api_pin.h"

#include "api.h"
#include "base/cancel.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "hearth/hearth.h"
#include "home/home.h"
#include "page/evict.h"
#include "page/frames.h"
#include "page/migration_freeze.h"
#include "page/page.h"
#include "page/page_in_flight.h"
#include "page/pin.h"
#include "page/pin_count.h"

static void
how_check(const char *call, int how)
{
    if (how == 0 || (how & ~(HEARTH_READ | HEARTH_WRITE)) != 0)
        hearthi_fatal(call,
                      "%d is no way to hold a range: use HEARTH_READ, "
                      "HEARTH_WRITE or both",
                      how);
}

struct hearthi_pages
hearthi_pages_of(const char *call, const void *p, size_t bytes)
{
    const struct hearthi_allocation *a =
        hearthi_in_heap(p) ? hearthi_home_around(p) : NULL;
    size_t               at;
    struct hearthi_pages r = { 0 };

    if (a == NULL)
        hearthi_fatal(call,
                      "%p is in no allocation: give an address that "
                      "hearth_alloc returned, or one behind it",
                      p);
    at = (size_t)((const char *)p - hearthi_app(a->page));
    if (at > a->bytes || bytes > a->bytes - at)
        hearthi_fatal(call,
                      "%zu bytes at %p reach beyond the allocation of %zu "
                      "bytes at %p: give a range within it",
                      bytes, p, a->bytes, (void *)hearthi_app(a->page));
    r.page = hearthi_page_of(p);
    r.count = hearthi_page_of((const char *)p + bytes - 1) - r.page + 1;
    return r;
}

size_t
hearthi_bytes_behind(const void *p)
{
    const struct hearthi_allocation *a = hearthi_home_around(p);
    size_t                           at;

    if (a == NULL)
        return 0;
    at = (size_t)((const char *)p - hearthi_app(a->page));
    return at < a->bytes ? a->bytes - at : 0;
}

static unsigned long long
kib(uint64_t pages)
{
    return (unsigned long long)(pages << hearthi_heap.shift >> 10);
}

/* The rest of the cache must serve all that the program touches meanwhile. */
static void
room_check(const char *call, const void *p, size_t bytes,
           struct hearthi_pages r)
{
    if (hearthi_pin_count.copies + r.count <= hearthi_pins_most() ||
        hearthi_pin_count_new(r.page, r.count) <=
            hearthi_pins_most() - hearthi_pin_count.copies)
        return;
    hearthi_fatal(call,
                  "%zu bytes at %p cannot be held: with %llu KiB of copies "
                  "held already too little were left of the cache of %llu "
                  "KiB: raise HEARTH_CACHE, or hold less at a time",
                  bytes, p, kib(hearthi_pin_count.copies),
                  kib(hearthi_frames_bound()));
}

/* What is held cannot be given up, so a fault might find no mapping left, for
 * ever, where an instruction needs two pages. */
static void
pieces_check(const char *call, const void *p, size_t bytes)
{
    hearthi_copies_reserve(0);
    if (hearthi_areas_short())
        hearthi_fatal(call,
                      "%zu bytes at %p cannot be held: the %llu pages that "
                      "are held lie in so many pieces that the kernel's "
                      "mappings run out: hold fewer and longer ranges at a "
                      "time, or raise vm.max_map_count",
                      bytes, p, (unsigned long long)hearthi_pin_count.pages);
}

void
hearthi_pin(const char *call, const void *p, size_t bytes, int how)
{
    HEARTHI_UNCANCELLED;
    uint64_t             start;
    struct hearthi_pages r;

    hearthi_require_thread(call);
    how_check(call, how);
    if (bytes == 0)
        return;
    start = hearthi_time_begin();
    hearthi_table_lock();
    r = hearthi_pages_of(call, p, bytes);
    room_check(call, p, bytes, r);
    do
        hearthi_in_flight_make_room(r.page, r.count);
    while (hearthi_frozen_wait(r.page, r.count));
    room_check(call, p, bytes, r); /* others may have held meanwhile */
    hearthi_pages_pin(r.page, r.count, how);
    pieces_check(call, p, bytes);
    hearthi_table_unlock();
    hearthi_count(holds, 1);
    hearthi_time_end(fault_ns, start);
}

void
hearthi_unpin(const void *p, size_t bytes, int how)
{
    HEARTHI_UNCANCELLED;
    const char          *call = "hearth_drop";
    struct hearthi_pages r;

    hearthi_require_up(call); /* by any thread: it moves nothing */
    how_check(call, how);
    if (bytes == 0)
        return;
    hearthi_table_lock();
    r = hearthi_pages_of(call, p, bytes);
    if (!hearthi_pin_count_sub(r.page, r.count, how))
        hearthi_fatal(call,
                      "%zu bytes at %p are not held so: drop each range once, "
                      "as it was held",
                      bytes, p);
    hearthi_table_unlock();
}

void
hearth_hold(const void *p, size_t bytes, int how)
{
    hearthi_pin("hearth_hold", p, bytes, how);
}

void
hearth_drop(const void *p, size_t bytes, int how)
{
    hearthi_unpin(p, bytes, how);
}
