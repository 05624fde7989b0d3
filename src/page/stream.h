/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sequences of faults.  A fault costs several times the message that it
 * triggers, so a run of faults at equal distances, forwards or backwards,
 * fetches in growing steps, and opens for writing where the pages adjoin.
 */
#ifndef HEARTHI_STREAM_H
#define HEARTHI_STREAM_H

#include <stdbool.h>
#include <stdint.h>

enum hearthi_streams { HEARTHI_READS, HEARTHI_WRITES };

struct hearthi_stream {
    enum hearthi_streams which;

    int64_t  stride; /* from page to page */
    uint64_t step;   /* how many pages to take now */
    uint64_t last, used;
    uint64_t opened, n_opened; /* for writing, by the last step */
};

/* No sequence is being followed. */
void hearthi_streams_open(void);

/* No more of sequences that expect one of these pages, which go. */
void hearthi_streams_forget(uint64_t page, uint64_t count);

/* The sequence that expects this page, or a new one of one page. */
struct hearthi_stream *hearthi_stream_find(enum hearthi_streams which,
                                           uint64_t             page);

/* It took so many pages; is it still the one that did? */
void hearthi_stream_took(struct hearthi_stream *s, uint64_t page,
                         uint64_t count);
bool hearthi_stream_is_at(const struct hearthi_stream *s, uint64_t page,
                          uint64_t count);

/* A step has opened these pages for writing.  A long sequence of writes does
 * not come back: what its last step opened goes home now, so that twins and
 * diffs stay in the processor's cache and the release finds little to do.  A
 * page written again is just opened again. */
void hearthi_stream_opened(struct hearthi_stream *s, uint64_t page,
                           uint64_t count);

#endif
