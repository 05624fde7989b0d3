/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What goes to a home of a page with many runs of changed bytes: pieces, each
 * a run or a patch; and adds to words there.  A patch is 64 units of 1, 4 or 8
 * bytes, of which a word of bits says which are there.  Every piece holds
 * changed bytes and no others, since others may be writing the bytes beside
 * them.  Pure data, no state.
 */
#ifndef HEARTHI_TRANSPORT_PATCH_H
#define HEARTHI_TRANSPORT_PATCH_H

#include <stddef.h>
#include <stdint.h>

#include "atomic_op.h"

enum {
    HEARTHI_PATCH_UNITS = 64,
    HEARTHI_PATCH_SHIFT_MOST = 3,
    HEARTHI_PATCH_MOST = HEARTHI_PATCH_UNITS << HEARTHI_PATCH_SHIFT_MOST,
    HEARTHI_PATCH_SLACK = 8 /* written behind what is taken, at most */
};

/* The patch that is worth most where blocks of a page have so many changed
 * bytes, from the first block on, which has some. */
struct hearthi_patch {
    unsigned blocks; /* that it covers; 0: runs are better */
    unsigned shift;  /* units of 1 << shift bytes: 0, 2 or 3 */
    uint64_t bits;   /* of them */
};
struct hearthi_patch hearthi_patch_of(const uint64_t *mask, size_t blocks);

/* Bytes of its units, one behind the other. */
size_t hearthi_patch_bytes(uint64_t bits, unsigned shift);

/* Bring them together; gives where they end. */
uint8_t *hearthi_patch_take(uint8_t *to, const char *from,
                            const struct hearthi_patch *p);

/* Store each where it belongs, by one store: a word is never seen in halves.
 */
const uint8_t *hearthi_patch_store(char *to, const uint8_t *from,
                                   uint64_t bits, unsigned shift);

/* The pieces of blocks of 64 bytes by their masks, in order; `at` counts from
 * the first block.  Runs that continue each other are one. */
struct hearthi_pieces {
    void (*run)(void *to, size_t at, size_t len);
    void (*patch)(void *to, size_t at, const struct hearthi_patch *p);
    void *to;
};
void hearthi_pieces_make(const struct hearthi_pieces *pieces,
                         const uint64_t *mask, size_t blocks);

/* ---- in an active message (mpi/am_mailbox.h) ---- */

/* Its pieces follow, one behind the other. */
struct hearthi_am_buffer {
    uint64_t bytes;
    uint8_t  body[];
};

/* A run begins with where it goes and how long it is. */
enum { HEARTHI_RUN_HEAD = sizeof(uint64_t) };

/* Of a patch, beside its units. */
enum { HEARTHI_PATCH_HEAD = 2 * sizeof(uint64_t) };

/* Offsets are below this.  A segment is smaller on x86-64 and wherever else a
 * process has 128 TiB: it is mapped twice, as home memory and in the heap. */
#define HEARTHI_AM_BUFFER_OFFSETS (UINT64_C(1) << 46)

/* Append to an active message that has room. */
void hearthi_am_buffer_run(struct hearthi_am_buffer *l, size_t offset,
                           const void *src, size_t len);
void hearthi_am_buffer_patch(struct hearthi_am_buffer   *l,
                             const struct hearthi_patch *p, size_t offset,
                             const char *src);

/* Beside the adds of a piece. */
enum { HEARTHI_ADDS_HEAD = sizeof(uint64_t) };

void hearthi_am_buffer_adds(struct hearthi_am_buffer *l,
                            const struct hearthi_add *add, size_t n);

/* Store all of it where it belongs in a segment, and do its adds there. */
void hearthi_am_buffer_store(const struct hearthi_am_buffer *l, char *segment);

#endif
