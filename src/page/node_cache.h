/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Copies of the ranks of a node, for each other: a rank that misses a page
 * that another rank of its node has takes it there, by a copy of its bytes
 * instead of a message.  (JIAJIA-SMP left that for later: "locating fault
 * pages in the caches of intra-node processes".)  Caches stay apart: each rank
 * has its own frames, view, protections and twins, and what is taken is a copy
 * like one that was fetched.
 *
 * THE WORD.  The node has one word for each page, in memory that its ranks
 * share: the name of the rank that fetched the page last, and has it still, or
 * is fetching it; and a number.  Numbers are drawn from one counter of the
 * node, so none comes twice.  A rank writes its name there when it has fetched
 * a page, or has closed one that it wrote, and takes it away before its frame
 * gets other bytes: before the page is dropped, opened for writing, or freed.
 * So a rank that finds the same word before and after it has copied the frame
 * has the page (a sequence lock; the owner has a full fence between taking its
 * name away and anything that may change the frame, the reader one that orders
 * its loads).  Another rank may have overwritten the word meanwhile: that only
 * makes the reader give up, since the word never has its old value again.
 *
 * Only clean copies are lent.  A dirty one may have a byte that is stored and
 * stored back: its release tells no rank of that page, and a rank that had
 * taken it would keep the byte for ever.
 *
 * NEW ENOUGH.  A copy is right for a rank if it has every write that happens
 * before the rank's present.  Those came to the rank by two ways:
 *   - By barriers.  All that happened before barrier e is in each copy that a
 *     rank still has when it has applied the notices of barrier e.  So each
 *     rank tells how many barriers it has passed, and lends to ranks that have
 *     passed no more.  (A rank that is still in barrier e + 1 with another
 *     thread has passed e.)
 *   - By all other acquires (locks, flags, reader-writer locks,
 *     hearth_acquire) of its own threads.  What one brings was at home before
 *     it ended, and a gateway has dropped by then what it had kept of it, so a
 *     fetch that began after that has it.  The rank draws a number when an
 *     acquire has ended, and a rank that fetches draws one before it begins:
 *     the larger is the later.  What was acquired before this rank came to a
 *     barrier happened before that barrier, so it asks for no number of its
 *     own then.
 * Its own writes are like the second: once they went home they may be in no
 * other copy.  So when diffs, or an atomic step, have arrived, the rank draws
 * a number, too.
 *
 * A copy that was written and closed has bytes from before the write: it gets
 * a number that says nothing about when it was fetched, and serves ranks that
 * have acquired nothing since the barrier.  It may have bytes of its owner
 * which the taker has no right to yet; its release tells of them as always, as
 * they differed from the twin when the page was closed.
 *
 * FIRST COPIES (coherence/sharer_flags.c).  A copy that was fetched after the
 * page's sharer flag was at its home, and told of, misses no write that would
 * not be reported: whichever rank holds it, and whichever set the flag.  So
 * what is taken of such a copy needs no flag of the taker's own, now and
 * later.  What is taken of a first copy is a first copy: it goes at the next
 * acquire, and its home is told then; the flag is there by that time, as the
 * owner's fetch waited for it.
 *
 * ONE FETCH FOR TWO.  A rank that begins to fetch a page that it touched, or a
 * run from there on, puts its name in the words by one atomic step each;
 * another rank that touches the page finds that and waits, without the table's
 * lock, and looks again.  Nothing rests on that: a rank that waits for too
 * long, since the other was stopped or its network is slow, fetches the page
 * itself, as do ranks whose groups and strides meet.  A run that is fetched
 * ahead ends where another's fetch begins.
 *
 * WHAT IS FETCHED IN ADVANCE (reuse_prefetch.h) is a fetch as any other: it
 * begins after the acquire, with a number drawn then, and its pages are copies
 * of their rank from that moment on, which each later acquire drops if it has
 * to.  So all of the above holds for them, though it may end much later; and
 * one that is PREFETCHED is lent, since its frame is not written before it is
 * opened, and it loses its name as it is dropped.  A rank that would fetch in
 * advance what another has takes it, and leaves alone what another is
 * fetching.  But a rank that has begun so ends it when it touches a page, in
 * its own time: others wait for that no longer than two fetches of their own
 * would take.  Before that they end what they have begun so themselves, which
 * others may wait for: two that leave a barrier together bring a half each,
 * and want both.
 *
 * PAGES THAT MOVE (coherence/migrate.h).  A page that is frozen is lent no
 * more, nor is its copy when it is thawed.  So when all have frozen a page no
 * word is of it: none leads to a copy that an acquire of its owner meanwhile
 * made missed, of a page that moved as one that no rank has, or of one whose
 * home is here now.  A copy that was taken before is one like any other: its
 * rank tells of it when it freezes the page itself.  And until it has thawed
 * the page, it takes none that another rank has fetched from the new home.
 *
 * tests/model breaks the rules with --take-old, --take-written,
 * --take-unpassed, --take-own, --take-first, --number-late, --lend-dropped (a
 * copy that is PREFETCHED) and --forget-late (what another thread acquired
 * while this rank was in a barrier); tests/model/move that of pages that move
 * with --lend-frozen, and tests/model/word those of the word.
 * tests/page/node_cache.c has a litmus test for each but --number-late,
 * --forget-late and the second look at the word, and for those of dirty copies
 * and of what is freed.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_NODE_CACHE_H
#define HEARTHI_NODE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* Are there copies of others at all?  Where there are none, what a fault asks
 * is answered without a call; hearthi_node_tags_... is the answer where there
 * are. */
extern bool hearthi_node_cache_on;

/* Why so many ranks of one node cannot find copies at each other; NULL: they
 * can. */
const char *hearthi_node_cache_crowd(int ranks);

/* Collective; after the table. */
void hearthi_node_cache_open(void);
void hearthi_node_cache_close(void);
void hearthi_node_cache_forked(void);

/* An acquire has ended that was no barrier, or bytes of this rank have come
 * home. */
void hearthi_node_tags_acquired(void);

static inline void
hearthi_node_cache_acquired(void)
{
    if (hearthi_node_cache_on)
        hearthi_node_tags_acquired();
}

/* This rank's own writes have come home, and it arrives at a barrier; and its
 * copies are as all know of since that barrier. */
void hearthi_node_cache_arrive(void);
void hearthi_node_cache_leave(void);

/* Where there are: another rank is fetching this page: wait, without the lock,
 * for a while.
 * False if there is nothing to wait for: then no other rank begins to.  True:
 * look again. */
bool hearthi_node_cache_wait(uint64_t page);

/* A fetch took so long: others wait for what was begun in advance as long as
 * two of their own take. */
void hearthi_node_cache_took(uint64_t ns);

/* Is another rank fetching it, from a moment on that is late enough for this
 * one? */
bool hearthi_node_tags_fetch(uint64_t page);

static inline bool
hearthi_node_cache_fetch(uint64_t page)
{
    return hearthi_node_cache_on && hearthi_node_tags_fetch(page);
}

/* A page that is to be fetched in advance, with a number that was drawn for
 * that: false if another rank is fetching it.  If not, this rank will. */
bool hearthi_node_cache_claim(uint64_t page, uint64_t number);

/* How many pages, from this one on or backwards, up to one that another rank
 * is fetching.  The first is this rank's to fetch; the others, but for those
 * that are lent, are from now on: what is not fetched is to be kept. */
uint64_t hearthi_node_tags_until(uint64_t page, uint64_t count, bool before);

static inline uint64_t
hearthi_node_cache_until(uint64_t page, uint64_t count, bool before)
{
    return hearthi_node_cache_on ? hearthi_node_tags_until(page, count, before)
                                 : count;
}

/* What a page taken is. */
enum hearthi_lent { HEARTHI_NOT_LENT, HEARTHI_LENT, HEARTHI_LENT_FIRST };

/* Copy a page into its cached frame. */
enum hearthi_lent hearthi_node_cache_take(uint64_t page);

/* Why pages are fetched: for a thread that waits for them, or in advance. */
enum hearthi_why { HEARTHI_ASKED, HEARTHI_FORESEEN };

/* A number, for pages that are fetched from now on. */
uint64_t hearthi_node_tags_number(void);

static inline uint64_t
hearthi_node_cache_number(void)
{
    return hearthi_node_cache_on ? hearthi_node_tags_number() : 0;
}

/* Where there are: they are being fetched; and they are here: those that are
 * clean are lent. */
void hearthi_node_cache_begin(uint64_t page, uint64_t count,
                              enum hearthi_why why, uint64_t number);
void hearthi_node_cache_lend(uint64_t page, uint64_t count, uint64_t number);

/* Clean copies that were written. */
void hearthi_node_tags_written(uint64_t page, uint64_t count);

static inline void
hearthi_node_cache_lend_written(uint64_t page, uint64_t count)
{
    if (hearthi_node_cache_on)
        hearthi_node_tags_written(page, count);
}

/* Lend them no more. */
void hearthi_node_tags_keep(uint64_t page, uint64_t count);

static inline void
hearthi_node_cache_keep(uint64_t page, uint64_t count)
{
    if (hearthi_node_cache_on)
        hearthi_node_tags_keep(page, count);
}

#endif
