/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "node_cache.h"

#include <stdio.h>
#include <string.h>

#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "node_tag.h"
#include "page.h"
#include "pin_count.h"
#include "space/files.h"
#include "world.h"

bool hearthi_node_cache_on;

/* Each rank's number of barriers has a line of its own. */
enum { LINE = 64 / sizeof(uint64_t) };

struct hearthi_node_tags hearthi_node_tags;

/* ---- open and close ---- */

static size_t
head_bytes(void)
{
    return (size_t)(1 + hearthi_cluster.node_size) * 64;
}

static bool
is_wanted(void)
{
    return hearthi_opt.node_cache != HEARTHI_WHEN_OFF &&
           hearthi_world.nodes > 1 && hearthi_cluster.node_size > 1;
}

const char *
hearthi_node_cache_crowd(int ranks)
{
    static char why[96];

    if (ranks <= HEARTHI_OWNERS_MOST)
        return NULL;
    snprintf(why, sizeof why,
             "%d ranks of one node are more than %d, whose copies a page can "
             "name",
             ranks, HEARTHI_OWNERS_MOST);
    return why;
}

void
hearthi_node_cache_open(void)
{
    size_t pages = (size_t)hearthi_heap.pages;
    size_t moved = pages * sizeof *hearthi_node_tags.moved *
                   (size_t)hearthi_cluster.node_size;
    size_t      words = pages * sizeof *hearthi_node_tags.word;
    const char *why;
    char       *at;

    hearthi_node_cache_on = false;
    memset(&hearthi_node_tags, 0, sizeof hearthi_node_tags);
    if (!is_wanted())
        return;
    why = hearthi_node_cache_crowd(hearthi_cluster.node_size);
    if (why == NULL)
        why = hearthi_node_files_open(head_bytes() + words + moved);
    if (why != NULL && hearthi_opt.node_cache == HEARTHI_WHEN_ON)
        hearthi_fatal("hearth_init", "HEARTH_NODE_CACHE=on: %s: use auto",
                      why);
    if (why != NULL)
        return;
    at = hearthi_node_files.shared;
    hearthi_node_tags.counter = (void *)at;
    hearthi_node_tags.passed = (void *)(at + 64);
    hearthi_node_tags.word = (void *)(at + head_bytes());
    hearthi_node_tags.moved = (void *)(at + head_bytes() + words);
    hearthi_node_cache_on = true;
}

/* What others read of this rank's they have mapped themselves. */
void
hearthi_node_cache_close(void)
{
    if (hearthi_node_cache_on)
        hearthi_node_files_close();
    hearthi_node_cache_on = false;
}

/* A child is no rank, and must not write what it shares with its parent. */
void
hearthi_node_cache_forked(void)
{
    hearthi_node_cache_on = false;
}

/* ---- words ---- */

/* All that the owner has dropped at the barriers that it says to have passed,
 * it has taken its name away from before it said so; so the word is looked at
 * once more after this.  The acquire pairs with the release of
 * hearthi_node_cache_leave(). */
bool
hearthi_node_tag_is_new(uint64_t word)
{
    uint64_t passed = atomic_load_explicit(
        &hearthi_node_tags.passed[hearthi_node_tag_owner(word) * LINE],
        memory_order_acquire);

    return passed >= hearthi_node_tags.passes &&
           (hearthi_node_tags.since == 0 ||
            (hearthi_node_tag_kind(word) != WRITTEN &&
             hearthi_node_tag_number(word) > hearthi_node_tags.since));
}

/* ---- what this rank must see ---- */

uint64_t
hearthi_node_tags_number(void)
{
    return atomic_fetch_add(hearthi_node_tags.counter, 1) + 1;
}

void
hearthi_node_tags_acquired(void)
{
    hearthi_node_tags.since = hearthi_node_tags_number();
}

void
hearthi_node_cache_arrive(void)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(hearthi_node_tags.arrived <= hearthi_node_tags.since ||
                   hearthi_node_tags.since == 0);
    hearthi_node_tags.arrived = hearthi_node_tags.since;
}

/* What another thread has acquired since this rank arrived, the barrier does
 * not cover.  The release is for hearthi_node_tag_is_new(). */
void
hearthi_node_cache_leave(void)
{
    if (!hearthi_node_cache_on)
        return;
    if (hearthi_node_tags.since == hearthi_node_tags.arrived)
        hearthi_node_tags.since = 0;
    HEARTHI_ASSERT(hearthi_node_tags.passes ==
                   hearthi_node_tags.passed[hearthi_cluster.node_rank * LINE]);
    hearthi_node_tags.passes++;
    atomic_store_explicit(
        &hearthi_node_tags.passed[hearthi_cluster.node_rank * LINE],
        hearthi_node_tags.passes, memory_order_release);
}

/* ---- lend ---- */

/* Distances are 0 until a frame had to be replaced. */
static _Atomic uint32_t *
moved_of(int node_rank, uint64_t page)
{
    return &hearthi_node_tags
                .moved[(uint64_t)node_rank * hearthi_heap.pages + page];
}

/* The release pairs with the acquire of hearthi_node_cache_take(): the frame
 * and its distance come before the word. */
static void
word_set(uint64_t page, enum hearthi_node_tag_kind kind, uint64_t number)
{
    _Atomic uint32_t *moved = moved_of(hearthi_cluster.node_rank, page);
    uint32_t          is = hearthi_table.frame_offset[page];

    HEARTHI_ASSERT(kind >= FIRST && number > 0);
    HEARTHI_ASSERT(hearthi_table.mark[page] & HEARTHI_RESIDENT);
    HEARTHI_ASSERT(hearthi_table.state[page] != HEARTHI_DIRTY);
    if (atomic_load_explicit(moved, memory_order_relaxed) != is)
        atomic_store_explicit(moved, is, memory_order_relaxed);
    atomic_store_explicit(&hearthi_node_tags.word[page],
                          hearthi_node_tag_of(kind, number),
                          memory_order_release);
}

/* A pinned copy gets new bytes where it is (pin.c): those would do as well,
 * but a rank that wants them fetches them. */
static bool
may_lend(uint64_t page)
{
    uint8_t state = hearthi_table.state[page];

    return (state == HEARTHI_CLEAN || state == HEARTHI_PREFETCHED) &&
           !hearthi_is_pinned(page);
}

static bool
is_first(uint64_t page)
{
    return (hearthi_table.mark[page] & HEARTHI_PROVISIONAL) != 0;
}

/* Relaxed: words of these kinds lend nothing. */
void
hearthi_node_cache_begin(uint64_t page, uint64_t count, enum hearthi_why why,
                         uint64_t number)
{
    enum hearthi_node_tag_kind kind = why == HEARTHI_ASKED ? UNDER_WAY : AHEAD;

    HEARTHI_ASSERT_HAS(TABLE);
    for (uint64_t p = page; p < page + count; p++)
        atomic_store_explicit(&hearthi_node_tags.word[p],
                              hearthi_node_tag_of(kind, number),
                              memory_order_relaxed);
}

/* Has another rank lent one that was fetched later?  One that was begun in
 * advance may end late.  Relaxed: the word is the answer, and no byte is read
 * by it. */
static bool
has_newer(uint64_t page, uint64_t number)
{
    uint64_t word = atomic_load_explicit(&hearthi_node_tags.word[page],
                                         memory_order_relaxed);

    return hearthi_node_tag_lends(word) && !hearthi_node_tag_is_mine(word) &&
           hearthi_node_tag_number(word) > number;
}

void
hearthi_node_cache_lend(uint64_t page, uint64_t count, uint64_t number)
{
    for (uint64_t p = page; p < page + count; p++)
        if (!may_lend(p))
            hearthi_node_tags_keep(p, 1);
        else if (!has_newer(p, number))
            word_set(p, is_first(p) ? FIRST : LATER, number);
}

void
hearthi_node_tags_written(uint64_t page, uint64_t count)
{
    uint64_t number = hearthi_node_tags_number();

    for (uint64_t p = page; p < page + count; p++)
        if (may_lend(p) && !is_first(p))
            word_set(p, WRITTEN, number);
}

/* The fence pairs with that of hearthi_node_cache_take(): the store to the
 * word comes before what changes the frame.  Where no word is this rank's the
 * load does: a reader that has new bytes then sees that another rank has
 * overwritten the word. */
void
hearthi_node_tags_keep(uint64_t page, uint64_t count)
{
    bool any = false;

    for (uint64_t p = page; p < page + count; p++) {
        if (!hearthi_node_tag_is_mine(atomic_load_explicit(
                &hearthi_node_tags.word[p], memory_order_relaxed)))
            continue;
        atomic_store_explicit(&hearthi_node_tags.word[p], 0,
                              memory_order_relaxed);
        any = true;
    }
    atomic_thread_fence(any ? memory_order_seq_cst : memory_order_acq_rel);
}

/* ---- take ---- */

/* The acquire pairs with word_set(), and the fence with that of
 * hearthi_node_tags_keep(): the distance and the bytes are loaded between the
 * two looks at the word. */
enum hearthi_lent
hearthi_node_cache_take(uint64_t page)
{
    uint64_t word, after, frame;
    int      owner;

    if (!hearthi_node_cache_on)
        return HEARTHI_NOT_LENT;
    word = atomic_load_explicit(&hearthi_node_tags.word[page],
                                memory_order_acquire);
    if (!hearthi_node_tag_is_lent(word))
        return HEARTHI_NOT_LENT;
    owner = hearthi_node_tag_owner(word);
    HEARTHI_ASSERT(owner >= 0 && owner < hearthi_cluster.node_size);
    HEARTHI_ASSERT(owner != hearthi_cluster.node_rank);
    frame = (uint32_t)(page + atomic_load_explicit(moved_of(owner, page),
                                                   memory_order_relaxed));
    HEARTHI_ASSERT(frame < hearthi_heap.pages);
    memcpy(hearthi_cached(page),
           hearthi_node_files.cached[owner] + (frame << hearthi_heap.shift),
           hearthi_heap.page);
    atomic_thread_fence(memory_order_acquire);
    after = atomic_load_explicit(&hearthi_node_tags.word[page],
                                 memory_order_relaxed);
    if (after != word)
        return HEARTHI_NOT_LENT;
    return hearthi_node_tag_kind(word) == FIRST ? HEARTHI_LENT_FIRST
                                                : HEARTHI_LENT;
}
