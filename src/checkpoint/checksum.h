/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Checksums of the files of a checkpoint: XXH3 of 64 bits, by xxhash.  Where
 * the library was built without that, no checkpoint can be made.
 */
#ifndef HEARTHI_CHECKSUM_H
#define HEARTHI_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t hearthi_checksum(const void *bytes, size_t n);

/* The same of bytes that come one piece after the other.  `new` gives NULL if
 * there is no memory for it; `end` gives the sum, and frees the memory. */
struct hearthi_sum *hearthi_sum_new(void);
void     hearthi_sum_add(struct hearthi_sum *s, const void *bytes, size_t n);
uint64_t hearthi_sum_end(struct hearthi_sum *s);

#endif
