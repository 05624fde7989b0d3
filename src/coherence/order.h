/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Order by the program's own messages: what a release without a lock or flag
 * brings home, and what an acquire drops.  Calls are checked by the layer
 * above.
 */
#ifndef HEARTHI_ORDER_H
#define HEARTHI_ORDER_H

#include <stdint.h>

/* Every diff of these pages, or of all, has arrived at its home. */
void hearthi_order_release(uint64_t page, uint64_t count);
void hearthi_order_release_all(void);

/* No copy of these pages, or none at all, is from before this. */
void hearthi_order_acquire(uint64_t page, uint64_t count);
void hearthi_order_acquire_all(void);

#endif
