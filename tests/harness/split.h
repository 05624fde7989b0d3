/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Test programs over several clusters: with MPI_TEST_CLUSTERS=N their ranks
 * are split into N clusters, each of which calls hearth_init() with a
 * communicator of its own, as jobs of their own do.  Ranks have the numbers
 * that they have in MPI_COMM_WORLD, so that programs need not know of it.
 * With MPI_TEST_CUT=SECONDS their links are cut, or silent for so long, again
 * and again.
 */
#ifndef SPLIT_H
#define SPLIT_H

#include <mpi.h>

/* hearth_init(). */
void split_init(MPI_Comm comm);

#endif
