/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Synchronisations, as HEARTH_RACES keeps them: each ends the interval, and
 * says behind which releases it comes, or how manieth release of its object it
 * is.  Only while hearthi_races is not NULL, and without the table's lock but
 * for the two of barriers.
 *
 * Each object has a word in the heap, by which ranks count:
 *
 *   - A lock's word counts those that took it, while they hold it.  The n-th
 *     comes after the releases of those before, and its own release is the
 *     n-th.
 *   - Of flags and reader-writer locks the word counts releases, before each
 * of them can be seen; an acquire that is over comes after so many.  So does
 *     the word of all hearth_release(), which counts when the release is done,
 *     and which hearth_acquire() reads when it begins.
 *   - All ranks come to as many barriers, which they count by themselves.
 */
#ifndef HEARTHI_RACE_SYNC_H
#define HEARTHI_RACE_SYNC_H

#include <stdint.h>

#include "races/race_history.h"

/* A word for each object, in pages that no rank touches otherwise: so many. */
int  hearthi_race_sync_words(void);
void hearthi_race_sync_open(char *words);
void hearthi_race_sync_close(void);

/* A lock was taken, or is about to be released. */
void hearthi_race_took(int lock);
void hearthi_race_gives(int lock);

/* A flag or a reader-writer lock is about to be set or released, or all is
 * home that hearth_release() is for; and one was waited for or acquired. */
void hearthi_race_releases(enum hearthi_race_kind kind, int object);
void hearthi_race_acquired(enum hearthi_race_kind kind, int object);

/* hearth_acquire() begins, which gives a number, and is over. */
uint64_t hearthi_race_begins(void);
void     hearthi_race_told(uint64_t number);

/* A barrier is called, which gives the place of the call; this rank comes to
 * it, its interval has ended; and it leaves.  The last two with the table's
 * lock, under which no stack is to be looked at.  All three do nothing where
 * races are not looked for. */
unsigned hearthi_race_barrier(void);
void     hearthi_race_arrive(unsigned place);
void     hearthi_race_depart(unsigned place);

#endif
