/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What stands in a letter: pieces, each a run of bytes or a patch.  A patch is
 * 64 units of 1, 4 or 8 bytes, of which a word of bits says which are there.
 * Every piece holds changed bytes and no others, since others may be writing
 * the bytes beside them.  Pure data, no state.
 */
#ifndef HEARTHI_TRANSPORT_MPI_LETTER_H
#define HEARTHI_TRANSPORT_MPI_LETTER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Its pieces follow, one behind the other. */
struct hearthi_letter {
    uint64_t bytes;
    uint8_t  body[];
};

/* A run begins with where it goes and how long it is. */
enum { HEARTHI_RUN_HEAD = sizeof(uint64_t) };

/* Of a patch, beside its units, and what making one may write behind them. */
enum { HEARTHI_PATCH_HEAD = 2 * sizeof(uint64_t), HEARTHI_PATCH_SLACK = 8 };

/* The patch that is worth most where blocks of a page have so many changed
 * bytes, from the first block on, which has some. */
struct hearthi_patch {
    unsigned blocks; /* that it covers; 0: runs are better */
    unsigned shift;  /* units of 1 << shift bytes */
    uint64_t bits;   /* of them */
};
struct hearthi_patch hearthi_patch_of(const uint64_t *mask, size_t blocks);

size_t hearthi_patch_bytes(const struct hearthi_patch *p);

/* Append to a letter that has room. */
void hearthi_letter_run(struct hearthi_letter *l, size_t offset,
                        const void *src, size_t len);
void hearthi_letter_patch(struct hearthi_letter      *l,
                          const struct hearthi_patch *p, size_t offset,
                          const char *src);

/* Store all of it where it belongs in a segment. */
void hearthi_letter_store(const struct hearthi_letter *l, char *segment);

#endif
