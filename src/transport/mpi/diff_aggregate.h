/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Diffs: few runs of bytes go by a Put each, many in letters (am_mailbox.h).
 */
#ifndef HEARTHI_DIFF_AGGREGATE_H
#define HEARTHI_DIFF_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* packs: homes do letters, on every rank. */
void hearthi_diff_aggregate_open(bool packs);
void hearthi_diff_aggregate_close(void);

/* As the transport's operations (transport.h). */
void hearthi_mpi_diff(int home, size_t offset, const void *src, size_t len);
bool hearthi_mpi_patch(int home, size_t offset, const char *src,
                       const uint64_t *mask, size_t blocks, size_t runs);
void hearthi_mpi_notify(int home);
void hearthi_mpi_flush(void);

#endif
