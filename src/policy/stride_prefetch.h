/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sequences of faults at equal distances (strides).  A fault costs several
 * times the message that it triggers, so a run of faults at equal distances,
 * forwards or backwards, fetches in growing steps, and opens for writing where
 * the pages adjoin.  This says how many pages a fault is to take; the callers
 * (page/fault.c, page/fetch.c) take them, and tell what became of it.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_STRIDE_PREFETCH_H
#define HEARTHI_STRIDE_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

enum hearthi_stride_kind { HEARTHI_READS, HEARTHI_WRITES };

/* Pages that follow each other. */
struct hearthi_stride_run {
    uint64_t page, count;
};

struct hearthi_stride {
    enum hearthi_stride_kind which;

    int64_t  stride; /* from page to page */
    uint64_t step;   /* how many pages to take now */
    uint64_t last, used;

    struct hearthi_stride_run opened; /* for writing, by the last step */
};

/* No sequence is being followed. */
void hearthi_stride_prefetch_open(void);

/* No more of sequences that expect one of these pages, which go. */
void hearthi_stride_prefetch_forget(uint64_t page, uint64_t count);

/* The sequence that expects this page, or a new one of one page.  The cache
 * takes `most` pages at once. */
struct hearthi_stride *
hearthi_stride_prefetch_find(enum hearthi_stride_kind which, uint64_t page,
                             uint64_t most);

/* It took so many pages; is it still the one that did? */
void hearthi_stride_prefetch_took(struct hearthi_stride *s, uint64_t page,
                                  uint64_t count);
bool hearthi_stride_prefetch_is_at(const struct hearthi_stride *s,
                                   uint64_t page, uint64_t count);

/* Steps of so many pages are those of a long sequence. */
enum { HEARTHI_STRIDE_LONG = 128 };

/* A step has opened these pages for writing.  A long sequence of writes does
 * not come back: what its last step opened is to go home now, so that twins
 * and diffs stay in the processor's cache and the release finds little to do.
 * A page written again is just opened again.  Returns what is to go, or no
 * pages. */
static inline struct hearthi_stride_run
hearthi_stride_prefetch_opened(struct hearthi_stride *s, uint64_t page,
                               uint64_t count)
{
    struct hearthi_stride_run before = s->opened;

    s->opened.page = page;
    s->opened.count = s->step >= HEARTHI_STRIDE_LONG ? count : 0;
    return before;
}

#endif
