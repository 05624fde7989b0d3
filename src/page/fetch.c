/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "fetch.h"

#include "base/least.h"
#include "base/option.h"
#include "base/stat.h"
#include "coming.h"
#include "copies.h"
#include "frames.h"
#include "page.h"
#include "predict.h"
#include "protect.h"
#include "replace.h"
#include "stream.h"
#include "tell.h"
#include "transport/transport.h"

static bool started; /* a fetch, and not finished */

void
hearthi_fetch_open(void)
{
    hearthi_streams_open();
    hearthi_predict_open();
    hearthi_tells_open();
    started = false;
}

void
hearthi_fetch_close(void)
{
    hearthi_tells_close();
}

static struct hearthi_fetch
fetch_of(uint64_t page, uint64_t count)
{
    return (struct hearthi_fetch){
        .page = page,
        .count = (uint32_t)count,
        .home = hearthi_home_of(page),
        .frame = hearthi_home_frame_of(page),
        .to = hearthi_cached(page),
        .announce = hearthi_registered(page, count) < count,
    };
}

/* Those that were missed are passed by. */
void
hearthi_run_open(uint64_t page, uint64_t count, enum hearthi_state from,
                 bool write)
{
    const uint8_t *mark = hearthi_table.mark, *state = hearthi_table.state;

    for (uint64_t end = page + count, n; page < end; page += n) {
        bool open = write || (mark[page] & HEARTHI_WROTE);

        n = 1;
        if (state[page] != from)
            continue;
        while (page + n < end && state[page + n] == from &&
               open == (write || (mark[page + n] & HEARTHI_WROTE)))
            n++;
        if (open)
            hearthi_copies_write(page, n);
        else
            hearthi_pages_set(page, n, HEARTHI_CLEAN);
        hearthi_copies_populate(page, n, open);
    }
}

static void
runs_count(const struct hearthi_fetch *run, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hearthi_count(getpages, run[i].count);
    hearthi_count(fetches, n);
}

/* Runs that are fetched together. */
enum { RUNS = 32 };
struct batch {
    struct hearthi_fetch run[RUNS];
    size_t               n;
    uint64_t             pages;
};

/* Add pages that lie at neighbouring frames of one home, cut where their
 * cached frames do not follow each other.  Returns how many found a place. */
static uint64_t
batch_add(struct batch *b, uint64_t page, uint64_t count)
{
    uint64_t done = 0, n;

    for (; done < count && b->n < RUNS; done += n) {
        n = hearthi_frames_take(page + done, count - done);
        b->run[b->n++] = fetch_of(page + done, n);
    }
    b->pages += done;
    return done;
}

/* With the lock in hand; told: something was, which arrives with it. */
static void
runs_fetch(const struct hearthi_fetch *run, size_t n, bool told)
{
    hearthi_transport->fetch(run, n);
    if (told)
        hearthi_told_fence(); /* for the fetches to come */
}

void
hearthi_fetch_runs(const struct hearthi_fetch *run, size_t n)
{
    runs_fetch(run, n, hearthi_runs_tell(run, n));
    runs_count(run, n);
}

/* Afterwards pages are COMING that may be opened; the others were missed. */
static void
batch_bring(const struct batch *b, bool alone)
{
    bool told = hearthi_runs_tell(b->run, b->n);
    int  way = told || alone ? -1 : hearthi_way_take(b->pages, b->n);

    for (size_t i = 0; i < b->n; i++)
        hearthi_coming_begin(&b->run[i]);
    if (way < 0) {
        runs_fetch(b->run, b->n, told);
    } else {
        hearthi_table_leave();
        hearthi_transport->bring(way, b->run, b->n);
        hearthi_table_return();
        hearthi_way_give(way, b->pages);
    }
    for (size_t i = 0; i < b->n; i++)
        hearthi_coming_end(&b->run[i]);
    runs_count(b->run, b->n);
}

bool
hearthi_fetch_start(const struct hearthi_fetch *run, size_t n, uint64_t pages)
{
    bool told = hearthi_runs_tell(run, n);
    bool way = !told && hearthi_way_take(pages, n + 1) == 0;

    for (size_t i = 0; i < n; i++)
        hearthi_coming_begin(&run[i]);
    started = way && hearthi_transport->bring_begin(run, n);
    if (!way)
        runs_fetch(run, n, told);
    else if (!started)
        hearthi_way_give(0, pages);
    runs_count(run, n);
    return started;
}

void
hearthi_fetch_finish(uint64_t pages)
{
    if (!started)
        return;
    hearthi_transport->bring_end();
    hearthi_way_give(0, pages);
    started = false;
}

/* Show pages that were brought in advance; how many to go on. */
static uint64_t
here_show(uint64_t page, uint64_t end)
{
    uint64_t n = 1;

    if (hearthi_table.state[page] == HEARTHI_COMING &&
        hearthi_predict_brings(page))
        hearthi_predict_finish();
    if (hearthi_table.state[page] == HEARTHI_HERE) {
        n = hearthi_run_length(page, end - page, HEARTHI_HERE);
        hearthi_predict_show(page, n, false);
    }
    return n;
}

/* Fetch the invalid pages of a range, several runs to a message round; no
 * more than half the cache, or the end would push out the beginning. */
void
hearthi_fetch_range(uint64_t page, uint64_t count, bool alone)
{
    uint64_t end = page + count, left = 2 * hearthi_copies_most();

    while (page < end && left > 0) {
        uint64_t     most = hearthi_copies_most(); /* others may hold more */
        struct batch b;

        b.n = b.pages = 0;
        hearthi_copies_reserve(most);
        while (page < end && b.n < RUNS && b.pages < most) {
            uint64_t len;

            if (hearthi_state_of(page) != HEARTHI_INVALID) {
                page += here_show(page, end);
                continue;
            }
            len = hearthi_run_length(page,
                                     hearthi_least(end - page, most - b.pages),
                                     HEARTHI_INVALID);
            page += batch_add(&b, page, len);
        }
        if (b.n == 0)
            return;
        left -= hearthi_least(left, b.pages);
        batch_bring(&b, alone);
        for (size_t i = 0; i < b.n; i++)
            hearthi_run_open(b.run[i].page, b.run[i].count, HEARTHI_COMING,
                             false);
    }
}

/* ---- faults ---- */

/* Where of GROUP pages side by side LEAST others are here already, and two of
 * those and this one adjoin, all are wanted: whoever touches single pages of a
 * region touches most of it, unless they are at a distance.  At worst five
 * pages come in vain for three that were asked for, and none goes for them. */
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
           hearthi_frames_given() + GROUP <= hearthi_frames_bound();
}

/* The invalid pages of a range, as far as there is room. */
static void
batch_add_range(struct batch *b, uint64_t page, uint64_t end)
{
    while (page < end && b->n < RUNS) {
        uint64_t n = 1;

        if (hearthi_state_of(page) == HEARTHI_INVALID) {
            n = hearthi_run_length(page, end - page, HEARTHI_INVALID);
            batch_add(b, page, n);
        }
        page += n;
    }
}

bool
hearthi_is_in_group(uint64_t page, uint64_t *begin, uint64_t *end)
{
    const struct hearthi_place *r = hearthi_place_of(page);
    uint64_t                    first = page - page % GROUP;

    *begin = first < r->page ? r->page : first;
    *end = hearthi_least(first + GROUP, r->page + r->count);
    return hearthi_opt.fetch_ahead > 1 && is_dense(*begin, *end, page) &&
           GROUP <= hearthi_copies_most();
}

static void
group_gather(struct batch *b, uint64_t page)
{
    uint64_t begin, end;

    if (hearthi_is_in_group(page, &begin, &end)) {
        hearthi_copies_reserve(GROUP);
        batch_add_range(b, page, end);
        batch_add_range(b, begin, page);
    } else {
        batch_add(b, page, 1);
    }
}

/* Pages at a distance, each that is there to be fetched, within the
 * allocation.  Returns how far the sequence was followed. */
static uint64_t
apart_gather(struct batch *b, uint64_t page, int64_t stride, uint64_t step)
{
    const struct hearthi_allocation *in = hearthi_place_of(page)->in;
    uint64_t                         n = 0;

    for (; n < step && b->n < RUNS; n++, page += (uint64_t)stride) {
        if (page - in->page >= in->pages)
            break;
        if (hearthi_state_of(page) == HEARTHI_INVALID)
            batch_add(b, page, 1);
    }
    return n;
}

/* What a fault fetches: gives how many steps of its sequence that is.  Memory
 * of first touch is about to be shared out: a page that somebody else has
 * fetched, though it never touches it, would be tracked wherever it lies. */
static uint64_t
fault_gather(struct batch *b, uint64_t page, const struct hearthi_stream *s)
{
    uint64_t n;

    hearthi_copies_reserve(s->step);
    if (hearthi_place_of(page)->in->fresh)
        return batch_add(b, page, 1);
    if (s->step == 1) {
        group_gather(b, page);
        return 1;
    }
    if (s->stride == 1)
        return batch_add(b, page,
                         hearthi_run_length(page, s->step, HEARTHI_INVALID));
    if (s->stride != -1)
        return apart_gather(b, page, s->stride, s->step);
    n = hearthi_run_before(page, s->step, HEARTHI_INVALID);
    batch_add(b, page - n + 1, n);
    return n;
}

static void
batch_open(const struct batch *b, uint64_t page, bool write)
{
    if (write)
        hearthi_run_open(page, 1, HEARTHI_COMING, true);
    for (size_t i = 0; i < b->n; i++)
        hearthi_run_open(b->run[i].page, b->run[i].count, HEARTHI_COMING,
                         false);
}

void
hearthi_fetch_fault(uint64_t page, bool write, bool alone)
{
    struct hearthi_stream *s = hearthi_stream_find(HEARTHI_READS, page);
    bool                   row = s->step > 1 && s->stride == 1;
    struct batch           b;
    uint64_t               n;

    b.n = b.pages = 0;
    n = fault_gather(&b, page, s);
    hearthi_stream_took(s, page, n);
    hearthi_count(ahead, b.pages - 1);
    batch_bring(&b, alone);
    /* A sequence of writes opens what it fetched ahead, unless another
     * thread's sequence has taken its place meanwhile; a single write may be
     * the only one. */
    if (write && row && hearthi_stream_is_at(s, page, n)) {
        hearthi_run_open(page, n, HEARTHI_COMING, true);
        hearthi_stream_opened(s, page, n);
    } else {
        batch_open(&b, page, write);
    }
}
