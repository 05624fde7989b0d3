/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What all ranks tell each other inside a barrier, by messages of MPI's that
 * have tags of their own: so they go beside the collective calls of another
 * thread, which come in another order on each rank.  One thread at a time.
 */
#ifndef HEARTHI_MIGRATE_AGREE_H
#define HEARTHI_MIGRATE_AGREE_H

#include <stddef.h>
#include <stdint.h>

/* So many bytes of each rank. */
void hearthi_barrier_gather(const void *mine, size_t bytes, void *all);

/* Bits that any rank has set.  All ranks have come when it returns. */
void hearthi_barrier_or(uint8_t *bits, size_t bytes);

#endif
