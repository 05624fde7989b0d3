/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "mates.h"

#include <string.h>

#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "held.h"
#include "page.h"
#include "space/files.h"
#include "word.h"
#include "world.h"

bool hearthi_mates_on;

/* Each rank's number of barriers has a line of its own. */
enum { LINE = 64 / sizeof(uint64_t) };

struct hearthi_words hearthi_words;

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
           hearthi_world.nodes > 1 && hearthi_cluster.node_size > 1 &&
           hearthi_cluster.node_size < 1 << HEARTHI_OWNER_BITS;
}

void
hearthi_mates_open(void)
{
    size_t pages = (size_t)hearthi_heap.pages;
    size_t moved = pages * sizeof *hearthi_words.moved *
                   (size_t)hearthi_cluster.node_size;
    size_t      words = pages * sizeof *hearthi_words.word;
    const char *why;
    char       *at;

    hearthi_mates_on = false;
    memset(&hearthi_words, 0, sizeof hearthi_words);
    if (!is_wanted())
        return;
    why = hearthi_mates_files_open(head_bytes() + words + moved);
    if (why != NULL && hearthi_opt.node_cache == HEARTHI_WHEN_ON)
        hearthi_fatal("hearth_init", "HEARTH_NODE_CACHE=on: %s: use auto",
                      why);
    if (why != NULL)
        return;
    at = hearthi_mates_files.shared;
    hearthi_words.counter = (void *)at;
    hearthi_words.passed = (void *)(at + 64);
    hearthi_words.word = (void *)(at + head_bytes());
    hearthi_words.moved = (void *)(at + head_bytes() + words);
    hearthi_mates_on = true;
}

/* What others read of this rank's they have mapped themselves. */
void
hearthi_mates_close(void)
{
    if (hearthi_mates_on)
        hearthi_mates_files_close();
    hearthi_mates_on = false;
}

/* A child is no rank, and must not write what it shares with its parent. */
void
hearthi_mates_forked(void)
{
    hearthi_mates_on = false;
}

/* ---- words ---- */

/* All that the owner has dropped at the barriers that it says to have passed,
 * it has taken its name away from before it said so; so the word is looked at
 * once more after this. */
bool
hearthi_word_is_new(uint64_t word)
{
    uint64_t passed = atomic_load_explicit(
        &hearthi_words.passed[hearthi_word_owner(word) * LINE],
        memory_order_acquire);

    return passed >= hearthi_words.passes &&
           (hearthi_words.since == 0 ||
            (hearthi_word_kind(word) != WRITTEN &&
             hearthi_word_number(word) > hearthi_words.since));
}

/* ---- what this rank must see ---- */

uint64_t
hearthi_mates_number(void)
{
    return hearthi_mates_on ? atomic_fetch_add(hearthi_words.counter, 1) + 1
                            : 0;
}

void
hearthi_mates_acquired(void)
{
    if (hearthi_mates_on)
        hearthi_words.since = hearthi_mates_number();
}

void
hearthi_mates_arrive(void)
{
    hearthi_words.arrived = hearthi_words.since;
}

/* What another thread has acquired since this rank arrived, the barrier does
 * not cover. */
void
hearthi_mates_leave(void)
{
    if (!hearthi_mates_on)
        return;
    if (hearthi_words.since == hearthi_words.arrived)
        hearthi_words.since = 0;
    hearthi_words.passes++;
    atomic_store_explicit(
        &hearthi_words.passed[hearthi_cluster.node_rank * LINE],
        hearthi_words.passes, memory_order_release);
}

/* ---- lend ---- */

/* Distances are 0 until a frame had to be replaced. */
static _Atomic uint32_t *
moved_of(int node_rank, uint64_t page)
{
    return &hearthi_words
                .moved[(uint64_t)node_rank * hearthi_heap.pages + page];
}

static void
word_set(uint64_t page, enum hearthi_word_kind kind, uint64_t number)
{
    _Atomic uint32_t *moved = moved_of(hearthi_cluster.node_rank, page);
    uint32_t          is = hearthi_table.moved[page];

    if (atomic_load_explicit(moved, memory_order_relaxed) != is)
        atomic_store_explicit(moved, is, memory_order_relaxed);
    atomic_store_explicit(&hearthi_words.word[page],
                          hearthi_word_of(kind, number), memory_order_release);
}

/* A held copy gets new bytes where it is (hold.c): those would do as well, but
 * who wants them fetches them. */
static bool
may_lend(uint64_t page)
{
    uint8_t state = hearthi_table.state[page];

    return (state == HEARTHI_CLEAN || state == HEARTHI_HERE) &&
           !hearthi_is_held(page);
}

static bool
is_first(uint64_t page)
{
    return (hearthi_table.mark[page] & HEARTHI_PROVISIONAL) != 0;
}

void
hearthi_mates_begin(uint64_t page, uint64_t count, enum hearthi_why why,
                    uint64_t number)
{
    enum hearthi_word_kind kind = why == HEARTHI_ASKED ? UNDER_WAY : AHEAD;

    if (!hearthi_mates_on)
        return;
    for (uint64_t p = page; p < page + count; p++)
        atomic_store_explicit(&hearthi_words.word[p],
                              hearthi_word_of(kind, number),
                              memory_order_relaxed);
}

/* Has another rank lent one that was fetched later?  One that was begun in
 * advance may end late. */
static bool
has_newer(uint64_t page, uint64_t number)
{
    uint64_t word =
        atomic_load_explicit(&hearthi_words.word[page], memory_order_relaxed);

    return hearthi_word_lends(word) && !hearthi_word_is_mine(word) &&
           hearthi_word_number(word) > number;
}

void
hearthi_mates_lend(uint64_t page, uint64_t count, uint64_t number)
{
    if (!hearthi_mates_on)
        return;
    for (uint64_t p = page; p < page + count; p++)
        if (!may_lend(p))
            hearthi_mates_keep(p, 1);
        else if (!has_newer(p, number))
            word_set(p, is_first(p) ? FIRST : LATER, number);
}

void
hearthi_mates_lend_written(uint64_t page, uint64_t count)
{
    uint64_t number;

    if (!hearthi_mates_on)
        return;
    number = hearthi_mates_number();
    for (uint64_t p = page; p < page + count; p++)
        if (may_lend(p) && !is_first(p))
            word_set(p, WRITTEN, number);
}

void
hearthi_mates_keep(uint64_t page, uint64_t count)
{
    bool any = false;

    if (!hearthi_mates_on)
        return;
    for (uint64_t p = page; p < page + count; p++) {
        if (!hearthi_word_is_mine(atomic_load_explicit(&hearthi_words.word[p],
                                                       memory_order_relaxed)))
            continue;
        atomic_store_explicit(&hearthi_words.word[p], 0, memory_order_relaxed);
        any = true;
    }
    atomic_thread_fence(any ? memory_order_seq_cst : memory_order_acq_rel);
}

/* ---- take ---- */

enum hearthi_lent
hearthi_mates_take(uint64_t page)
{
    uint64_t word, after, frame;
    int      owner;

    if (!hearthi_mates_on)
        return HEARTHI_NOT_LENT;
    word =
        atomic_load_explicit(&hearthi_words.word[page], memory_order_acquire);
    if (!hearthi_word_is_lent(word))
        return HEARTHI_NOT_LENT;
    owner = hearthi_word_owner(word);
    frame = (uint32_t)(page + atomic_load_explicit(moved_of(owner, page),
                                                   memory_order_relaxed));
    memcpy(hearthi_cached(page),
           hearthi_mates_files.cached[owner] + (frame << hearthi_heap.shift),
           hearthi_heap.page);
    atomic_thread_fence(memory_order_acquire);
    after =
        atomic_load_explicit(&hearthi_words.word[page], memory_order_relaxed);
    if (after != word)
        return HEARTHI_NOT_LENT;
    return hearthi_word_kind(word) == FIRST ? HEARTHI_LENT_FIRST
                                            : HEARTHI_LENT;
}
