/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory without collectives: objects of any size that any thread of any rank
 * takes and gives back.  The files, lowest first: size_class.h, slab.h,
 * arena_map.h, central_freelist.h, remote_free.h, need.h, background_thread.h,
 * tcache.h, and this.
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

void hearthi_malloc_remote_free_settle(void);

/* In a child of fork(2): nothing can be taken or given back. */
void hearthi_malloc_forked(void);

/* Before a barrier: what this rank has freed of others goes to them, and free
 * blocks to their arena. */
static inline void
hearthi_malloc_settle(void)
{
    if (hearthi_arena_map_has_freed())
        hearthi_malloc_remote_free_settle();
}

/* Before a wait that may be long, as the wait for a flag: what this rank has
 * freed of others goes to them. */
void hearthi_malloc_send_freed(void);

/* After a last barrier: what was freed wrongly is found. */
void hearthi_malloc_check(void);

/* An object of so many bytes, more than 0, at a multiple of `align`, a power
 * of two, at home on a rank that there is.  Its bytes are 0 if that is asked
 * for. Ends the job if there is no memory, or is NULL. */
struct hearthi_wanted {
    size_t bytes, align;
    int    home;
    bool   zero, may_fail;
};
enum { HEARTHI_ALIGN = 16 }; /* of all objects */

void *hearthi_malloc(const char *call, const struct hearthi_wanted *wanted);

/* One that takes the place of another, with room to grow if there is some and
 * that is asked for. */
void *hearthi_malloc_spare(const char *call, size_t bytes, int home,
                           bool spare);

/* One that has so many bytes gets another size where it is: false if it
 * cannot. */
bool hearthi_malloc_resize(void *p, size_t bytes, size_t had);

/* Back with one that lies in an arena; the program's call is there. */
void hearthi_malloc_free(const char *call, void *p, const void *caller);

/* How many bytes it has. */
size_t hearthi_malloc_bytes(const char *call, const void *p);

/* All that is free goes where it may be used again. */
void hearthi_malloc_collect(void);

#endif
