/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a fault does.  A fault costs several times the message that it
 * triggers, so the aim is fewer of them: a run of sequential faults fetches,
 * or opens for writing, in growing steps, and a page that was written in the
 * interval before is opened at once.
 */
#include "config.h"

#include "fault.h"

#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "copies.h"
#include "diffs.h"
#include "frames.h"
#include "page.h"
#include "replace.h"
#include "transport/transport.h"
#include "world.h"

/* Sequences of faults that are being followed: the page that would come next
 * and the last step.  The oldest entry gives way. */
enum { STREAMS = 8, FIRST_STEP = 4, BEHIND = 128 };

struct stream {
    uint64_t next, step, used;
    uint64_t opened, n_opened; /* for writing, by the last step */
};

static struct stream reads[STREAMS], writes[STREAMS];
static uint64_t      stream_clock;

static bool *untold; /* of each home */
static int   n_untold;

void
hearthi_fetch_open(void)
{
    memset(reads, 0, sizeof reads);
    memset(writes, 0, sizeof writes);
    n_untold = 0;
    untold = calloc((size_t)hearthi_world.size, sizeof *untold);
    if (untold == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_fetch_close(void)
{
    free(untold);
}

/* The stream that expects this page, or a new one. */
static struct stream *
stream_find(struct stream *s, uint64_t page)
{
    struct stream *old = s;

    for (int i = 0; i < STREAMS; i++) {
        if (s[i].next == page && s[i].step > 0) {
            s[i].step = s[i].step < FIRST_STEP ? FIRST_STEP : 2 * s[i].step;
            s[i].used = ++stream_clock;
            return &s[i];
        }
        if (s[i].used < old->used)
            old = &s[i];
    }
    *old = (struct stream){ .step = 1, .used = ++stream_clock };
    return old;
}

static uint64_t
least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How far the pages from `page` on are in this state and, for messages, at
 * neighbouring frames of one home. */
static uint64_t
run_length(uint64_t page, uint64_t max, enum hearthi_state state)
{
    uint64_t n = 1;

    while (n < max && hearthi_table.state[page + n] == state &&
           hearthi_follows(page + n - 1))
        n++;
    return n;
}

static uint64_t
step_most(void)
{
    uint64_t most = hearthi_opt.fetch_ahead;

    return most < 1 ? 1 : least(most, hearthi_copies_most());
}

/* A long sequence of writes does not come back: what its last step opened
 * goes home now, so that twins and diffs stay in the processor's cache and the
 * release finds little to do.  A page written again is just opened again. */
static void
stream_opened(struct stream *s, uint64_t page, uint64_t count)
{
    uint64_t p = s->opened, end = p + s->n_opened;

    s->opened = page;
    s->n_opened = s->step >= BEHIND ? count : 0;
    if (p == end)
        return;
    while (p < end) {
        uint64_t n = 0;

        while (p + n < end && hearthi_table.state[p + n] == HEARTHI_DIRTY)
            n++;
        if (n > 0)
            hearthi_copies_shut(p, n);
        p += n + 1;
    }
    hearthi_diff_end();
}

/* ---- fetching ---- */

/* How many pages were announced to their home before? */
static uint64_t
run_registered(uint64_t page, uint64_t count)
{
    uint64_t n = 0;

    for (uint64_t p = page; p < page + count; p++)
        n += (hearthi_table.mark[p] & HEARTHI_REGISTERED) != 0;
    return n;
}

void
hearthi_tell_later(int home)
{
    n_untold += !untold[home];
    untold[home] = true;
}

/* Tell the homes of these runs what they must know first.  First copies are
 * dropped at the next acquire in any case, so the word may travel with them;
 * it must have arrived before any other copy is fetched. */
static void
runs_tell(const struct hearthi_fetch *run, size_t n)
{
    bool any = false, wait = false;

    for (size_t i = 0; i < n && n_untold > 0; i++) {
        if (untold[run[i].home]) {
            hearthi_transport->tell(run[i].home);
            untold[run[i].home] = false;
            n_untold--;
            any = true;
        }
    }
    for (size_t i = 0; any && i < n; i++)
        wait |= run_registered(run[i].page, run[i].count) > 0;
    if (wait)
        hearthi_transport->flush();
}

static void
runs_fetch(const struct hearthi_fetch *run, size_t n)
{
    runs_tell(run, n);
    hearthi_transport->fetch(run, n);
}

/* A rank's first copy may have been fetched before its flag could be seen:
 * it is provisional (coherence/interval.c says why). */
static void
run_register(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++) {
        if (hearthi_table.mark[p] & HEARTHI_REGISTERED)
            continue;
        hearthi_table.mark[p] |= HEARTHI_REGISTERED | HEARTHI_PROVISIONAL;
        hearthi_provisional.page[hearthi_provisional.n++] = (hearthi_page)p;
    }
}

static struct hearthi_fetch
fetch_of(uint64_t page, uint64_t count)
{
    return (struct hearthi_fetch){
        .page = page,
        .count = (uint32_t)count,
        .home = (int)hearthi_table.home[page],
        .frame = hearthi_table.frame[page],
        .announce = run_registered(page, count) < count,
    };
}

/* Make fetched pages visible: read-only, or open for writing where they were
 * written in the interval before.  `write` opens all. */
static void
run_open(uint64_t page, uint64_t count, bool write)
{
    const uint8_t *mark = hearthi_table.mark;

    while (count > 0) {
        bool     open = write || (mark[page] & HEARTHI_WROTE);
        uint64_t n = 1;

        while (n < count &&
               open == (write || (mark[page + n] & HEARTHI_WROTE)))
            n++;
        if (open)
            hearthi_copies_write(page, n);
        else
            hearthi_pages_set(page, n, HEARTHI_CLEAN);
        if (n > 1)
            hearthi_populate(hearthi_app(page), n << hearthi_heap.shift, open);
        page += n;
        count -= n;
    }
}

static void
run_arrived(const struct hearthi_fetch *f)
{
    run_register(f->page, f->count);
    hearthi_frames_arrived(f->page, f->count);
    hearthi_count(getpages, f->count);
    hearthi_count(fetches, 1);
}

/* Fetch the invalid pages of a range, several runs to a message round; no
 * more than half the cache, or the end would push out the beginning. */
void
hearthi_fetch_range(uint64_t page, uint64_t count)
{
    enum { RUNS = 32 };
    struct hearthi_fetch run[RUNS];
    uint64_t             end = page + count, most = hearthi_copies_most();
    uint64_t             left = 2 * most;

    while (page < end && left > 0) {
        size_t   n = 0;
        uint64_t pages = 0;

        hearthi_copies_reserve(most);
        while (page < end && n < RUNS && pages < most) {
            uint64_t len;

            if (hearthi_table.state[page] != HEARTHI_INVALID) {
                page++;
                continue;
            }
            len = run_length(page, least(end - page, most - pages),
                             HEARTHI_INVALID);
            run[n++] = fetch_of(page, len);
            hearthi_frames_prepare(page, len);
            page += len;
            pages += len;
        }
        if (n == 0)
            return;
        left -= least(left, pages);
        runs_fetch(run, n);
        for (size_t i = 0; i < n; i++) {
            run_arrived(&run[i]);
            run_open(run[i].page, run[i].count, false);
        }
    }
}

static void
fault_fetch(uint64_t page, bool write)
{
    struct stream       *s = stream_find(reads, page);
    uint64_t             n;
    struct hearthi_fetch f;

    s->step = least(s->step, step_most());
    hearthi_copies_reserve(s->step);
    n = run_length(page, s->step, HEARTHI_INVALID);
    s->next = page + n;
    f = fetch_of(page, n);
    hearthi_frames_prepare(page, n);
    runs_fetch(&f, 1);
    run_arrived(&f);
    if (!write) {
        run_open(page, n, false);
        return;
    }
    /* A sequence of writes opens what it fetched ahead; a single write may
     * be the only one. */
    if (s->step > 1) {
        run_open(page, n, true);
        stream_opened(s, page, n);
    } else {
        run_open(page, 1, true);
        if (n > 1)
            run_open(page + 1, n - 1, false);
    }
}

/* ---- writing ---- */

/* Open the page and, in a sequence of such faults, those behind it that are
 * in the same state. */
static void
fault_write(uint64_t page, enum hearthi_state state)
{
    struct stream *s = stream_find(writes, page);
    uint64_t       n;

    s->step = least(s->step, step_most());
    n = run_length(page, s->step, state);
    s->next = page + n;
    if (state == HEARTHI_CLEAN) {
        hearthi_copies_write(page, n);
        if (n > 1)
            hearthi_populate(hearthi_app(page), n << hearthi_heap.shift, true);
        stream_opened(s, page, n);
        return;
    }
    for (uint64_t p = page; p < page + n; p++)
        hearthi_list(p);
    hearthi_pages_set(page, n, HEARTHI_HOME_DIRTY);
}

/* Home pages whose mapping was given up come back in the state they would be
 * in: tracked pages stay tracked. */
static void
fault_away(uint64_t page, bool write)
{
    const uint8_t *mark = hearthi_table.mark;
    const uint8_t  which = HEARTHI_TRACKED | HEARTHI_LISTED;
    uint64_t       n = run_length(page, HEARTHI_HOME_RUN, HEARTHI_HOME_AWAY);

    for (uint64_t i = 1; i < n; i++)
        if ((mark[page + i] & which) != (mark[page] & which))
            n = i;
    if (!(mark[page] & HEARTHI_TRACKED)) {
        hearthi_pages_set(page, n, HEARTHI_HOME_OPEN);
    } else if (mark[page] & HEARTHI_LISTED) {
        hearthi_pages_set(page, n, HEARTHI_HOME_DIRTY);
    } else if (write) {
        hearthi_list(page);
        hearthi_pages_set(page, 1, HEARTHI_HOME_DIRTY);
    } else {
        hearthi_pages_set(page, n, HEARTHI_HOME_ARMED);
    }
}

/* The state may have changed between the fault and the lock, by another
 * thread, and again by making room: look once all that is done. */
static bool
fault_serve(uint64_t page, bool write)
{
    const uint8_t *state = &hearthi_table.state[page];

    hearthi_copies_reserve(1);
    switch ((enum hearthi_state) * state) {
    case HEARTHI_UNUSED: return false;
    case HEARTHI_INVALID: fault_fetch(page, write); break;
    case HEARTHI_CLEAN:
        if (write)
            fault_write(page, HEARTHI_CLEAN);
        break;
    case HEARTHI_HOME_ARMED:
        if (write)
            fault_write(page, HEARTHI_HOME_ARMED);
        break;
    case HEARTHI_HOME_AWAY: fault_away(page, write); break;
    case HEARTHI_DIRTY:
    case HEARTHI_HOME_OPEN:
    case HEARTHI_HOME_DIRTY: break; /* another thread was faster */
    }
    return true;
}

bool
hearthi_fault(void *addr, bool write)
{
    uint64_t start = hearthi_time_begin();
    bool     known;

    if (!hearthi_world.multiple &&
        hearthi_thread() != hearthi_world.main_thread)
        hearthi_fatal("page fault",
                      "address %p was touched by a thread other than the one "
                      "that called hearth_init: initialise MPI with "
                      "MPI_THREAD_MULTIPLE",
                      addr);
    hearthi_table_lock();
    known = fault_serve(hearthi_page_of(addr), write);
    hearthi_table_unlock();
    if (known) {
        if (write)
            hearthi_count(write_faults, 1);
        else
            hearthi_count(read_faults, 1);
    }
    hearthi_time_end(fault_ns, start);
    return known;
}
