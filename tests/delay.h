/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Trouble below the protocol: this rank's steps by MPI are late.  The rank
 * drives progress meanwhile, so that it delays nobody else.
 */
#ifndef HEARTH_DELAY_H
#define HEARTH_DELAY_H

/* How late, in milliseconds, each MPI_Fetch_and_op with MPI_REPLACE is to
 * begin from now on; that is the step by which a lock or flag is passed on. */
void delay_replace(double ms);

/* Call this, once, before this rank's next MPI_Get begins: NULL is nothing.
 * It may use MPI. */
void delay_next_get(void (*meanwhile)(void));

/* Stay inside MPI for so long. */
void delay_here(double ms);

#endif
