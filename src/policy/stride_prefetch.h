/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sequences of faults.  A fault costs several times the message that it
 * triggers, so a run of faults at equal distances, forwards or backwards,
 * fetches in growing steps, and opens for writing where the pages adjoin.
 */
#ifndef HEARTHI_STRIDE_PREFETCH_H
#define HEARTHI_STRIDE_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

enum hearthi_stride_kind { HEARTHI_READS, HEARTHI_WRITES };

struct hearthi_stride {
    enum hearthi_stride_kind which;

    int64_t  stride; /* from page to page */
    uint64_t step;   /* how many pages to take now */
    uint64_t last, used;
    uint64_t opened, n_opened; /* for writing, by the last step */
};

/* No sequence is being followed. */
void hearthi_stride_prefetch_open(void);

/* No more of sequences that expect one of these pages, which go. */
void hearthi_stride_prefetch_forget(uint64_t page, uint64_t count);

/* The sequence that expects this page, or a new one of one page. */
struct hearthi_stride *
hearthi_stride_prefetch_find(enum hearthi_stride_kind which, uint64_t page);

/* It took so many pages; is it still the one that did? */
void hearthi_stride_prefetch_took(struct hearthi_stride *s, uint64_t page,
                                  uint64_t count);
bool hearthi_stride_prefetch_is_at(const struct hearthi_stride *s,
                                   uint64_t page, uint64_t count);

/* A step has opened these pages for writing.  A long sequence of writes does
 * not come back: what its last step opened goes home now, so that twins and
 * diffs stay in the processor's cache and the release finds little to do.  A
 * page written again is just opened again. */
void hearthi_stride_prefetch_opened(struct hearthi_stride *s, uint64_t page,
                                    uint64_t count);

#endif
