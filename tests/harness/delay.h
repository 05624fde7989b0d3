/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Trouble below the protocol: atomic steps that the calling thread makes by
 * MPI are late.  It drives progress meanwhile, so that it delays nobody else.
 */
#ifndef HEARTH_DELAY_H
#define HEARTH_DELAY_H

#include <stdbool.h>
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

/* From now on so is, of all threads, one call of MPI in so many by which Hearth
 * transfers, steps, flushes, sends or receives, before it or after it.  The
 * thread sleeps meanwhile, and drives nothing. */
void delay_calls(uint64_t seed, unsigned one_in, double most_ms);

/* From now on a Put or Get begins only when a flush waits for it, as MPI may do
 * it (MPI-3.1, 11.3): until then its bytes are neither taken nor written, and
 * a source that is gone by then gives others. */
void delay_transfers(bool yes);

/* Stay inside MPI for so long. */
void delay_here(double ms);

/* Until the next call with 0, each MPI_Win_flush begins so many milliseconds
 * late, asleep.  Returns how many were under way at a time since the last
 * call. */
int delay_flush(double ms);

#endif
