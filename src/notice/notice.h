/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Write notices: what a rank wrote (a page set), what it knows since the last
 * barrier, and where in a lock's log it is.  Pure data without locks of its
 * own: the caller lets in one thread at a time.  Functions that add may
 * allocate, so they are not for signal handlers; without memory they end the
 * job through hearthi_fatal().
 */
#ifndef HEARTHI_NOTICE_H
#define HEARTHI_NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages [page, page + count) were written by rank `writer` in its interval
 * `interval`; intervals of a writer grow.  Sent as it is, without padding. */
struct hearthi_notice {
    uint64_t page;
    uint32_t count;
    uint32_t writer;
    uint64_t interval;
};

/* As a count: every page; `page` is 0 then, `writer` the rank that said so
 * (the origin) and `interval` the origin's number for it. */
#define HEARTHI_INVALIDATE_ALL UINT32_MAX

/* ---- merging: fewer runs, which say more ---- */

/* What it costs to make run i and the next one, or UINT64_MAX if they cannot
 * be one.  Between two runs it is the pages there. */
typedef uint64_t hearthi_gap(const void *runs, size_t i);
static inline uint64_t
hearthi_gap_between(uint64_t page, uint32_t count, uint64_t next,
                    uint32_t next_count)
{
    uint64_t end = page + count, next_end = next + next_count;

    if ((next_end > end ? next_end : end) - page >= HEARTHI_INVALIDATE_ALL)
        return UINT64_MAX;
    return next > end ? next - end : 0;
}

/* Which of n gaps to close for `fewer` runs, or all if they are not so many:
 * those narrower than `width`, and the first `as_wide` of that width. */
struct hearthi_closing {
    uint64_t width;
    size_t   as_wide;
};

struct hearthi_closing hearthi_gaps_close(hearthi_gap *gap, const void *runs,
                                          size_t n, size_t fewer);

/* Asked of each gap, in order. */
bool hearthi_gap_is_closed(struct hearthi_closing *c, uint64_t gap);

/* What it costs to make one of two notices; and b into a. */
uint64_t hearthi_notice_gap(const struct hearthi_notice *a,
                            const struct hearthi_notice *b);
static inline void
hearthi_notice_coalesce(struct hearthi_notice       *a,
                        const struct hearthi_notice *b)
{
    uint64_t end = a->page + a->count;

    if (b->page + b->count > end)
        end = b->page + b->count;
    a->count = (uint32_t)(end - a->page);
    if (b->interval > a->interval)
        a->interval = b->interval;
}

/* The same of n things of `size` bytes that begin with a notice: `gap` is
 * hearthi_notice_gap() of two that follow each other, and `join` makes one of
 * two, with hearthi_notice_coalesce(), also where the first says what the
 * second does. */
struct hearthi_merging {
    size_t       size;
    hearthi_gap *gap;
    void (*join)(void *a, const void *b);
};

size_t hearthi_merge(void *all, size_t n, size_t most,
                     const struct hearthi_merging *m);

/* Sort n notices, leave out what others of them say, and if they are more than
 * `most` merge those of one writer that are nearest to each other, in pages
 * and in time.  What they said, the result says, and more.  Returns how many
 * they are now: more than `most` where there are more writers than that, or
 * runs too long to be one.
 */
size_t hearthi_notices_merge(struct hearthi_notice *notice, size_t n,
                             size_t most);

/* ---- page sets ---- */

struct hearthi_pagerun {
    uint64_t page;
    uint32_t count;
};

/* A set of pages, kept as runs, and of pages between them if they are too many
 * runs.  All fields are for reading: run[0 .. n) is sorted, disjoint and
 * maximal after hearthi_pageset_normalise() only. */
struct hearthi_pageset {
    struct hearthi_pagerun *run;
    size_t                  n, room;
    size_t                  limit; /* of n, before runs are merged */
    size_t                  cap;
    bool                    loose; /* added to since it was normalised */
    bool                    invalidate_all;
};

/* An empty set that holds at most cap runs (at least 1); of more the nearest
 * become one.  If "invalidate_all" was added `invalidate_all` is true and n is
 * 0, until it is cleared.  Memory is at most 16 * (2 * cap + 64) bytes, taken
 * when needed. */
void hearthi_pageset_init(struct hearthi_pageset *s, size_t cap);
void hearthi_pageset_free(struct hearthi_pageset *s);

/* Empty it and keep the memory.  O(1). */
void hearthi_pageset_clear(struct hearthi_pageset *s);

/* Add a run of pages; none is allowed.  O(1) for a run that overlaps or
 * touches the one added before, else O(log n) in the mean over many. */
void hearthi_pageset_add(struct hearthi_pageset *s, uint64_t page,
                         uint32_t count);

/* Sort and merge.  Runs are maximal, but none is longer than
 * HEARTHI_INVALIDATE_ALL - 1 pages.  O(1) if nothing was added since. */
void hearthi_pageset_normalise(struct hearthi_pageset *s);

/* ---- what a rank knows ---- */

/* Notices since the last barrier, this rank's and those it has learnt, each
 * with a sequence number: release consistency gives a lock all that it was
 * not given yet.
 *
 * A notice that names the same run and writer as an older one takes its place,
 * at the end.  When there are more than cap of them the nearest become one
 * (run_coarsen.c), until there are half as many; where there are too many
 * writers for that, all become one HEARTHI_INVALIDATE_ALL of this rank.  Those
 * do not count for cap, and there is at most one of each origin, never a
 * second time with the same number: so "invalidate_all" cannot echo between
 * ranks.
 *
 * Sequence numbers go on over forgetting, so 0 is always "nothing given". */
struct hearthi_notice_store {
    struct hearthi_notice_entry *entry; /* by sequence, dead ones between */
    size_t                       n, live, runs, room;
    uint32_t                    *slot; /* hash table: 1 + index into entry */
    size_t                       slots;
    uint64_t                     next; /* sequence number */
    uint64_t invalidate_all;           /* last number used as origin */
    size_t   cap;
    uint32_t origin;
};

/* Nothing known; cap is at least 1, origin this rank.  Memory is at most
 * about 260 * (cap + ranks) bytes, taken when needed. */
void hearthi_notice_store_init(struct hearthi_notice_store *k, size_t cap,
                               uint32_t origin);
void hearthi_notice_store_free(struct hearthi_notice_store *k);

/* Forget all, after a barrier.  O(n); O(1) if there is nothing. */
void hearthi_notice_store_clear(struct hearthi_notice_store *k);

/* Forget what has a sequence number below `mark`: what was known when a
 * barrier began, while other threads went on adding.  O(n). */
void hearthi_notice_store_forget(struct hearthi_notice_store *k,
                                 uint64_t                     mark);

/* The sequence number that the next notice gets. */
uint64_t hearthi_notice_store_next(const struct hearthi_notice_store *k);

/* Learn a notice.  from_lock is the lock in whose log it was, or -1 if this
 * rank made it; it is not given to that lock.  False if it was known: same run
 * and writer, and an interval at least as late.  Then no copy needs to be
 * dropped for it either: those of that time went when it was learnt first, and
 * one fetched later has the write.  Own notices that come back from a lock are
 * welcome: they are known, and it is noted that the lock has them.  O(1) in
 * the mean.  An INVALIDATE_ALL that this rank makes is numbered in here,
 * whatever the notice says, and stands for all that was known. */
bool hearthi_notice_store_add(struct hearthi_notice_store *k,
                              const struct hearthi_notice *n, int from_lock);

/* The log of this lock had overflowed: whatever it said is now known as one
 * new HEARTHI_INVALIDATE_ALL of this rank, for all other locks.  `given` is
 * what this lock was given so far.  O(1).  A log needs room for a few notices
 * of every rank: when the logs of two locks are always lost, "invalidate_all"
 * goes round between them for ever. */
void hearthi_notice_store_lost(struct hearthi_notice_store *k, int lock,
                               uint64_t given);

/* What this lock was not given yet: notices with a sequence number of *given
 * or later that were not seen in its own log, by sequence, at most max.
 * Moves *given past what it returns (and past all, if it returns less than
 * max).  O(log n + notices since *given). */
size_t hearthi_notice_store_since(const struct hearthi_notice_store *k,
                                  int lock, uint64_t *given,
                                  struct hearthi_notice *out, size_t max);

/* All of that, merged again and again while it is more than `most`, with room
 * for one more.  Returns more than `most`, which mean nothing then, only if
 * there are too many writers to be merged so far. */
size_t hearthi_notice_store_merged(struct hearthi_notice_store *k, int lock,
                                   uint64_t *given, struct hearthi_notice *out,
                                   size_t most);

/* ---- the ring in which a lock keeps its log ---- */

/* Elements [at, at + n) of the ring's storage. */
struct hearthi_ring_span {
    uint32_t at, n;
};

/* Positions count what was ever appended; position p is kept at p modulo cap
 * until cap more have followed.  Both functions give the storage as up to two
 * spans, in order, n being 0 for those not needed, and are O(1).
 *
 * Positions may wrap, with any cap: a reader from before the wrap has lost.
 * That one was away for 2^32 positions cannot be seen here. */

/* What a reader at pos finds when the end is at tail.  False if it has lost
 * some of it. */
bool hearthi_ring_read(uint32_t cap, uint32_t pos, uint32_t tail,
                       struct hearthi_ring_span span[2]);

/* Append count elements at *tail, and move it.  False if they are more than
 * cap: nothing is to be written, and every reader from before has lost. */
bool hearthi_ring_write(uint32_t cap, uint32_t *tail, uint32_t count,
                        struct hearthi_ring_span span[2]);

#endif
