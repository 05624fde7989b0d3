/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fetching what a caller names: a range, or several.
 */
#include "config.h"

#include "base/min.h"
#include "base/mutex.h"
#include "evict.h"
#include "fetch.h"
#include "fetch_round.h"
#include "node_cache.h"
#include "page.h"
#include "reuse_prefetch.h"

/* Show pages that were brought in advance; how many to go on. */
static uint64_t
here_show(uint64_t page, uint64_t end)
{
    uint64_t n = 1;

    if (hearthi_table.state[page] == HEARTHI_IN_FLIGHT &&
        hearthi_reuse_prefetch_brings(page))
        hearthi_reuse_prefetch_finish();
    if (hearthi_table.state[page] == HEARTHI_PREFETCHED) {
        n = hearthi_run_length(page, end - page, HEARTHI_PREFETCHED);
        hearthi_reuse_prefetch_show(page, n, false);
    }
    return n;
}

/* What is done about pages that another rank of the node is fetching. */
enum others { WITH_THEM, PASS_BY, STOP };

struct range {
    uint64_t    page, end; /* what is left of it */
    enum others others;
    bool        late; /* pages were passed by */
};

/* Most pages of a message round: no more than half the cache, or the end would
 * push out the beginning. */
static uint64_t
round_begin(struct hearthi_fetch_round *b)
{
    uint64_t most = hearthi_copies_most(); /* others may pin more */

    hearthi_fetch_round_init(b);
    hearthi_copies_reserve(most);
    return most;
}

/* Add invalid pages of a range to a round.  False if there is room for no
 * more, or it must end before what another rank of the node is fetching. */
static bool
range_gather(struct hearthi_fetch_round *b, uint64_t most, struct range *r)
{
    uint64_t n;

    for (; r->page < r->end; r->page += n) {
        if (b->n >= HEARTHI_RUNS || b->pages >= most)
            return false;
        n = 1;
        if (hearthi_state_of(r->page) != HEARTHI_INVALID) {
            n = here_show(r->page, r->end);
            continue;
        }
        if (r->others != WITH_THEM && hearthi_node_cache_fetch(r->page)) {
            r->late = true;
            if (r->others == STOP)
                return false;
            continue;
        }
        n = hearthi_min(r->end - r->page, most - b->pages);
        n = hearthi_run_length(r->page, n, HEARTHI_INVALID);
        n = r->others == WITH_THEM ? hearthi_fetch_round_add(b, r->page, n)
                                   : hearthi_fetch_round_claim(b, r->page, n);
    }
    return true;
}

/* Bring what was gathered, of `left` pages that may come in all. */
static void
round_end(struct hearthi_fetch_round *b, bool alone, uint64_t *left)
{
    if (b->n == 0)
        return;
    *left -= hearthi_min(*left, b->pages);
    hearthi_fetch_round_bring(b, alone);
    hearthi_fetch_show(b);
    hearthi_node_copy_end(&b->rest);
}

/* What others were fetching comes last. */
static void
late_bring(struct range r, bool alone, uint64_t *left)
{
    struct hearthi_fetch_round b;

    r.others = STOP;
    while (*left > 0 && r.page < r.end) {
        if (hearthi_fetch_await(r.page))
            continue;
        range_gather(&b, round_begin(&b), &r);
        round_end(&b, alone, left);
    }
}

static struct range
range_of(const struct hearthi_pages *run, bool alone)
{
    return (struct range){ run->page, run->page + run->count,
                           alone ? WITH_THEM : PASS_BY, false };
}

/* Some pages of a round may be at home in several ranks, and lie anywhere. The
 * lock is given back while they come: so a run is looked at again where the
 * round before has ended in it. */
static void
runs_fetch(const struct hearthi_pages *run, size_t n, bool alone)
{
    uint64_t     left = 2 * hearthi_copies_most();
    size_t       i = 0;
    struct range r = range_of(run, alone);
    bool         late = false;

    while (i < n && left > 0) {
        struct hearthi_fetch_round b;
        uint64_t                   most = round_begin(&b);

        while (i < n && range_gather(&b, most, &r)) {
            late |= r.late;
            if (++i < n)
                r = range_of(&run[i], alone);
        }
        late |= r.late;
        round_end(&b, alone, &left);
    }
    for (i = 0; late && i < n && left > 0; i++)
        late_bring(range_of(&run[i], alone), alone, &left);
}

void
hearthi_fetch_range(uint64_t page, uint64_t count, bool alone)
{
    runs_fetch(&(struct hearthi_pages){ page, count }, 1, alone);
}

void
hearthi_fetch_ranges(const struct hearthi_pages *run, size_t n)
{
    runs_fetch(run, n, false);
}
