/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which lock has which name: a table in the segment of each rank, of the locks
 * that it manages.  Each rank asks for a name once (lock_names.h).
 */
#ifndef HEARTHI_LOCK_DIRECTORY_H
#define HEARTHI_LOCK_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

/* The bytes that takes in a segment, at names_at. */
size_t hearthi_lock_directory_bytes(void);

/* The lock of a name; one is given to it if it has none yet.  For any thread
 * that may call Hearth, on behalf of a call that is named if there are no
 * more. Blocks. */
int hearthi_lock_directory_lock(const char *call, uint64_t name);

/* The name of a lock that another rank may have learnt, or 0 if it has none.
 * Blocks. */
uint64_t hearthi_lock_directory_name(int lock);

/* How many locks this rank manages that have names, and their names. */
size_t   hearthi_lock_directory_count(void);
uint64_t hearthi_lock_directory_own(size_t i);

#endif
