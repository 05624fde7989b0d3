/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A run that goes on: allocations where they were, pages in the frames of
 * their homes, and what else there was.  No rank has a copy of any page yet,
 * and the barrier at the end comes before the program.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/report.h"
#include "checkpoint.h"
#include "cluster.h"
#include "coherence/coherence.h"
#include "hearth/hearth.h"
#include "home/home.h"
#include "malloc/arena_map.h"
#include "malloc/malloc_image.h"
#include "node/lock_numbers.h"
#include "page/page.h"
#include "page/page_map.h"
#include "space/segment.h"
#include "transport/lock_directory.h"
#include "transport/log.h"
#include "transport/transport.h"
#include "world.h"

static const char call[] = "hearth_init";

_Noreturn static void
nonsense(const char *what)
{
    hearthi_fatal(call,
                  "number %" PRIu64 " of %s is whole, but what it says of %s "
                  "cannot be: it was not written by this library",
                  hearthi_restart.number, hearthi_restart.where, what);
}

/* ---- allocations ---- */

/* save.c has the words. */
enum { PAGE, BYTES, UNIT, NUMBER, KIND, DEALT, FIRST, STRETCHES, WORDS };

static struct hearthi_stretch *
stretches_read(const uint64_t *w, size_t n)
{
    struct hearthi_stretch *s = calloc(n + 1, sizeof *s);
    uint32_t                size = (uint32_t)hearthi_world.size;

    if (s == NULL)
        hearthi_fatal(call, "no memory for %zu stretches", n);
    for (size_t i = 0; i < n; i++)
        s[i] = (struct hearthi_stretch){ w[2 * i],
                                         (uint32_t)w[2 * i + 1] % size };
    return s;
}

/* A layout that deals gives homes by itself, and so does that in equal parts
 * where there are other ranks than before; all else stays at home where it
 * was. */
static struct hearthi_allocation *
allocation_take(const uint64_t *w)
{
    const uint64_t size = (uint64_t)hearthi_world.size;
    bool           other = hearthi_restart.meta.head.ranks != size;
    int            kind = (int)w[KIND] - 1;
    bool           again = (w[DEALT] > 0 && (other || w[STRETCHES] == 0)) ||
                 (kind == HEARTH_BLOCK && other);
    struct hearthi_stretch *s = stretches_read(w + WORDS, w[STRETCHES]);
    struct hearthi_placing  to = {
         .layout = { .kind = HEARTH_BLOCK,
                     .pages = w[DEALT],
                     .clusters = HEARTH_ALL_CLUSTERS },
         .first = (uint32_t)(w[FIRST] % size),
         .stretch = again ? NULL : s,
         .n = w[STRETCHES],
    };
    struct hearthi_taken_before before = { w[PAGE], w[NUMBER], w[BYTES],
                                           (unsigned)w[UNIT], kind };
    struct hearthi_allocation  *a;

    if (again && w[DEALT] > 0)
        to.layout.kind = HEARTH_CYCLIC;
    else if (kind == HEARTH_FIRST_TOUCH)
        to.layout.kind = HEARTH_FIRST_TOUCH;
    hearthi_table_lock();
    a = hearthi_home_take_again(&before, &to);
    hearthi_table_unlock();
    free(s);
    return a;
}

/* All are taken before any is placed: then it is known how many frames are to
 * be reachable. */
void
hearthi_restore_allocations(void)
{
    const struct hearthi_meta *m = &hearthi_restart.meta;
    size_t                     n = m->head.words;
    struct hearthi_allocation *a;
    uint64_t                   reach;

    for (const uint64_t *w = m->words; n > 0;) {
        size_t more = n < WORDS ? 0 : WORDS + 2 * (size_t)w[STRETCHES];

        if (n < WORDS || w[STRETCHES] > n || more > n)
            nonsense("allocations");
        allocation_take(w);
        w += more;
        n -= more;
    }
    reach = hearthi_home_reach();
    hearthi_transport->collective.expose(reach);
    hearthi_table_lock();
    for (size_t i = 0; (a = hearthi_page_map_get(i)) != NULL; i++) {
        if (a->placed)
            continue;
        hearthi_home_place(a);
        hearthi_sharer_flags_expect(a);
    }
    hearthi_table_unlock();
}

/* ---- pages ---- */

/* The words of an arena are not the program's. */
static size_t
words_of(uint64_t page)
{
    char *begin = hearthi_app(page), *base;

    if (page >= hearthi_heap.arena)
        return 0;
    base = hearthi_arena_map_base(hearthi_arena_of(begin));
    return begin < base ? (size_t)(base - begin) : 0;
}

static void
page_put(uint64_t page, const char *bytes)
{
    const struct hearthi_page_place *at;
    size_t                           skip;
    char                            *to;

    if (page >= hearthi_heap.pages)
        nonsense("pages");
    at = hearthi_page_place_of(page);
    if ((int)at->home != hearthi_world.rank)
        return;
    to = hearthi_segments.base[hearthi_cluster.node_rank] +
         hearthi_frame_at(at->frame + (page - at->page), hearthi_heap.shift);
    skip = words_of(page);
    if (skip < hearthi_heap.page)
        memcpy(to + skip, bytes + skip, hearthi_heap.page - skip);
}

static void
pages_put(const struct hearthi_image_part *p, void *bytes)
{
    const struct hearthi_page_run *run = bytes;
    const char                    *from = (const char *)(run + p->at);
    uint64_t                       all = 0;

    if (p->at > p->bytes / sizeof *run)
        nonsense("pages");
    for (uint64_t i = 0; i < p->at; i++)
        all += run[i].count;
    if (p->bytes != p->at * sizeof *run + (all << hearthi_heap.shift))
        nonsense("pages");
    hearthi_table_lock();
    for (uint64_t i = 0; i < p->at; i++)
        for (uint64_t k = 0; k < run[i].count; k++) {
            page_put(run[i].page + k, from);
            from += hearthi_heap.page;
        }
    hearthi_table_unlock();
}

/* ---- what else there was ---- */

static void
objects_put(const struct hearthi_image_part *p, void *bytes)
{
    if (p->bytes != p->at * sizeof(uint64_t) ||
        !hearthi_malloc_image_own(bytes, p->at))
        nonsense("objects of hearth_malloc");
}

static void
arena_put(const struct hearthi_image_part *p, void *bytes)
{
    if (p->bytes != p->at * sizeof(uint64_t) ||
        !hearthi_malloc_image_split(bytes, p->at))
        nonsense("arenas of hearth_malloc");
}

static void
flags_put(const struct hearthi_image_part *p, void *bytes)
{
    const uint64_t *flag = bytes;

    for (uint64_t i = 0; i < p->at; i++) {
        if (flag[i] >= HEARTH_FLAGS)
            nonsense("flags");
        hearthi_flag_set(HEARTH_LOCKS + (int)flag[i]);
    }
}

/* On as many ranks each manager gives its names in the order in which they
 * came: so a lock has the number that it had.  On others the program's numbers
 * are a table, the same on all ranks. */
static void
locks_put(const struct hearthi_image_part *p, void *bytes)
{
    const uint64_t *lock = bytes;

    for (uint64_t i = 0; i + 1 < p->at; i += 2)
        if (hearthi_lock_numbers_is_on())
            hearthi_lock_numbers_note((int)lock[i], lock[i + 1]);
        else
            hearthi_lock_directory_lock(call, lock[i + 1]);
}

/* Does this rank read a file for what it says of its rank's own: its own, or
 * that of a rank which is gone? */
static void
files_use(enum hearthi_part_kind kind, hearthi_part_use *use, bool all)
{
    uint64_t me = (uint64_t)hearthi_world.rank;
    uint64_t size = (uint64_t)hearthi_world.size;

    for (uint64_t f = all ? 0 : me; f < hearthi_restart.meta.head.ranks;
         f += all ? 1 : size)
        hearthi_restart_parts(call, f, kind, use);
}

void
hearthi_restore_contents(void)
{
    const struct hearthi_meta_head *h = &hearthi_restart.meta.head;
    bool other = h->ranks != (uint64_t)hearthi_world.size;

    hearthi_lock_numbers_begin(other || h->locks_on != 0, (int)h->locks);
    files_use(HEARTHI_PART_PAGES, pages_put, other);
    files_use(HEARTHI_PART_ARENA, arena_put, other);
    hearthi_barrier(false);
    files_use(HEARTHI_PART_OBJECTS, objects_put, false);
    files_use(HEARTHI_PART_LOCKS, locks_put, hearthi_lock_numbers_is_on());
    hearthi_lock_numbers_settle();
    files_use(HEARTHI_PART_FLAGS, flags_put, false);
    hearthi_barrier(false);
}
