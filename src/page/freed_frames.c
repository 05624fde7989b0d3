/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "freed_frames.h"

#include <sys/mman.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "fork_child.h"
#include "page.h"
#include "transport/transport.h"

enum { RUNS = 64 };

uint64_t hearthi_freed_frames_wait = 1000000000;
size_t   hearthi_freed_frames;

/* The oldest first. */
static struct {
    uint64_t page, count, since;
} run[RUNS];

static bool
is_resident(uint64_t page)
{
    return (hearthi_table.mark[page] & HEARTHI_RESIDENT) != 0;
}

/* Frames that follow each other, in one call. */
static uint64_t
memory_give(uint64_t page, uint64_t end)
{
    const uint32_t *offset = hearthi_table.frame_offset;
    uint64_t        n = 1;

    while (page + n < end && is_resident(page + n) &&
           offset[page + n] == offset[page])
        n++;
    madvise(hearthi_cached(page), n << hearthi_heap.shift, MADV_REMOVE);
    return n;
}

static void
run_give(uint64_t page, uint64_t count)
{
    const uint64_t end = page + count;

    hearthi_fork_reuse();
    while ((page = hearthi_touched_next(page, end)) < end) {
        HEARTHI_ASSERT(!hearthi_is_copy(hearthi_table.state[page]));
        page += is_resident(page) ? memory_give(page, end) : 1;
    }
}

static void
run_remove(size_t i)
{
    hearthi_freed_frames--;
    for (; i < hearthi_freed_frames; i++)
        run[i] = run[i + 1];
}

void
hearthi_freed_frames_add(uint64_t page, uint64_t count)
{
    HEARTHI_ASSERT_HAS(TABLE);
    if (hearthi_transport->registers())
        return;
    if (hearthi_freed_frames == RUNS) {
        run_give(run[0].page, run[0].count);
        run_remove(0);
    }
    run[hearthi_freed_frames].page = page;
    run[hearthi_freed_frames].count = count;
    run[hearthi_freed_frames++].since = hearthi_now();
}

void
hearthi_freed_frames_forget(uint64_t page, uint64_t count)
{
    HEARTHI_ASSERT_HAS(TABLE);
    for (size_t i = hearthi_freed_frames; i > 0; i--)
        if (run[i - 1].page < page + count &&
            page < run[i - 1].page + run[i - 1].count)
            run_remove(i - 1);
}

void
hearthi_freed_frames_shrink(void)
{
    const uint64_t now = hearthi_now();

    HEARTHI_ASSERT_HAS(TABLE);
    while (hearthi_freed_frames > 0 &&
           now - run[0].since >= hearthi_freed_frames_wait) {
        run_give(run[0].page, run[0].count);
        run_remove(0);
    }
}
