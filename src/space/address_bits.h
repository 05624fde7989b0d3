/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How many addresses the kernel gives a program.  x86-64 and most aarch64
 * have 47 bits or more; kernels of aarch64 may be built for 42, 39 or 36, and
 * riscv64's sv39 leaves 38 for programs.
 */
#ifndef HEARTHI_ADDRESS_BITS_H
#define HEARTHI_ADDRESS_BITS_H

#include <stdbool.h>
#include <stddef.h>

/* No more are asked for: kernels give those above only on request. */
enum { HEARTHI_ADDRESS_BITS = 47 };

/* Addresses below 1 << this can be mapped, those near it too. */
unsigned hearthi_address_bits(void);

/* HEARTH_HEAP=auto, where so many ranks share a node. */
size_t hearthi_heap_default(unsigned bits, int node_size);

/* ThreadSanitizer allows few addresses for memory of a program, and maps at 0
 * what is asked for elsewhere with MAP_FIXED_NOREPLACE. */
bool hearthi_has_tsan(void);

#endif
