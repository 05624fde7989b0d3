/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages and flags to and from the segments of other nodes.
 */
#ifndef HEARTHI_TRANSPORT_MPI_TRANSFER_H
#define HEARTHI_TRANSPORT_MPI_TRANSFER_H

#include <stddef.h>

#include "base/mutex.h"
#include "fabric.h"
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
extern struct hearthi_fabric_batch hearthi_table_batch;

static inline void
hearthi_put(int home, size_t offset, const void *src, size_t len)
{
    HEARTHI_ASSERT_HAS(TABLE);
    hearthi_fabric_put(&hearthi_table_batch, home, offset, src, len);
}

static inline void
hearthi_puts_wait(void)
{
    hearthi_fabric_wait(&hearthi_table_batch);
}

#endif
