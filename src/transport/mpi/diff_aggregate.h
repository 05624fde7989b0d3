/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Diffs: few runs of bytes go by a Put each, many in active messages
 * (am_mailbox.h).
 */
#ifndef HEARTHI_DIFF_AGGREGATE_H
#define HEARTHI_DIFF_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* packs: homes do active messages, on every rank. */
void hearthi_diff_aggregate_open(bool packs);
void hearthi_diff_aggregate_close(void);

/* The active message in which things go to a home next, with room for so many
 * bytes, at most that of HEARTHI_AM_PIECE.  Under the lock of the page table;
 * a flush is what brings it.  Only where there are active messages. */
enum { HEARTHI_AM_PIECE = 512 };
bool                      hearthi_diff_aggregates(void);
struct hearthi_am_buffer *hearthi_am_buffer_of(int home, size_t bytes);

/* As the transport's operations (transport.h). */
void hearthi_mpi_diff(int home, size_t offset, const void *src, size_t len);
bool hearthi_mpi_patch(int home, size_t offset, const char *src,
                       const uint64_t *mask, size_t blocks, size_t runs);
void hearthi_mpi_notify(int home);
void hearthi_mpi_flush(void);

#endif
