/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Replacement: what is given up where frames, or the kernel's mappings, come
 * to an end.  The table lock is held by callers.
 */
#ifndef HEARTHI_EVICT_H
#define HEARTHI_EVICT_H

#include <stdbool.h>
#include <stdint.h>

/* Longest run of home pages whose mapping is given up, and made, as one. */
enum { HEARTHI_HOME_RUN = 64 };

/* A home page whose mapping was given up comes back, with those behind it, in
 * the state it would be in: tracked pages stay tracked.  `write`: it is about
 * to be written. */
void hearthi_home_back(uint64_t page, bool write);

/* Most pages that one fetch may bring: some, however many are held. */
uint64_t hearthi_copies_most(void);

/* Make room for frames of so many more pages, giving up the oldest copies.
 * Afterwards the kernel's mappings are inside their budget as well, so 0 is
 * for those who only split some. */
void hearthi_copies_reserve(uint64_t count);

#endif
