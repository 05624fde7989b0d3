/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages and flags to and from the segments of other nodes.
 */
#include "config.h"

#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/report.h"
#include "fabric.h"
#include "progress.h"
#include "space/heap.h"
#include "space/segment.h"

enum { ONES = 1 << 16, FEW = 1 << 16 };

static uint8_t *ones; /* ONES flags that are set */

struct hearthi_fabric_batch        hearthi_table_batch = { .kind =
                                                               HEARTHI_BATCH_TABLE };
static struct hearthi_fabric_batch ahead = { .kind = HEARTHI_BATCH_FIRST };
static struct hearthi_fabric_batch beside = { .kind = HEARTHI_BATCH_WAY };

/* Flags of a run and the summary bytes that stand for them. */
static void
flags_put(struct hearthi_fabric_batch *b, int home, uint64_t frame,
          uint64_t count)
{
    while (count > 0) {
        uint64_t n = count < ONES ? count : ONES;
        uint64_t first = frame / HEARTHI_SUMMARY;
        uint64_t last = (frame + n - 1) / HEARTHI_SUMMARY;

        hearthi_fabric_put(b, home, frame, ones, n);
        hearthi_fabric_put(b, home, hearthi_segments.summary_at + first, ones,
                           last - first + 1);
        frame += n;
        count -= n;
    }
}

/* Does any of these runs have that home? */
static bool
is_home_of(const struct hearthi_fetch *run, size_t n, int home)
{
    for (size_t i = 0; i < n; i++)
        if (run[i].home == home)
            return true;
    return false;
}

static void
runs_get(struct hearthi_fabric_batch *b, const struct hearthi_fetch *run,
         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = hearthi_frame_at(run[i].frame, hearthi_heap.shift);
        size_t len = (size_t)run[i].count << hearthi_heap.shift;
        int    home = run[i].home;

        HEARTHI_ASSERT(len > 0 && at + len <= hearthi_segments.bytes);
        if (run[i].announce)
            flags_put(b, home, run[i].frame, run[i].count);
        hearthi_fabric_get(b, home, at, run[i].to, len,
                           is_home_of(run + i + 1, n - i - 1, home));
    }
}

void
hearthi_mpi_fetch(const struct hearthi_fetch *run, size_t n)
{
    HEARTHI_ASSERT_HAS(TABLE);
    runs_get(&hearthi_table_batch, run, n);
    hearthi_fabric_wait(&hearthi_table_batch);
}

void
hearthi_mpi_fetch_concurrent(int way, const struct hearthi_fetch *run,
                             size_t n)
{
    struct hearthi_fabric_batch b;

    HEARTHI_ASSERT(way >= 0 && way < HEARTHI_WAYS);
    hearthi_fabric_batch_begin(&b, way == 0 ? HEARTHI_BATCH_FIRST
                                            : HEARTHI_BATCH_WAY);
    runs_get(&b, run, n);
    hearthi_fabric_wait(&b);
}

/* Where a target has to be woken no thread would do so until this ends; and a
 * flush of others would wait for it.  Where not, a few pages are here in less
 * time than the fault takes that would wait for them. */
bool
hearthi_mpi_fetch_begin(const struct hearthi_fetch *run, size_t n)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(ahead.count == 0);
    runs_get(&ahead, run, n);
    if (hearthi_help.need[HEARTHI_PAGE] == HEARTHI_FREE && ahead.bytes > FEW)
        return true;
    hearthi_fabric_wait(&ahead);
    return false;
}

void
hearthi_mpi_fetch_end(void)
{
    hearthi_fabric_wait(&ahead);
}

void
hearthi_mpi_store(int home, size_t offset, const void *src, size_t len)
{
    hearthi_fabric_put(&beside, home, offset, src, len);
}

void
hearthi_mpi_stored(void)
{
    hearthi_fabric_wait(&beside);
}

void
hearthi_transfer_open(void)
{
    ones = malloc(ONES);
    if (ones == NULL)
        hearthi_fatal("hearth_init", "no memory");
    memset(ones, 1, ONES);
}

void
hearthi_transfer_close(void)
{
    free(ones);
}
