/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "api.h"
#include "api_pin.h"
#include "base/cancel.h"
#include "base/timing.h"
#include "coherence/range_sync.h"
#include "hearth/hearth.h"
#include "malloc/malloc.h"
#include "page/overwrite.h"
#include "page/page.h"

/* Do one of two things, for a range or for everything. */
static void
order(const char *call, const void *p, size_t bytes,
      void (*range)(uint64_t, uint64_t), void (*all)(void))
{
    HEARTHI_UNCANCELLED;
    uint64_t             start = hearthi_time_begin();
    struct hearthi_pages r;

    hearthi_require_thread(call);
    if (p == NULL && bytes == 0) {
        all();
    } else if (bytes > 0) {
        hearthi_table_lock();
        r = hearthi_pages_of(call, p, bytes);
        hearthi_table_unlock();
        range(r.page, r.count);
    }
    hearthi_malloc_heed();
    hearthi_time_end(lock_ns, start);
}

void
hearth_release(const void *p, size_t bytes)
{
    order("hearth_release", p, bytes, hearthi_range_sync_release,
          hearthi_range_sync_release_all);
}

/* Whole pages; nobody has what lies behind the end of an allocation. */
static void
overwrite_add(const char *call, const char *p, size_t bytes)
{
    struct hearthi_pages r = hearthi_pages_of(call, p, bytes);
    uint64_t             end = hearthi_page_of(p + bytes);

    if (hearthi_app(r.page) != p)
        r.page++;
    if (hearthi_bytes_behind(p) == bytes)
        end = hearthi_page_of(p + bytes - 1) + 1;
    if (r.page < end)
        hearthi_overwrite_add(r.page, end - r.page);
}

void
hearth_overwrite(void *p, size_t bytes)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_overwrite";

    hearthi_require_thread(call);
    if (bytes == 0)
        return;
    hearthi_table_lock();
    overwrite_add(call, p, bytes);
    hearthi_table_unlock();
}

void
hearth_acquire(const void *p, size_t bytes)
{
    order("hearth_acquire", p, bytes, hearthi_range_sync_acquire,
          hearthi_range_sync_acquire_all);
}
