/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Diffs: where a page differs from its twin.  Pure data, no state; safe in a
 * signal handler and on several threads.
 */
#ifndef HEARTHI_DIFF_H
#define HEARTHI_DIFF_H

#include <stddef.h>
#include <stdint.h>

/* Bytes [off, off + len) of one page. */
struct hearthi_run {
    uint32_t off, len;
};

/* Runs of units in which page differs from twin: in order, disjoint, never
 * adjacent, and off and len are multiples of the unit.  A unit that differs
 * in one byte counts whole, so unit 1 is exact to the byte.
 *
 * unit is 1, 4 or 8; size a multiple of 64 below 4 GiB; page and twin may
 * have any alignment and are only read.  out must have room for
 * size / (2 * unit) + 1 runs; more are never written.  Returns their number.
 *
 * Each block of 64 bytes is compared in a few instructions, and wholly equal
 * and wholly different ones cost no more than that: the speed is that of
 * memory, and a few ns more for every run.
 *
 * Another thread may write the page meanwhile: then each unit it writes is
 * in the result or not, and the rest is exact. */
size_t hearthi_diff(const void *page, const void *twin, size_t size,
                    unsigned unit, struct hearthi_run *out);

/* The same as masks, of size / 64 blocks: of the first byte of a block the
 * lowest bit.  Where there are many runs this is the faster form, for each
 * costs nothing. */
struct hearthi_changed {
    size_t runs, bytes;
};
struct hearthi_changed hearthi_diff_masks(const void *page, const void *twin,
                                          size_t size, unsigned unit,
                                          uint64_t *mask);

/* Its runs.  Returns their number. */
size_t hearthi_mask_runs(const uint64_t *mask, size_t blocks,
                         struct hearthi_run *out);

/* How many bits are set; the instruction is not part of every x86-64. */
static inline unsigned
hearthi_bits(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) +
        (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

#endif
