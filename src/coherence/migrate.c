/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages that move to the node that writes them alone, and pages that are at
 * home there and become new: no rank has a copy of them any more
 * (sharer_flags.c).
 *
 * Other threads of all ranks go on meanwhile: they fault, synchronise, pin.
 * So a page moves in these steps, which all ranks make together:
 *
 *   1. All are told what each asks for.
 *   2. Each rank freezes these pages (page/migration_freeze.h): no thread of
 *      it sees one, or has a request for one on its way; what it has changed
 *      in copies has arrived at the old home; what its threads stored in a
 *      home frame, and told no rank of, it will tell of at its next release,
 *      as it would have.  It refuses what it cannot freeze: pages that are
 *      pinned, on their way, in an atomic step, or that another thread of it
 *      has not placed yet.
 *   3. All are told what was refused, and of which pages some rank has a copy.
 *      Now the old frame has all that was ever stored in the page, and no rank
 *      reads or writes it any more.
 *   4. The rank that asked brings the content to the new frame, of those that
 *      are kept for that (home/migration_frames.h), which all ranks take in
 *      the same order.
 *   5. All know that this is done.  Each rank notes the new home, and the page
 *      is what it was to it, or at home, or not any more.  The old frame is
 *      free for other pages: what was on its way to it had arrived in step 2.
 *
 * A page of which no rank has a copy is as one that was just placed: no rank's
 * sharer flag counts at its new home, so each sets it with its first fetch
 * from there (sharer_flags.c).  Of one that is shared copies stay, also first
 * ones, which the next acquire drops: the new home tells of every store to it
 * from the first on, whichever ranks have set flags.  What the old home's
 * ranks stored without telling is in no copy that survives, or is told of:
 * after they see the page no more they look at their flags, as at a release,
 * and a flag that is set later is one of a copy that is a first one.
 *
 * A page that becomes new goes the same way, and stays in its frame.  If no
 * rank of another node has a copy in step 3, its home clears the sharer flag
 * before step 5: no rank has a fetch on its way then that sets it, and each
 * that fetches the page later sets it again, as for a page that was just
 * placed.  Of its home's stores from then on no rank is told until it is seen.
 *
 * tests/model/move.c walks every order of these steps, beside a thread of each
 * rank that uses the page, and has a switch that breaks each rule.
 */
#include "config.h"

#include "migrate.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/min.h"
#include "base/mutex.h"
#include "base/report.h"
#include "base/stat.h"
#include "coherence.h"
#include "home/migration_frames.h"
#include "migrate_request.h"
#include "page/copies.h"
#include "page/diffs.h"
#include "page/fork_child.h"
#include "page/migration_freeze.h"
#include "page/page.h"
#include "page/page_map.h"
#include "page/reuse_prefetch.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "world.h"

/* Pages that follow each other, with frames that do. */
struct moving {
    uint64_t page, count;
    uint32_t home, frame;
};

static struct {
    struct moving *moving;
    size_t         n, room;
    bool           unshares;
} m;

/* ---- freezing ---- */

static bool
has_at_home(const struct hearthi_migrate_vote *w,
            const struct hearthi_page_place   *r)
{
    return hearthi_world.node_of[r->home] == hearthi_world.node_of[w->by];
}

/* The rank that has the first page at home asks for pages to become new.  All
 * ranks know that alike of what no rank has refused. */
static bool
is_unshared(const struct hearthi_migrate_vote *w)
{
    return has_at_home(w, hearthi_page_place_of(w->page));
}

/* Is only a part of these at home on the node that asks, or are they in no
 * allocation, or one whose pages do not move? */
static bool
is_vain(const struct hearthi_migrate_vote *w)
{
    const struct hearthi_allocation *a = hearthi_allocation_of(w->page);
    uint64_t                         end = w->page + w->count;

    bool near;

    if (a == NULL || end > a->page + a->pages)
        return true;
    near = is_unshared(w);
    if (!near && a->migration == NULL)
        return true;
    for (uint64_t p = w->page; p < end;) {
        const struct hearthi_page_place *r = hearthi_page_place_of(p);

        if (has_at_home(w, r) != near)
            return true;
        p = r->page + r->count;
    }
    return false;
}

static void
request_freeze(const struct hearthi_migrate_vote *w)
{
    bool full =
        w->by == hearthi_world.rank && !hearthi_segments_have(w->count);

    if (is_vain(w) || (full && !is_unshared(w)) ||
        !hearthi_migration_freeze(w->page, w->count))
        hearthi_migrate_vote_refuse(w);
}

static void
request_look(const struct hearthi_migrate_vote *w)
{
    if (hearthi_migrate_vote_is_refused_here(w))
        return;
    hearthi_migration_freeze_note(w->page, w->count);
    if (hearthi_world.node_of[w->by] == hearthi_world.node)
        return;
    for (uint64_t p = w->page; p < w->page + w->count; p++)
        if (hearthi_was_copy(p))
            hearthi_migrate_vote_share(p);
}

/* Pages are protected before flags are looked at: so what is stored after that
 * look is stored after the page is thawed. */
static void
all_freeze(void)
{
    hearthi_table_lock();
    hearthi_reuse_prefetch_finish(); /* what is on its way would be refused */
    hearthi_migrate_vote_each(request_freeze);
    hearthi_diff_end();
    hearthi_sharer_flags_scan();
    hearthi_migrate_vote_each(request_look);
    hearthi_table_unlock();
    atomic_thread_fence(memory_order_seq_cst); /* stores to home frames */
}

/* ---- bringing ---- */

static void
moving_add(struct moving to)
{
    m.moving = hearthi_grown(m.moving, m.n, sizeof to, &m.room);
    m.moving[m.n++] = to;
}

static void
content_bring(const struct moving *to)
{
    char *at = hearthi_segments.base[hearthi_world.node_rank_of[to->home]] +
               hearthi_frame_at(to->frame, hearthi_heap.shift);
    uint64_t end = to->page + to->count;

    for (uint64_t p = to->page, n; p < end; p += n) {
        struct hearthi_fetch f = { .page = p, .to = at };

        f.home = hearthi_home_of(p);
        f.frame = hearthi_home_frame_of(p);
        n = hearthi_page_place_of(p)->page + hearthi_page_place_of(p)->count -
            p;
        n = hearthi_min(n, end - p);
        f.count = (uint32_t)n;
        HEARTHI_ASSERT(n > 0 && hearthi_is_frozen(p));
        hearthi_transport->data.fetch(&f, 1);
        at += n << hearthi_heap.shift;
    }
}

/* No rank fetches one of these now, nor has a copy. */
static void
flags_clear(const struct hearthi_migrate_vote *w)
{
    for (uint64_t p = w->page; p < w->page + w->count; p++) {
        if (hearthi_migrate_vote_is_shared(p))
            continue;
        m.unshares = true;
        if (hearthi_home_of(p) == hearthi_world.rank)
            hearthi_segment_unflag(hearthi_home_frame_of(p), 1);
    }
}

/* What finds no frame stays. */
static void
request_bring(const struct hearthi_migrate_vote *w)
{
    struct hearthi_allocation *a;
    uint64_t                   end = w->page + w->count, n, frame;

    if (hearthi_migrate_vote_is_refused(w))
        return;
    if (is_unshared(w)) {
        flags_clear(w);
        return;
    }
    a = hearthi_allocation_of(w->page);
    HEARTHI_ASSERT(a != NULL && a->migration != NULL);
    for (uint64_t p = w->page; p < end; p += n) {
        struct moving to = { .page = p, .home = (uint32_t)w->by };

        n = hearthi_migration_frames_pick(a, &to.home, end - p, &frame);
        if (n == 0)
            break;
        to.count = n;
        to.frame = (uint32_t)frame;
        moving_add(to);
        if (w->by == hearthi_world.rank)
            content_bring(&to);
    }
}

/* The fences: what was brought comes before the message of each, and loads of
 * it behind the messages of all. */
static void
all_bring(void)
{
    uint8_t done = 0;

    hearthi_table_lock();
    hearthi_migrate_vote_each(request_bring);
    hearthi_table_unlock();
    if (m.n == 0 && !m.unshares)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    hearthi_barrier_or(&done, sizeof done);
    atomic_thread_fence(memory_order_seq_cst);
}

/* ---- thawing ---- */

/* Frames that pages have left are for others of their allocation. */
static void
frames_leave(struct hearthi_allocation *a, struct hearthi_piece p)
{
    hearthi_extents_give(&a->migration->free[p.home], p.frame, p.count);
    hearthi_sharer_flags_forget_at(&p);
    if ((int)p.home != hearthi_world.rank)
        return;
    hearthi_segment_unflag(p.frame, p.count);
    if (!hearthi_transport->registers())
        hearthi_segment_clear(p.frame, p.count, false);
}

static void
moving_end(const struct moving *to)
{
    struct hearthi_allocation *a = hearthi_allocation_of(to->page);
    uint64_t                   end = to->page + to->count;

    HEARTHI_ASSERT(a != NULL && a->migration != NULL);
    HEARTHI_ASSERT(end <= a->page + a->pages && hearthi_is_frozen(to->page));
    hearthi_fork_reuse();
    for (uint64_t p = to->page, n; p < end; p += n) {
        struct hearthi_page_place r = *hearthi_page_place_of(p);

        n = hearthi_min(end, r.page + r.count) - p;
        frames_leave(a, (struct hearthi_piece){
                            0, n, r.home, (uint32_t)(r.frame + p - r.page) });
    }
    hearthi_page_map_move(to->page, to->count, to->home, to->frame);
    hearthi_sharer_flags_expect_at(
        &(struct hearthi_piece){ 0, to->count, to->home, to->frame });
    hearthi_thaw_moved(to->page, to->count, hearthi_migrate_vote_is_shared);
    hearthi_migrate_requests_done(to->page, to->count);
}

static void
unshared_end(const struct hearthi_migrate_vote *w)
{
    uint64_t end = w->page + w->count, renewed = 0;

    for (uint64_t p = w->page, n; p < end; p += n) {
        struct hearthi_page_place r = *hearthi_page_place_of(p);
        uint64_t most = hearthi_min(end, r.page + r.count) - p;
        bool     shared = hearthi_migrate_vote_is_shared(p);

        for (n = 1;
             n < most && hearthi_migrate_vote_is_shared(p + n) == shared; n++)
            ;
        if (shared) {
            hearthi_thaw_stayed(p, n);
        } else {
            struct hearthi_piece at = { 0, n, r.home,
                                        (uint32_t)(r.frame + p - r.page) };

            hearthi_sharer_flags_forget_at(&at);
            hearthi_sharer_flags_expect_at(&at);
            hearthi_thaw_moved(p, n, hearthi_migrate_vote_is_shared);
            renewed += n;
        }
    }
    hearthi_migrate_requests_done(w->page, w->count);
    if (w->by == hearthi_world.rank)
        hearthi_count(renewed, renewed);
}

/* The rank that asked counts the pages that moved, from its request's first up
 * to this one, and those behind that did not. */
static void
request_count(const struct hearthi_migrate_vote *w, uint64_t page,
              uint64_t end, bool refused)
{
    if (w->by != hearthi_world.rank)
        return;
    hearthi_migrate_requests_done(page, end - page);
    if (refused && hearthi_is_home(hearthi_state_of(w->page)))
        return;
    hearthi_count(moves, page - w->page);
    hearthi_count(moves_refused, end - page);
}

/* Those of what moves that begin with a request's pages: they are in the order
 * of requests.  A request that was refused has none: what begins with its
 * first page is of a later request, which no rank refused since all had
 * refused this one.  Taken here, that would be thawed by the answers to this
 * request, and once more when its own comes, as a page that is at home with
 * who asks. */
static void
request_end(const struct hearthi_migrate_vote *w)
{
    uint64_t page = w->page, end = page + w->count;
    bool     refused = hearthi_migrate_vote_is_refused(w);

    if (!refused && is_unshared(w)) {
        unshared_end(w);
        return;
    }
    for (; !refused && m.n > 0 && m.moving->page == page && page < end;
         m.n--, m.moving++) {
        moving_end(m.moving);
        page += m.moving->count;
    }
    if (page < end && !hearthi_migrate_vote_is_refused_here(w))
        hearthi_thaw_stayed(page, end - page);
    request_count(w, page, end, refused);
}

static void
all_thaw(void)
{
    struct moving *list = m.moving;

    hearthi_table_lock();
    hearthi_migrate_vote_each(request_end);
    HEARTHI_ASSERT(m.n == 0);
    hearthi_migration_freeze_end();
    hearthi_table_unlock();
    free(list);
    memset(&m, 0, sizeof m);
}

/* ---- all of it ---- */

void
hearthi_migrate(void)
{
    HEARTHI_ASSERT_HAS_NOT(TABLE);
    if (!hearthi_migrate_vote_begin())
        return;
    all_freeze();
    hearthi_migrate_vote_agree();
    all_bring();
    all_thaw();
    hearthi_migrate_vote_end();
}
