/* SPDX-License-Identifier: BSD-2-Clause
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
 * others, which waits for it or fetches once more.
 */
#include "config.h"

#include "write_through.h"

#include <stdint.h>
#include <string.h>

#include "api.h"
#include "api/api_pin.h"
#include "base/cancel.h"
#include "base/min.h"
#include "base/report.h"
#include "base/timing.h"
#include "home/home.h"
#include "page/copies.h"
#include "page/diffs.h"
#include "page/page.h"

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

/* Nothing is held of what is received aside. */
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
