/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hearth's own calls of MPI go past what stands in front of the program's:
 * every source of the library that calls MPI includes this.  It makes MPI_Put
 * and all others of mpi.table names of short functions that note where the
 * thread is and call MPI's: or those of a third party that stands before
 * MPI's, a profiler or a test.
 */
#ifndef HEARTHI_DIRECT_H
#define HEARTHI_DIRECT_H

#define HEARTHI_DIRECT
#include "front/mpi_calls.h"

#endif
