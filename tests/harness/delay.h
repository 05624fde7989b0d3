/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Trouble below the protocol: atomic steps that the calling thread makes by
 * MPI are late.  It drives progress meanwhile, so that it delays nobody else.
 */
#ifndef HEARTH_DELAY_H
#define HEARTH_DELAY_H

#include <stdint.h>

/* How late, in milliseconds, each MPI_Fetch_and_op with MPI_REPLACE is to
 * begin from now on; that is the step by which a lock or flag is passed on. */
void delay_replace(double ms);

/* Call this, once, before this rank's next MPI_Get begins: NULL is nothing.
 * It may use MPI. */
void delay_next_get(void (*meanwhile)(void));

/* From now on one MPI_Fetch_and_op in so many is late, by up to so many
 * milliseconds, before it begins or before it is waited for; 0: none. */
void delay_some(uint64_t seed, unsigned one_in, double most_ms);

/* Stay inside MPI for so long. */
void delay_here(double ms);

#endif
