/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "fetch.h"

#include <stdatomic.h>

#include "base/min.h"
#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "copies.h"
#include "evict.h"
#include "fetch_round.h"
#include "frames.h"
#include "migration_freeze.h"
#include "node_cache.h"
#include "page.h"
#include "page_in_flight.h"
#include "policy/stride_prefetch.h"
#include "read_mostly.h"
#include "reuse_prefetch.h"
#include "sharer_notify.h"
#include "space/foreign.h"
#include "transport/transport.h"
#include "twins.h"
#include "world.h"
#include "written_row.h"

static bool started; /* a fetch, and not finished */

void
hearthi_fetch_open(void)
{
    hearthi_stride_prefetch_open();
    hearthi_reuse_prefetch_open();
    hearthi_sharer_notify_open();
    hearthi_read_mostly_open();
    started = false;
}

void
hearthi_fetch_close(void)
{
    HEARTHI_ASSERT(!started && hearthi_in_flight_is_none());
    hearthi_sharer_notify_close();
}

/* Is a page that is brought, behind n others, opened for writing, too?  Not
 * where twins are short; one that is not, and is stored to, faults again. */
static bool
opens(uint64_t page, bool write, uint64_t n)
{
    return (write || hearthi_is_written_often(page)) &&
           !hearthi_twins_short(n + 1);
}

/* Those that are stale are passed by. */
void
hearthi_run_open(uint64_t page, uint64_t count, enum hearthi_state from,
                 bool write)
{
    const uint8_t *state = hearthi_table.state;

    /* The frames were filled by way of the system view.  Other threads load
     * them by way of the application view as soon as the kernel lets them,
     * without a mutex: so what was stored comes first. */
    atomic_thread_fence(memory_order_release);
    for (uint64_t end = page + count, n; page < end; page += n) {
        bool open = (write && count == 1) || opens(page, write, 0);

        n = 1;
        if (state[page] != from)
            continue;
        HEARTHI_ASSERT(!hearthi_is_frozen(page));
        while (page + n < end && state[page + n] == from &&
               open == opens(page + n, write, n))
            n++;
        if (open) {
            hearthi_copies_write(page, n);
        } else {
            hearthi_pages_set(page, n, HEARTHI_CLEAN);
            for (uint64_t p = page; p < page + n; p++)
                hearthi_written_row_read(p);
        }
        hearthi_copies_populate(page, n, open);
    }
}

void
hearthi_fetch_runs(const struct hearthi_fetch *run, size_t n)
{
    hearthi_runs_fetch(run, n, hearthi_sharer_notify_runs(run, n));
    hearthi_runs_count(run, n);
}

bool
hearthi_fetch_start(const struct hearthi_fetch *run, size_t n,
                    struct hearthi_rest *rest)
{
    bool told, way;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(!started);
    hearthi_node_copy(run, n, HEARTHI_FORESEEN, rest);
    if (rest->n == 0)
        return false;
    told = hearthi_sharer_notify_runs(rest->run, rest->n);
    way = !told && hearthi_way_take(rest->all, rest->n + 1) == 0;
    for (size_t i = 0; i < rest->n; i++)
        hearthi_in_flight_begin(&rest->run[i]);
    started = way && hearthi_transport->data.fetch_begin(rest->run, rest->n);
    if (!way)
        hearthi_runs_fetch(rest->run, rest->n, told);
    else if (!started)
        hearthi_way_give(0, rest->all);
    hearthi_runs_count(rest->run, rest->n);
    return started;
}

void
hearthi_fetch_finish(const struct hearthi_rest *rest)
{
    if (!started)
        return;
    hearthi_transport->data.fetch_end();
    hearthi_way_give(0, rest->all);
    started = false;
}

bool
hearthi_fetch_await(uint64_t page)
{
    if (!hearthi_node_cache_on)
        return false;
    if (hearthi_node_tags_fetch(page) && hearthi_reuse_prefetch_finish())
        return true;
    return hearthi_node_cache_wait(page);
}

void
hearthi_fetch_show(const struct hearthi_fetch_round *b)
{
    for (size_t i = 0; i < b->n; i++)
        hearthi_run_open(b->run[i].page, b->run[i].count, HEARTHI_IN_FLIGHT,
                         false);
}

/* ---- faults ---- */

/* Where of GROUP pages side by side LEAST others are here already, and two of
 * those and this one adjoin, all are wanted: a program that touches single
 * pages of a region touches most of it, unless they are at a distance.  At
 * worst five pages come in vain for three that were asked for, and none goes
 * for them. */
enum { GROUP = 8, LEAST = 2 };

static bool
is_dense(uint64_t begin, uint64_t end, uint64_t page)
{
    unsigned here = 0, adjoin = 0;
    bool     before = false;

    for (uint64_t p = begin; p < end; p++) {
        bool is = p == page || hearthi_is_copy(hearthi_table.state[p]);

        here += is;
        adjoin += is && before;
        before = is;
    }
    return here > LEAST && adjoin > 0 &&
           hearthi_frames.given + GROUP <= hearthi_frames.bound;
}

/* The invalid pages of a range, as far as there is room. */
static void
batch_add_range(struct hearthi_fetch_round *b, uint64_t page, uint64_t end)
{
    while (page < end && b->n < HEARTHI_RUNS) {
        uint64_t n = 1;

        if (hearthi_state_of(page) == HEARTHI_INVALID) {
            n = hearthi_run_length(page, end - page, HEARTHI_INVALID);
            hearthi_fetch_round_add(b, page, n);
        }
        page += n;
    }
}

bool
hearthi_is_in_group(uint64_t page, uint64_t *begin, uint64_t *end)
{
    const struct hearthi_page_place *r = hearthi_page_place_of(page);
    uint64_t                         first = page - page % GROUP;

    *begin = first < r->page ? r->page : first;
    *end = hearthi_min(first + GROUP, r->page + r->count);
    return hearthi_fetch_ahead() > 1 && is_dense(*begin, *end, page) &&
           GROUP <= hearthi_copies_most();
}

static void
group_gather(struct hearthi_fetch_round *b, uint64_t page)
{
    uint64_t begin, end;

    if (hearthi_is_in_group(page, &begin, &end)) {
        hearthi_copies_reserve(GROUP);
        batch_add_range(b, page, end);
        batch_add_range(b, begin, page);
    } else {
        hearthi_fetch_round_add(b, page, 1);
    }
}

/* Pages at a distance, each that is there to be fetched, within the
 * allocation.  Returns how far the sequence was followed. */
static uint64_t
apart_gather(struct hearthi_fetch_round *b, uint64_t page, int64_t stride,
             uint64_t step)
{
    const struct hearthi_allocation *in = hearthi_page_place_of(page)->in;
    uint64_t                         n = 0;

    for (; n < step && b->n < HEARTHI_RUNS; n++, page += (uint64_t)stride) {
        if (page - in->page >= in->pages)
            break;
        if (hearthi_state_of(page) == HEARTHI_INVALID)
            hearthi_fetch_round_add(b, page, 1);
    }
    return n;
}

/* The gateway of another cluster's pages may fetch what a long sequence will
 * want next, while the program goes through what it has: four times as much,
 * so that what grows does not wait for the link at each step, and what a link
 * of 1 gbit carries in 34 ms. */
enum { FAR_STEP = 8, FAR_TIMES = 4, FAR_BYTES = 4 << 20 };

static void
behind_note(struct hearthi_fetch *last, uint64_t step)
{
    uint64_t most =
        hearthi_min(step * FAR_TIMES, FAR_BYTES >> hearthi_heap.shift);
    uint64_t n;

    if (step < FAR_STEP || !hearthi_is_far(last->home))
        return;
    n = hearthi_run_length(last->page, last->count + most, HEARTHI_INVALID);
    last->behind = (uint32_t)n - last->count;
    n = last->behind;
    last->announce_behind =
        n > 0 && hearthi_registered(last->page + last->count, n) < n;
}

/* Where the program has used up the kernel's mappings MPI finds no memory for
 * what it sends, of which not all of it makes an error: Open MPI's may divide
 * by zero, or wait for ever.  So that is said before. */
static void
maps_check(void)
{
    if (!hearthi_maps_may_grow())
        hearthi_fatal("page fault",
                      "the kernel allows this process no more mappings "
                      "(vm.max_map_count), of which Hearth has %ld: raise "
                      "it, or map less",
                      hearthi_table.areas);
}

/* What a fault fetches: gives how many steps of its sequence that is.  Memory
 * of first touch is about to be shared out: a page that another rank has
 * fetched, though it never touches it, would be tracked wherever it lies. */
static uint64_t
fault_gather(struct hearthi_fetch_round *b, uint64_t page,
             const struct hearthi_stride *s)
{
    uint64_t n, done;

    maps_check();
    hearthi_fetch_round_init(b);
    hearthi_copies_reserve(s->step);
    if (hearthi_page_place_of(page)->in->fresh)
        return hearthi_fetch_round_add(b, page, 1);
    if (s->step == 1) {
        group_gather(b, page);
        return 1;
    }
    if (s->stride == 1) {
        n = hearthi_run_length(page, s->step, HEARTHI_INVALID);
        done = hearthi_fetch_round_claim(b, page, n);
        if (done == n)
            behind_note(&b->run[b->n - 1], s->step);
        return done;
    }
    if (s->stride != -1)
        return apart_gather(b, page, s->stride, s->step);
    n = hearthi_run_before(page, s->step, HEARTHI_INVALID);
    n = hearthi_node_cache_until(page, n, true);
    done = hearthi_fetch_round_add(b, page - n + 1, n);
    hearthi_node_cache_keep(page - n + 1 + done, n - done);
    return n;
}

static void
batch_open(const struct hearthi_fetch_round *b, uint64_t page, bool write)
{
    if (write)
        hearthi_run_open(page, 1, HEARTHI_IN_FLIGHT, true);
    hearthi_fetch_show(b);
}

void
hearthi_fetch_fault(uint64_t page, bool write, bool alone)
{
    struct hearthi_stride *s = hearthi_stride_prefetch_find(
        HEARTHI_READS, page, hearthi_copies_most());
    bool                       row = s->step > 1 && s->stride == 1;
    struct hearthi_fetch_round b;
    uint64_t                   n;

    HEARTHI_ASSERT(hearthi_state_of(page) == HEARTHI_INVALID);
    n = fault_gather(&b, page, s);
    HEARTHI_ASSERT(b.pages > 0 && b.n <= HEARTHI_RUNS);
    hearthi_stride_prefetch_took(s, page, n);
    hearthi_fetch_round_bring(&b, alone);
    hearthi_count(ahead, hearthi_rest_ahead(&b.rest, page));
    /* A sequence of writes opens what it fetched ahead, unless another
     * thread's sequence has taken its place meanwhile; a single write may be
     * the only one. */
    if (write && row && hearthi_stride_prefetch_is_at(s, page, n)) {
        hearthi_run_open(page, n, HEARTHI_IN_FLIGHT, true);
        hearthi_copies_opened(s, page, n);
    } else {
        batch_open(&b, page, write);
    }
    HEARTHI_ASSERT(!hearthi_is_in_flight(hearthi_table.state[page]));
    hearthi_node_copy_end(&b.rest);
}
