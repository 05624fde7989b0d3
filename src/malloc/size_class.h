/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sizes of small objects: multiples of 16 up to 128 bytes, then four to each
 * doubling, so that an object is at most a quarter larger than what was asked
 * for, or 15 bytes.  Pure data.
 */
#ifndef HEARTHI_SIZE_CLASS_H
#define HEARTHI_SIZE_CLASS_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

enum {
    HEARTHI_SMALL = 1 << 14, /* most bytes of a small object */
    HEARTHI_SIZE_CLASSES = 8 + 7 * 4
};

/* Of 1 to HEARTHI_SMALL bytes. */
static inline unsigned
hearthi_size_class_of(size_t bytes)
{
    size_t   last = bytes - 1;
    unsigned top;

    HEARTHI_ASSERT(bytes > 0 && bytes <= HEARTHI_SMALL);
    if (last < 128)
        return (unsigned)(last / 16);
    top = 63 - (unsigned)__builtin_clzll(last);
    return 8 + (top - 7) * 4 + (unsigned)(last >> (top - 2) & 3);
}

static inline size_t
hearthi_size_class_bytes(unsigned c)
{
    size_t doubling;

    HEARTHI_ASSERT(c < HEARTHI_SIZE_CLASSES);
    if (c < 8)
        return 16 * ((size_t)c + 1);
    doubling = (size_t)128 << (c - 8) / 4;
    return doubling + doubling / 4 * ((c - 8) % 4 + 1);
}

/* The first class from that of so many bytes on whose slots begin at multiples
 * of `align`, a power of two up to HEARTHI_SMALL. */
static inline unsigned
hearthi_size_class_aligned(size_t bytes, size_t align)
{
    unsigned c = hearthi_size_class_of(bytes > align ? bytes : align);

    while (hearthi_size_class_bytes(c) % align != 0)
        c++;
    return c;
}

#endif
