/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory that the ranks of a node share, for a transport's own use.
 */
#ifndef HEARTHI_SHM_AREA_H
#define HEARTHI_SHM_AREA_H

#include <mpi.h>
#include <stddef.h>

struct hearthi_shm_area {
    char   *base; /* on a cache line; the same memory on every rank */
    size_t  bytes;
    MPI_Win window;
};

/* Make it, its first `zero` bytes zeroed.  Collective over the node. */
void hearthi_shm_area_open(struct hearthi_shm_area *a, size_t bytes,
                           size_t zero);
void hearthi_shm_area_close(struct hearthi_shm_area *a);

#endif
