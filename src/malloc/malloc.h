/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory without collectives: objects of any size that any thread of any rank
 * takes and gives back.  Lowest file first: size_class.h, slab.h, arena_map.h,
 * central_freelist.h, remote_free.h, tcache.h, and this.
 *
 * Why an allocator of our own: others keep what they know where it faults, and
 * where two nodes would change it at once.  mimalloc links free blocks through
 * the objects, and threads free each other's by atomic steps on words beside
 * them; dlmalloc's mspaces and rpmalloc have headers in the memory that they
 * deal out.  jemalloc keeps all it knows apart, and has hooks for where memory
 * comes from, but not whose it is on another node; and where it is packaged it
 * takes the place of malloc for the whole program.  What remains of such an
 * allocator is size classes and lists, which are a page of code.
 */
#ifndef HEARTHI_MALLOC_H
#define HEARTHI_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "arena_map.h"

void hearthi_malloc_open(void);
void hearthi_malloc_close(void);

/* In a child of fork(2): nothing can be taken or given back. */
void hearthi_malloc_forked(void);

/* Before a last barrier, and after it: what was freed wrongly is found.  True
 * if that is not all yet, as some waits still. */
void hearthi_malloc_settle(void);
bool hearthi_malloc_check(void);

/* An object of so many bytes, more than 0, at home on a rank that there is.
 * Its bytes are 0 if that is asked for.  Ends the job if there is no memory.
 */
void *hearthi_malloc(const char *call, size_t bytes, int home, bool zero);

/* Back with one that lies in an arena. */
void hearthi_malloc_free(const char *call, void *p);

/* How many bytes it has. */
size_t hearthi_malloc_bytes(const char *call, const void *p);

#endif
