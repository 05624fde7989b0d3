/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which addresses elements of a datatype cover.
 */
#ifndef HEARTHI_DATATYPE_WALK_H
#define HEARTHI_DATATYPE_WALK_H

#include <mpi.h>

#include "front/buffer_pin.h"

/* Add what count elements at `at` cover of the heap.  A type with gaps of a
 * page and more is taken apart, so that pages that it does not touch are not
 * held: some of them may be in no allocation, and a column of a large matrix
 * must not bring the whole of it here. */
void hearthi_datatype_walk(struct hearthi_buffer_pin *u, int how, char *at,
                           MPI_Count count, MPI_Datatype type);

#endif
