/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Home pages without cost.
 *
 * A home page that no other node ever fetched is plain memory to the ranks of
 * its node.  Since a one-sided fetch is not seen by the home, the fetching
 * rank sets the page's sharer flag in the same flush as its first fetch, and
 * drops that first copy at its next acquire.  At each release a co-home looks
 * at the flags: a page that is flagged for the first time is reported as
 * written and write-protected; from then on a write fault is what reports it.
 *
 * Why that is enough: a copy that survives an acquire was fetched by a rank
 * whose flag had arrived before (the first copy did not survive).  So the flag
 * was visible before any write that the copy misses, and hence at the
 * writer's next release, which reports the page.  tests/model walks all
 * interleavings; each rule below has a switch there that breaks it.
 *
 * Looking at flags must cost nothing while there are no new ones.  So after
 * the acquire that drops first copies, and before it fetches from their homes
 * what may survive the next, the rank tells each that new flags have arrived,
 * by a word of its own there that never holds the same value twice; co-homes
 * scan the flags when a word has changed. That is early enough: a copy that
 * survives was fetched after the word was changed, and the word was changed
 * after the flags had arrived.  The scan itself goes through a summary byte
 * for 64 flags, put with them in one flush in any order; one whose 64 flags
 * have all been seen is not looked at again.
 *
 * Ranks leave hearth_alloc and hearth_free one after the other, and another
 * thread may release meanwhile.  So a flag may be set, and told of, for a page
 * that has no place in this rank's table yet: such a flag does not count as
 * seen, and the first release after a page was placed looks at the flags
 * whether a word has changed or not.  That is early enough, since no thread of
 * this rank writes the page before it is placed: what was told before that
 * look is found by it, and what is told later changes a word after it.  In the
 * same way a rank that has freed a page and forgotten its flag may find it
 * still set, since only the page's home clears it, some time before
 * hearth_free ends: it has no page then, and does not count as seen either.
 *
 * A page that is reported once to be safe costs each reader its second copy,
 * too.  So where some rank has many first copies to drop at a barrier, all
 * co-homes arm what is flagged as they leave it, and do not report it; then
 * all ranks meet once more, and copies that are fetched from then on stay.
 * What could miss a store that is not reported?  A copy that was fetched
 * before its page was armed, and survives its rank's next acquire.  It is no
 * first one, so its rank had told this home before it fetched it.  So a word
 * had changed before the page was armed; hence the look behind the arming and
 * a fence sees it, and the page is reported at this rank's next release.  A
 * copy that is fetched later has all stores that were before the arming, since
 * stores under way have ended when the protection has changed; and those
 * behind it fault, and are reported.  This holds without the meeting, and for
 * threads that store, release or fetch beside the barrier: the meeting only
 * makes the next fetch come late enough (tests/model, --arm).
 */
#include "config.h"

#include "coherence.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mutex.h"
#include "base/report.h"
#include "base/test_limits.h"
#include "cluster.h"
#include "home/migration_frames.h"
#include "page/copies.h"
#include "page/evict.h"
#include "page/page.h"
#include "page/pin_count.h"
#include "space/segment.h"
#include "world.h"

/* Of each segment of this node: the flags that were seen, and which summary
 * bytes stand for 64 seen ones. */
static uint8_t **seen, **full;

/* The words of each segment as they were at its last scan, and whether pages
 * were placed in it since. */
static uint64_t (*told)[HEARTHI_TOLD];
static bool *placed;

static size_t
summary_bytes(void)
{
    return hearthi_segments.frames / HEARTHI_SUMMARY + 64;
}

void
hearthi_sharer_flags_open(void)
{
    size_t n = (size_t)hearthi_cluster.node_size;

    seen = calloc(n, sizeof *seen);
    full = calloc(n, sizeof *full);
    told = calloc(n, sizeof *told);
    placed = calloc(n, sizeof *placed);
    if (seen == NULL || full == NULL || told == NULL || placed == NULL)
        hearthi_fatal("hearth_init", "no memory");
    for (size_t r = 0; r < n; r++) {
        seen[r] = hearthi_sparse(hearthi_segments.summary_at);
        full[r] = hearthi_sparse(summary_bytes());
    }
}

void
hearthi_sharer_flags_close(void)
{
    for (int r = 0; r < hearthi_cluster.node_size; r++) {
        hearthi_sparse_free(seen[r], hearthi_segments.summary_at);
        hearthi_sparse_free(full[r], summary_bytes());
    }
    free(seen);
    free(full);
    free(told);
    free(placed);
}

/* Home pages of consecutive numbers that were flagged just now; and, where
 * they are not reported, runs of the frames of a segment that were so.  Of
 * more than that the last run says more. */
enum { QUIET = HEARTHI_TEST_LIMIT(64, 2) };

struct flagged {
    uint64_t page, count;
    bool     is_quiet;
    size_t   n;
    struct {
        size_t frame, count;
    } quiet[QUIET];
};

/* A page that is pinned for writing must stay open, and is as one that was
 * written: it counts at each release (interval.c), so nothing is missed. */
static enum hearthi_state
tracked_state(uint64_t page)
{
    return hearthi_is_pinned_open(page) ? HEARTHI_HOME_DIRTY
                                        : HEARTHI_HOME_ARMED;
}

static void
pages_list(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++)
        hearthi_list(p);
}

/* Frames come in their order. */
static void
quiet_add(struct flagged *f, size_t frame)
{
    size_t last = f->n - 1;

    if (f->n > 0 && (f->n == QUIET ||
                     f->quiet[last].frame + f->quiet[last].count == frame)) {
        f->quiet[last].count = frame + 1 - f->quiet[last].frame;
        return;
    }
    f->quiet[f->n].frame = frame;
    f->quiet[f->n++].count = 1;
}

static void
quiet_report(int r, const struct flagged *f)
{
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->quiet[i].count; k++) {
            size_t   frame = f->quiet[i].frame + k;
            uint64_t page = seen[r][frame] != 0 ? hearthi_page_in(r, frame)
                                                : HEARTHI_NO_PAGE;

            if (page != HEARTHI_NO_PAGE)
                hearthi_list(page);
        }
}

/* Track these from now on.  A page whose mapping was given up will be mapped
 * as tracked. */
static void
flagged_arm(struct flagged *f)
{
    for (uint64_t p = f->page; p < f->page + f->count; p++) {
        hearthi_touch(p);
        HEARTHI_ASSERT(hearthi_is_home(hearthi_page_place_of(p)->state));
        HEARTHI_ASSERT(!(hearthi_table.mark[p] & HEARTHI_TRACKED) ||
                       hearthi_state_of(p) != HEARTHI_HOME_OPEN);
        hearthi_table.mark[p] |= HEARTHI_TRACKED;
    }
    if (!f->is_quiet) /* once, to be safe */
        pages_list(f->page, f->count);
    for (uint64_t p = f->page, n; p < f->page + f->count; p += n) {
        enum hearthi_state to = tracked_state(p);

        n = 1;
        hearthi_copies_reserve(0); /* arming splits mappings */
        if (hearthi_state_of(p) != HEARTHI_HOME_OPEN)
            continue;
        while (p + n < f->page + f->count &&
               hearthi_state_of(p + n) == HEARTHI_HOME_OPEN &&
               tracked_state(p + n) == to)
            n++;
        if (to == HEARTHI_HOME_DIRTY)
            pages_list(p, n);
        hearthi_pages_set(p, n, to);
    }
    f->count = 0;
}

static void
flagged_add(struct flagged *f, uint64_t page, size_t frame)
{
    if (f->is_quiet)
        quiet_add(f, frame);
    if (f->count > 0 && f->page + f->count != page)
        flagged_arm(f);
    if (f->count == 0)
        f->page = page;
    f->count++;
}

/* Relaxed, as is the summary: the fences of told_changed() and of who calls it
 * order these loads. */
static uint64_t
word_at(const void *p)
{
    return __atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED);
}

/* The 64 flags of one summary byte. */
static void
block_scan(int r, size_t block, struct flagged *f)
{
    const char *flags = hearthi_segments.base[r];
    size_t      first = block * HEARTHI_SUMMARY;
    size_t      all = 0;

    for (size_t i = first; i < first + HEARTHI_SUMMARY; i += 8) {
        uint64_t now = word_at(flags + i);

        if (now == word_at(seen[r] + i)) {
            all += now == UINT64_C(0x0101010101010101);
            continue;
        }
        for (size_t k = i; k < i + 8; k++) {
            uint8_t  bit = (uint8_t)(now >> (8 * (k - i)));
            uint64_t page =
                bit == seen[r][k] ? HEARTHI_NO_PAGE : hearthi_page_in(r, k);

            if (page == HEARTHI_NO_PAGE)
                continue;
            HEARTHI_ASSERT(bit <= 1 && k < hearthi_segments.frames);
            seen[r][k] = bit;
            if (bit != 0)
                flagged_add(f, page, k);
        }
    }
    if (all == HEARTHI_SUMMARY / 8)
        full[r][block] = 1;
}

/* Has a rank told of new flags since the last scan, or may we have looked too
 * early at the time? */
static bool
told_changed(int r)
{
    const char *words = hearthi_segments.base[r] + hearthi_segments.told_at;
    uint64_t    changed = placed[r];

    for (size_t i = 0; i < HEARTHI_TOLD; i++)
        changed |= word_at(words + i * sizeof changed) ^ told[r][i];
    if (changed == 0)
        return false;
    placed[r] = false;
    for (size_t i = 0; i < HEARTHI_TOLD; i++)
        told[r][i] = word_at(words + i * sizeof changed);
    /* The flags were there before the word: so read them after it. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return true;
}

static void
segment_scan(int r, struct flagged *f)
{
    const char *summary =
        hearthi_segments.base[r] + hearthi_segments.summary_at;
    size_t blocks = hearthi_page_map_top(r) / HEARTHI_SUMMARY + 1;

    for (size_t b = 0; b < blocks; b += 8) {
        if (word_at(summary + b) == word_at(full[r] + b))
            continue;
        for (size_t k = b; k < b + 8; k++)
            if (__atomic_load_n(summary + k, __ATOMIC_RELAXED) && !full[r][k])
                block_scan(r, k, f);
    }
}

void
hearthi_sharer_flags_scan(void)
{
    struct flagged f; /* most of it is for those that are quiet */

    HEARTHI_ASSERT_HAS(TABLE);
    f.count = f.n = 0;
    f.is_quiet = false;
    /* Our stores must be seen before we look: else a reader could miss the
     * store while we miss its word, each in the other's store buffer. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int r = 0; r < hearthi_cluster.node_size; r++)
        if (told_changed(r))
            segment_scan(r, &f);
    if (f.count > 0)
        flagged_arm(&f);
}

/* Of one segment: as at a release if a rank has told of new flags. */
static void
segment_arm(int r, struct flagged *f)
{
    f->n = 0;
    f->is_quiet = !told_changed(r);
    segment_scan(r, f);
    if (f->count > 0)
        flagged_arm(f);
    if (f->n == 0)
        return;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!told_changed(r))
        return;
    quiet_report(r, f);
    f->is_quiet = false;
    segment_scan(r, f);
    if (f->count > 0)
        flagged_arm(f);
}

void
hearthi_sharer_flags_arm(void)
{
    struct flagged f = { 0 };

    HEARTHI_ASSERT_HAS(TABLE);
    for (int r = 0; r < hearthi_cluster.node_size; r++)
        segment_arm(r, &f);
}

/* The node rank at which a piece is at home, or -1. */
static int
local_home(const struct hearthi_piece *p)
{
    return hearthi_home_is_near((int)p->home)
               ? hearthi_world.node_rank_of[p->home]
               : -1;
}

void
hearthi_sharer_flags_expect_at(const struct hearthi_piece *p)
{
    int r = local_home(p);

    HEARTHI_ASSERT_HAS(TABLE);
    if (r >= 0)
        placed[r] = true;
}

void
hearthi_sharer_flags_expect(const struct hearthi_allocation *a)
{
    for (size_t i = 0; i < a->pieces; i++)
        hearthi_sharer_flags_expect_at(&a->piece[i]);
}

void
hearthi_sharer_flags_forget_at(const struct hearthi_piece *p)
{
    int      r = local_home(p);
    uint64_t last = (p->frame + p->count - 1) / HEARTHI_SUMMARY;
    uint64_t first = p->frame / HEARTHI_SUMMARY;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(p->frame + p->count <= hearthi_segments.frames);
    if (r < 0)
        return;
    hearthi_sparse_clear(seen[r] + p->frame, p->count);
    hearthi_sparse_clear(full[r] + first, last - first + 1);
}

void
hearthi_sharer_flags_forget(const struct hearthi_allocation *a)
{
    for (size_t i = 0; i < a->pieces; i++)
        hearthi_sharer_flags_forget_at(&a->piece[i]);
    for (size_t i = 0; a->migration != NULL && i < a->migration->n; i++)
        hearthi_sharer_flags_forget_at(&a->migration->piece[i]);
}
