/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "api.h"
#include "base/cancel.h"
#include "base/timing.h"
#include "coherence/order.h"
#include "hearth/hearth.h"
#include "hold.h"
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
    hearthi_time_end(lock_ns, start);
}

void
hearth_release(const void *p, size_t bytes)
{
    order("hearth_release", p, bytes, hearthi_order_release,
          hearthi_order_release_all);
}

void
hearth_acquire(const void *p, size_t bytes)
{
    order("hearth_acquire", p, bytes, hearthi_order_acquire,
          hearthi_order_acquire_all);
}
