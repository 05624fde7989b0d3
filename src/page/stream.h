/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sequences of faults.  A fault costs several times the message that it
 * triggers, so a run of sequential faults fetches, or opens for writing, in
 * growing steps.
 */
#ifndef HEARTHI_STREAM_H
#define HEARTHI_STREAM_H

#include <stdint.h>

struct hearthi_stream {
    uint64_t next; /* the page that would come next */
    uint64_t step; /* how many pages to take now */
    uint64_t used;
    uint64_t opened, n_opened; /* for writing, by the last step */
};

enum hearthi_streams { HEARTHI_READS, HEARTHI_WRITES };

/* No sequence is being followed. */
void hearthi_streams_open(void);

/* The sequence that expects this page, or a new one. */
struct hearthi_stream *hearthi_stream_find(enum hearthi_streams which,
                                           uint64_t             page);

/* A step has opened these pages for writing.  A long sequence of writes does
 * not come back: what its last step opened goes home now, so that twins and
 * diffs stay in the processor's cache and the release finds little to do.  A
 * page written again is just opened again. */
void hearthi_stream_opened(struct hearthi_stream *s, uint64_t page,
                           uint64_t count);

#endif
