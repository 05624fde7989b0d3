/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages that move to the node that writes them alone.
 *
 * Other threads of all ranks go on meanwhile: they fault, synchronise, hold.
 * So a page moves in these steps, which all ranks make together:
 *
 *   1. All are told what each asks for.
 *   2. Each rank freezes these pages (page/freeze.h): no thread of it sees
 *      one, or has a request for one on its way; what it has changed in
 *      copies has arrived at the old home; what its threads stored in a home
 *      frame, and told nobody of, it will tell of at its next release, as it
 *      would have.
 *      It refuses what it cannot freeze: pages that are held, on their way, in
 *      an atomic step, or that another thread of it has not placed yet.
 *   3. All are told what was refused, and of which pages somebody has a copy.
 *      Now the old frame has all that was ever stored in the page, and nobody
 *      reads or writes it any more.
 *   4. Who asked brings the content to the new frame, of those that are kept
 *      for that (home/spare.h), which all ranks take in the same order.
 *   5. All know that this is done.  Each rank notes the new home, and the page
 *      is what it was to it, or at home, or not any more.  The old frame is
 *      free for other pages: what was on its way to it had arrived in step 2.
 *
 * A page of which nobody has a copy is as one that was just placed: no rank's
 * shared flag counts at its new home, so each sets it with its first fetch
 * from there (shared.c).  Of one that is shared copies stay, also first ones,
 * which the next acquire drops: the new home tells of every store to it from
 * the first on, whoever has set flags.  What the old home's ranks stored
 * without telling is in no copy that survives, or is told of: after they see
 * the page no more they look at their flags, as at a release, and a flag that
 * is set later is one of a copy that is a first one.
 *
 * tests/model/move.c walks every order of these steps, beside a thread of each
 * rank that uses the page, and has a switch that breaks each rule.
 */
#include "config.h"

#include "move.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "base/least.h"
#include "base/report.h"
#include "base/stat.h"
#include "home/spare.h"
#include "page/copies.h"
#include "page/diffs.h"
#include "page/freeze.h"
#include "page/page.h"
#include "page/predict.h"
#include "shared.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "wish.h"
#include "world.h"

/* Pages that follow each other, with frames that do. */
struct moving {
    uint64_t page, count;
    uint32_t home, frame;
};

/* What a rank asks for: the i-th of all, before which there are so many pages.
 */
struct wish {
    size_t   i, before;
    uint64_t page, count;
    int      by;
};

static struct {
    uint32_t            *asked; /* of each rank: how many runs */
    struct hearthi_wish *run;   /* and these, of each so many at most */
    size_t               most;
    uint8_t             *said, *own; /* refused runs; shared pages */
    size_t               runs, pages;
    struct moving       *moving;
    size_t               n, room;
    const struct wish   *now;
} m;

static void *
memory(size_t bytes)
{
    void *p = calloc(bytes, 1);

    if (p == NULL)
        hearthi_fatal("hearth_barrier", "no memory to move pages");
    return p;
}

/* ---- wishes and their bits ---- */

static void
bit_set(uint8_t *bits, size_t i)
{
    bits[i / 8] |= (uint8_t)(1 << i % 8);
}

static bool
bit_is(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static size_t
shared_bit(uint64_t page)
{
    return m.runs + m.now->before + (size_t)(page - m.now->page);
}

static bool
is_shared(uint64_t page)
{
    return bit_is(m.said, shared_bit(page));
}

static size_t
bits_bytes(void)
{
    return (m.runs + m.pages + 7) / 8;
}

typedef void wish_do(const struct wish *w);

static void
wishes_each(wish_do *f)
{
    struct wish w = { 0 };

    m.now = &w;
    for (w.by = 0; w.by < hearthi_world.size; w.by++)
        for (uint32_t k = 0; k < m.asked[w.by]; k++) {
            const struct hearthi_wish *r = &m.run[(size_t)w.by * m.most + k];

            w.page = r->page;
            w.count = r->count;
            f(&w);
            w.i++;
            w.before += w.count;
        }
}

static void
wish_count(const struct wish *w)
{
    m.runs = w->i + 1;
    m.pages = w->before + w->count;
}

/* ---- freezing ---- */

/* Has the node of a rank any of these at home, or are they in no allocation
 * whose pages may move? */
static bool
is_vain(const struct wish *w)
{
    const struct hearthi_allocation *a = hearthi_allocation_of(w->page);
    uint64_t                         end = w->page + w->count;

    if (a == NULL || a->spare == NULL || end > a->page + a->pages)
        return true;
    for (uint64_t p = w->page; p < end;) {
        const struct hearthi_place *r = hearthi_place_of(p);

        if (hearthi_world.node_of[r->home] == hearthi_world.node_of[w->by])
            return true;
        p = r->page + r->count;
    }
    return false;
}

static void
wish_freeze(const struct wish *w)
{
    bool full =
        w->by == hearthi_world.rank && !hearthi_segments_have(w->count);

    if (full || is_vain(w) || !hearthi_freeze(w->page, w->count))
        bit_set(m.said, w->i);
}

static void
wish_look(const struct wish *w)
{
    if (bit_is(m.said, w->i))
        return;
    hearthi_freeze_note(w->page, w->count);
    if (hearthi_world.node_of[w->by] == hearthi_world.node)
        return;
    for (uint64_t p = w->page; p < w->page + w->count; p++)
        if (hearthi_was_copy(p))
            bit_set(m.said, shared_bit(p));
}

/* Pages are protected before flags are looked at: so what is stored after that
 * look is stored after the page is thawed. */
static void
all_freeze(void)
{
    hearthi_table_lock();
    hearthi_predict_finish(); /* what is on its way would be refused */
    wishes_each(wish_freeze);
    hearthi_diff_end();
    hearthi_shared_scan();
    wishes_each(wish_look);
    memcpy(m.own, m.said, bits_bytes());
    hearthi_table_unlock();
    atomic_thread_fence(memory_order_seq_cst); /* stores to home frames */
}

/* ---- bringing ---- */

static void
moving_add(struct moving to)
{
    if (m.n == m.room) {
        m.room = m.room == 0 ? 64 : 2 * m.room;
        m.moving = realloc(m.moving, m.room * sizeof to);
        if (m.moving == NULL)
            hearthi_fatal("hearth_barrier", "no memory to move pages");
    }
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
        n = hearthi_place_of(p)->page + hearthi_place_of(p)->count - p;
        n = hearthi_least(n, end - p);
        f.count = (uint32_t)n;
        hearthi_transport->fetch(&f, 1);
        at += n << hearthi_heap.shift;
    }
}

/* What finds no frame stays. */
static void
wish_bring(const struct wish *w)
{
    struct hearthi_allocation *a;
    uint64_t                   end = w->page + w->count, n, frame;

    if (bit_is(m.said, w->i))
        return;
    a = hearthi_allocation_of(w->page);
    for (uint64_t p = w->page; p < end; p += n) {
        struct moving to = { .page = p, .home = (uint32_t)w->by };

        n = hearthi_spare_frames(a, &to.home, end - p, &frame);
        if (n == 0)
            break;
        to.count = n;
        to.frame = (uint32_t)frame;
        moving_add(to);
        if (w->by == hearthi_world.rank)
            content_bring(&to);
    }
}

static void
all_bring(void)
{
    uint8_t done = 0;

    hearthi_table_lock();
    wishes_each(wish_bring);
    hearthi_table_unlock();
    if (m.n == 0)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    hearthi_agree_join(&done, sizeof done);
    atomic_thread_fence(memory_order_seq_cst);
}

/* ---- thawing ---- */

/* Frames that pages have left are for others of their allocation. */
static void
frames_leave(struct hearthi_allocation *a, struct hearthi_piece p)
{
    hearthi_extents_give(&a->spare->free[p.home], p.frame, p.count);
    hearthi_shared_forget_at(&p);
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

    for (uint64_t p = to->page, n; p < end; p += n) {
        struct hearthi_place r = *hearthi_place_of(p);

        n = hearthi_least(end, r.page + r.count) - p;
        frames_leave(a, (struct hearthi_piece){
                            0, n, r.home, (uint32_t)(r.frame + p - r.page) });
    }
    hearthi_places_move(to->page, to->count, to->home, to->frame);
    hearthi_shared_expect_at(
        &(struct hearthi_piece){ 0, to->count, to->home, to->frame });
    hearthi_thaw_moved(to->page, to->count, is_shared);
    hearthi_wishes_done(to->page, to->count);
}

/* Those of what moves that begin with a wish's pages: they are in the order of
 * wishes. */
static void
wish_end(const struct wish *w)
{
    uint64_t page = w->page, end = page + w->count;

    for (; m.n > 0 && m.moving->page == page && page < end;
         m.n--, m.moving++) {
        moving_end(m.moving);
        page += m.moving->count;
    }
    if (page < end && !bit_is(m.own, w->i))
        hearthi_thaw_stayed(page, end - page);
    if (w->by != hearthi_world.rank)
        return;
    hearthi_count(moves, page - w->page);
    hearthi_count(moves_refused, end - page);
    hearthi_wishes_done(page, end - page);
}

static void
all_thaw(void)
{
    struct moving *list = m.moving;

    hearthi_table_lock();
    wishes_each(wish_end);
    hearthi_freeze_end();
    hearthi_table_unlock();
    free(list);
}

/* ---- all of it ---- */

static void
wishes_gather(void)
{
    struct hearthi_wishes *mine = memory(sizeof *mine);
    size_t                 ranks = (size_t)hearthi_world.size;

    m.asked = memory(ranks * sizeof *m.asked);
    hearthi_table_lock();
    hearthi_wishes_take(mine);
    hearthi_table_unlock();
    hearthi_agree_gather(&mine->n, sizeof mine->n, m.asked);
    for (size_t r = 0; r < ranks; r++)
        if (m.asked[r] > m.most)
            m.most = m.asked[r];
    m.run = memory(ranks * m.most * sizeof *m.run + 1);
    if (m.most > 0)
        hearthi_agree_gather(mine->run, m.most * sizeof *m.run, m.run);
    free(mine);
}

void
hearthi_move(void)
{
    memset(&m, 0, sizeof m);
    wishes_gather();
    wishes_each(wish_count);
    if (m.most > 0) {
        m.said = memory(2 * bits_bytes());
        m.own = m.said + bits_bytes();
        all_freeze();
        hearthi_agree_join(m.said, bits_bytes());
        all_bring();
        all_thaw();
    }
    free(m.said);
    free(m.run);
    free(m.asked);
}
