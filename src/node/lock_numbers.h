/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The numbers by which a program knows locks of addresses (hearth_lock_of), as
 * offsets from the first such number.  In a run that began by itself they are
 * those of the locks.  A program that goes on from a checkpoint may have kept
 * numbers in its heap; on another number of ranks locks are numbered in
 * another way, so there is a table of the numbers that were given then, the
 * same on all ranks, and what is given from now on lies behind all of them.
 */
#ifndef HEARTHI_LOCK_NUMBERS_H
#define HEARTHI_LOCK_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* At the start of a run that goes on: is there a table, and which numbers are
 * below all that are given from now on?  Then its entries, in any order; then
 * all are there. */
void hearthi_lock_numbers_begin(bool on, int end);
void hearthi_lock_numbers_note(int number, uint64_t name);
void hearthi_lock_numbers_settle(void);
void hearthi_lock_numbers_close(void);

bool hearthi_lock_numbers_is_on(void);

/* All that were given, or may yet be, are below. */
int hearthi_lock_numbers_end(void);

/* The number of a lock that has a name. */
int hearthi_lock_numbers_of(int sync, uint64_t name);

/* The name that had a number in the run before, or 0; then the lock follows
 * from the number. */
uint64_t hearthi_lock_numbers_name(int number);
int      hearthi_lock_numbers_sync(int number);

#endif
