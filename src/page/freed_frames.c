/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "freed_frames.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/min.h"
#include "base/mutex.h"
#include "page.h"
#include "transport/transport.h"

/* At a barrier, while other threads wait for the table, no more goes back than
 * so many bytes, in so many calls.  Arrays that were allocated one after the
 * other lie APART pages apart. */
enum { RUNS = 64, AT_ONCE = 64 << 20, CALLS = 1024, APART = 1 };

uint64_t hearthi_freed_frames_wait = 1000000000;
size_t   hearthi_freed_frames;

/* The oldest first. */
static struct run {
    uint64_t page, count, since;
} run[RUNS];

static uint64_t
end_of(const struct run *r)
{
    return r->page + r->count;
}

static void
run_remove(size_t i)
{
    hearthi_freed_frames--;
    for (; i < hearthi_freed_frames; i++)
        run[i] = run[i + 1];
}

/* Before the i-th. */
static void
run_insert(size_t i, struct run r)
{
    for (size_t k = hearthi_freed_frames++; k > i; k--)
        run[k] = run[k - 1];
    run[i] = r;
}

static size_t
shortest(void)
{
    size_t least = 0;

    for (size_t i = 1; i < hearthi_freed_frames; i++)
        if (run[i].count < run[least].count)
            least = i;
    return least;
}

/* With the one that was freed last, if they adjoin; for how long is as it is
 * for the longer one. */
static bool
was_joined(uint64_t page, uint64_t count)
{
    struct run *last = &run[hearthi_freed_frames - 1];
    uint64_t    end = page + count;

    if (hearthi_freed_frames == 0 || page > end_of(last) + APART ||
        last->page > end + APART)
        return false;
    if (count > last->count)
        last->since = hearthi_now();
    end = end > end_of(last) ? end : end_of(last);
    last->page = hearthi_min(page, last->page);
    last->count = end - last->page;
    return true;
}

void
hearthi_freed_frames_add(uint64_t page, uint64_t count)
{
    HEARTHI_ASSERT_HAS(TABLE);
    if (hearthi_transport->registers() || was_joined(page, count))
        return;
    if (hearthi_freed_frames == RUNS)
        run_remove(shortest());
    run_insert(hearthi_freed_frames,
               (struct run){ page, count, hearthi_now() });
}

/* What lies before and behind these pages stays. */
static void
run_cut(size_t i, uint64_t page, uint64_t end)
{
    struct run old = run[i];

    run_remove(i);
    if (end_of(&old) > end && hearthi_freed_frames < RUNS)
        run_insert(i, (struct run){ end, end_of(&old) - end, old.since });
    if (old.page < page && hearthi_freed_frames < RUNS)
        run_insert(i, (struct run){ old.page, page - old.page, old.since });
}

void
hearthi_freed_frames_forget(uint64_t page, uint64_t count)
{
    HEARTHI_ASSERT_HAS(TABLE);
    for (size_t i = hearthi_freed_frames; i > 0; i--)
        if (run[i - 1].page < page + count && page < end_of(&run[i - 1]))
            run_cut(i - 1, page, page + count);
}

/* ---- memory that goes back ---- */

static bool
is_resident(uint64_t page)
{
    return (hearthi_table.mark[page] & HEARTHI_RESIDENT) != 0;
}

/* The first page from here on that has a frame, or end. */
static uint64_t
resident_next(uint64_t page, uint64_t end)
{
    while ((page = hearthi_touched_next(page, end)) < end &&
           !is_resident(page))
        page++;
    return page;
}

/* Frames that follow each other, in one call. */
static uint64_t
memory_give(uint64_t page, uint64_t end)
{
    const uint32_t *offset = hearthi_table.frame_offset;
    uint64_t        n = 1;

    HEARTHI_ASSERT(!hearthi_is_copy(hearthi_table.state[page]));
    while (page + n < end && is_resident(page + n) &&
           offset[page + n] == offset[page])
        n++;
    madvise(hearthi_cached(page), n << hearthi_heap.shift, MADV_REMOVE);
    return n;
}

void
hearthi_freed_frames_shrink(void)
{
    const uint64_t now = hearthi_now();
    uint64_t       most = (AT_ONCE >> hearthi_heap.shift) + 1, n;
    int            calls = CALLS;

    HEARTHI_ASSERT_HAS(TABLE);
    while (hearthi_freed_frames > 0 && most > 0 && calls-- > 0 &&
           now - run[0].since >= hearthi_freed_frames_wait) {
        const uint64_t end = end_of(&run[0]);
        uint64_t       page = resident_next(run[0].page, end);

        n = page < end ? memory_give(page, hearthi_min(page + most, end)) : 0;
        most -= n;
        run[0].page = page + n;
        run[0].count = end - run[0].page;
        if (run[0].count == 0)
            run_remove(0);
    }
}
