/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "replace.h"

#include "base/least.h"
#include "base/stat.h"
#include "copies.h"
#include "diffs.h"
#include "frames.h"
#include "held.h"
#include "page.h"

enum { BATCH = 256 };

/* Frames that are not kept by copies that are held, or are about to be. */
static uint64_t
frames_free_to_go(void)
{
    uint64_t kept = hearthi_held.copies + hearthi_held.wanted;

    return hearthi_frames_bound() - hearthi_least(kept, hearthi_frames_bound());
}

uint64_t
hearthi_copies_most(void)
{
    uint64_t most = frames_free_to_go() / 4;

    return most > 0 ? most : 1;
}

/* Pages that have no copy but kept their frame show their own place again. */
static void
views_restore(const hearthi_page *victim, size_t n)
{
    const struct hearthi_table *t = &hearthi_table;

    for (size_t i = 0; i < n; i++)
        if (t->state[victim[i]] == HEARTHI_INVALID && t->shown[victim[i]] != 0)
            hearthi_pages_set(victim[i], 1, HEARTHI_INVALID);
}

/* Take up to max frames from their pages.  In this order: no page's view shows
 * them, what was changed in them has arrived, and only then may they belong to
 * others.  Nobody else sends from a frame, or receives into one, when this is
 * done: diffs have arrived before the table lock is free again, and pages on
 * their way are no victims. */
static size_t
evict(size_t max)
{
    hearthi_page victim[BATCH];
    size_t       n = hearthi_frames_victims(victim, max < BATCH ? max : BATCH);
    uint64_t     dropped = 0;

    /* A release that is under way may have gathered bytes of a victim that
     * stays open, and other threads have written them again. */
    hearthi_diff_end();
    for (size_t i = 0, run; i < n; i += run) {
        run = hearthi_pages_in_row(victim, n, i);
        dropped += hearthi_copies_drop_begin(victim[i], run);
    }
    views_restore(victim, n);
    hearthi_diff_end();
    hearthi_frames_give(victim, n);
    hearthi_count(evictions, dropped);
    return n;
}

/* A run of mapped home pages that is one mapping of the kernel and may go:
 * what is held stays. */
static uint64_t
home_run(uint64_t page)
{
    const uint8_t *state = hearthi_table.state;
    uint64_t       n = 1;

    while (page + n < hearthi_table.top && state[page + n] == state[page] &&
           !hearthi_is_held(page + n) && hearthi_follows(page + n - 1))
        n++;
    return n;
}

/* Home pages keep their frames; what is given up is the mapping, of short
 * runs in the order of their addresses, from behind the last one that was.
 * Long runs stay: they are few. */
static void
homes_give_up(uint64_t want)
{
    static uint64_t hand;
    const uint8_t  *state = hearthi_table.state;
    uint64_t        seen = 0, run;

    for (; want > 0 && seen < hearthi_table.top; seen += run, hand += run) {
        if (hand >= hearthi_table.top)
            hand = 0;
        run = 1;
        if (!hearthi_is_home(state[hand]) ||
            state[hand] == HEARTHI_HOME_AWAY || hearthi_is_held(hand))
            continue;
        run = home_run(hand);
        if (run > HEARTHI_HOME_RUN)
            continue;
        hearthi_pages_set(hand, run, HEARTHI_HOME_AWAY);
        want--;
    }
}

void
hearthi_home_back(uint64_t page, bool write)
{
    const uint8_t *mark = hearthi_table.mark;
    const uint8_t  which = HEARTHI_TRACKED | HEARTHI_LISTED;
    uint64_t n = hearthi_run_length(page, HEARTHI_HOME_RUN, HEARTHI_HOME_AWAY);

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

/* Copies first: they can be fetched again.  A quarter more than needed goes,
 * so that the next fault finds room. */
static void
areas_relieve(void)
{
    struct hearthi_table *t = &hearthi_table;
    long                  goal = t->areas_max - t->areas_max / 8;

    while (t->areas > goal && evict(BATCH) > 0)
        ;
    while (t->areas > goal) {
        long before = t->areas;

        homes_give_up(BATCH);
        if (t->areas >= before)
            break;
    }
}

void
hearthi_copies_reserve(uint64_t count)
{
    uint64_t bound = hearthi_frames_bound(), n;
    size_t   spare = frames_free_to_go() / 16;

    while ((n = hearthi_frames_given()) + count > bound) {
        size_t want = (size_t)(n + count - bound);

        if (evict(want + (spare < BATCH / 2 ? spare : BATCH / 2)) == 0)
            break; /* what has a frame is held */
    }
    if (hearthi_areas_short())
        areas_relieve();
}
