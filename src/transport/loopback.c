/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank that is far from its own home pages: it fetches from itself, and
 * sends itself diffs, so that its stores are told from what other ranks bring
 * to its home frames.  Bytes beside these that others bring meanwhile are not
 * touched, and a whole word is stored as one (word_split.h).
 */
#include "config.h"

#include "transport.h"

#include <stdatomic.h>
#include <string.h>

#include "space/heap.h"
#include "space/segment.h"
#include "word_split.h"
#include "world.h"

static struct hearthi_transport_ops        loopback;
static const struct hearthi_transport_ops *other;

static char *
own_at(size_t offset)
{
    return hearthi_segments
               .base[hearthi_world.node_rank_of[hearthi_world.rank]] +
           offset;
}

static bool
is_own(int home)
{
    return home == hearthi_world.rank;
}

/* ---- fetches ---- */

static void
run_copy(const struct hearthi_fetch *run)
{
    memcpy(run->to, own_at(hearthi_frame_at(run->frame, hearthi_heap.shift)),
           (size_t)run->count << hearthi_heap.shift);
}

/* How many in a row are of this rank, or of others. */
static size_t
alike(const struct hearthi_fetch *run, size_t n)
{
    size_t k = 1;

    while (k < n && is_own(run[k].home) == is_own(run->home))
        k++;
    return k;
}

static void
fetch(const struct hearthi_fetch *run, size_t n)
{
    for (size_t i = 0, k; i < n; i += k) {
        k = alike(run + i, n - i);
        if (!is_own(run[i].home))
            other->data.fetch(run + i, k);
        for (size_t r = i; is_own(run[i].home) && r < i + k; r++)
            run_copy(&run[r]);
    }
}

static void
fetch_concurrent(int way, const struct hearthi_fetch *run, size_t n)
{
    for (size_t i = 0, k; i < n; i += k) {
        k = alike(run + i, n - i);
        if (!is_own(run[i].home))
            other->data.fetch_concurrent(way, run + i, k);
        for (size_t r = i; is_own(run[i].home) && r < i + k; r++)
            run_copy(&run[r]);
    }
}

static bool
fetch_begin(const struct hearthi_fetch *run, size_t n)
{
    if (alike(run, n) == n && !is_own(run->home))
        return other->data.fetch_begin(run, n);
    fetch_concurrent(0, run, n);
    return false;
}

/* ---- diffs ---- */

static void
diff(int home, size_t offset, const void *src, size_t len)
{
    if (is_own(home))
        hearthi_run_store(own_at(offset), src, len);
    else
        other->data.diff(home, offset, src, len);
}

/* False for this rank's own: they come by diff. */
static bool
patch(int home, size_t offset, const char *src, const uint64_t *mask,
      size_t blocks, size_t runs)
{
    return !is_own(home) &&
           other->data.patch(home, offset, src, mask, blocks, runs);
}

static void
store(int home, size_t offset, const void *src, size_t len)
{
    if (is_own(home))
        hearthi_run_store(own_at(offset), src, len);
    else
        other->data.store(home, offset, src, len);
}

static void
notify(int home)
{
    if (!is_own(home))
        other->data.notify(home);
}

/* Copies of this rank's own pages would be other than the frames, if those
 * were given back to the system. */
static bool
registers(void)
{
    return true;
}

/* The fence: what diff() stored here has arrived, as other ranks' diffs have,
 * before all that follows. */
static void
flush(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    other->data.flush();
}

const struct hearthi_transport_ops *
hearthi_transport_loopback(const struct hearthi_transport_ops *of)
{
    other = of;
    loopback = *of;
    loopback.registers = registers;
    loopback.data.fetch = fetch;
    loopback.data.fetch_concurrent = fetch_concurrent;
    loopback.data.fetch_begin = fetch_begin;
    loopback.data.diff = diff;
    if (of->data.patch != NULL)
        loopback.data.patch = patch;
    loopback.data.store = store;
    loopback.data.notify = notify;
    loopback.data.flush = flush;
    return &loopback;
}
