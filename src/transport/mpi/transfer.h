/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes to and from the windows that cover the segments.
 */
#ifndef HEARTHI_TRANSPORT_MPI_TRANSFER_H
#define HEARTHI_TRANSPORT_MPI_TRANSFER_H

#include <stddef.h>

#include "transport/transport.h"

void hearthi_transfer_open(void);
void hearthi_transfer_close(void);

/* As the transport's (transport.h). */
void hearthi_mpi_fetch(const struct hearthi_fetch *run, size_t n);
void hearthi_mpi_fetch_concurrent(int way, const struct hearthi_fetch *run,
                                  size_t n);
bool hearthi_mpi_fetch_begin(const struct hearthi_fetch *run, size_t n);
void hearthi_mpi_fetch_end(void);
void hearthi_mpi_store(int home, size_t offset, const void *src, size_t len);
void hearthi_mpi_stored(void);

/* Put bytes, which stay untouched until they have arrived; and wait until all
 * have.  The lock of the page table is held. */
void hearthi_put(int home, size_t offset, const void *src, size_t len);
void hearthi_puts_wait(void);

/* Read from the head of a segment; from any thread. */
void hearthi_look(int home, size_t offset, void *to, size_t len);

#endif
