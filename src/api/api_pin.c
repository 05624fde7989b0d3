/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "api_pin.h"

#include <stdint.h>
#include <string.h>

#include "api.h"
#include "api/api_pin.h"
#include "base/assert.h"
#include "base/cancel.h"
#include "base/min.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "hearth/hearth.h"
#include "home/home.h"
#include "page/copies.h"
#include "page/diffs.h"
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
    HEARTHI_ASSERT(r.page + r.count <= a->page + a->pages);
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
                  kib(hearthi_frames.bound));
}

/* What is pinned cannot be given up, so a fault might find no mapping left,
 * for ever, where an instruction needs two pages. */
static void
pieces_check(const char *call, const void *p, size_t bytes)
{
    if (!hearthi_areas_suffice())
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
    room_check(call, p, bytes, r); /* others may have pinned meanwhile */
    HEARTHI_ASSERT(!hearthi_is_frozen(r.page));
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

/* ---- write through ----
 *
 * A diff may go home at any time before the release that tells of it (HLRC:
 * Zhou, Iftode, Li, OSDI 1996), and it may come from anywhere: what is changed
 * there are the bytes that this rank has the right to change, no others.  So
 * an absent page is written without a copy of it.
 *
 * The table lock is held from the look at a page's state until the diff has
 * arrived: a fetch of another thread's that began in between would bring the
 * page without these bytes, and leave a copy of it that looks valid.  One that
 * has begun before ends in a copy, or in none: the bytes are stored as any
 * others, which waits for it or fetches once more. */

enum { AT_ONCE = 1 << 20 }; /* bytes that go while others wait for the table */

/* Those that the range covers whole; none, if one is at home here. */
static uint64_t
absent_of(struct hearthi_pages r, const char *p, size_t bytes)
{
    uint64_t absent = 0;

    for (uint64_t i = 0; i < r.count; i++) {
        const char        *page = hearthi_app(r.page + i);
        enum hearthi_state state = hearthi_state_of(r.page + i);

        if (hearthi_is_home(state))
            return 0;
        absent += state == HEARTHI_INVALID && page >= p &&
                  page + hearthi_heap.page <= p + bytes;
    }
    return absent;
}

uint64_t
hearthi_mostly_absent(const char *call, const void *p, size_t bytes)
{
    struct hearthi_pages r = { 0 };
    uint64_t             number = 0;

    hearthi_table_lock();
    if (hearthi_bytes_behind(p) >= bytes)
        r = hearthi_pages_of(call, p, bytes);
    if (absent_of(r, p, bytes) > r.count / 2)
        number = hearthi_home_around(p)->number;
    hearthi_table_unlock();
    return number;
}

/* Nothing is pinned of what is received aside. */
static void
freed_check(const char *call, uint64_t allocation, const void *p)
{
    const struct hearthi_allocation *a = hearthi_home_around(p);

    if (a == NULL || a->number != allocation)
        hearthi_fatal(call,
                      "the allocation around %p was freed while a message was "
                      "received into it: complete the call first",
                      p);
}

/* The bytes of a range up to the end of its first page. */
static size_t
in_page(const char *p, size_t bytes)
{
    size_t at = (size_t)(p - hearthi_heap.base) % hearthi_heap.page;

    return hearthi_min(bytes, hearthi_heap.page - at);
}

/* With the lock in hand.  Returns how many bytes lie in absent pages at the
 * beginning of the range, and have arrived. */
static size_t
absent_write(const char *p, const char *src, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        uint64_t page = hearthi_page_of(p + done);
        size_t   len = in_page(p + done, bytes - done);

        if (hearthi_state_of(page) != HEARTHI_INVALID)
            break;
        hearthi_list(page);
        hearthi_diff_bytes(page, (size_t)(p + done - hearthi_app(page)),
                           src + done, len);
        done += len;
    }
    if (done > 0)
        hearthi_diff_end();
    return done;
}

void
hearthi_write_through(const char *call, uint64_t allocation, char *p,
                      const char *src, size_t bytes)
{
    HEARTHI_UNCANCELLED;

    hearthi_require_thread(call);
    while (bytes > 0) {
        uint64_t start = hearthi_time_begin();
        size_t   done;

        hearthi_table_lock();
        freed_check(call, allocation, p);
        done = absent_write(p, src, hearthi_min(bytes, AT_ONCE));
        hearthi_table_unlock();
        hearthi_time_end(fault_ns, start);
        if (done == 0) {
            done = in_page(p, bytes);
            memcpy(p, src, done);
        }
        p += done;
        src += done;
        bytes -= done;
    }
}
