/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A central free list, between its files: central_freelist.c has small
 * objects, large.c large ones.  Callers of what is here have its mutex.
 */
#ifndef HEARTHI_FREELIST_STATE_H
#define HEARTHI_FREELIST_STATE_H

#include <pthread.h>

#include "central_freelist.h"
#include "size_class.h"
#include "slab.h"
#include "space/extent.h"

/* Of one home.  Runs are numbered as the quanta of all arenas are. */
struct hearthi_freelist {
    pthread_mutex_t        mutex;
    int                    home;
    struct hearthi_slab   *with[HEARTHI_SIZE_CLASSES]; /* free slots */
    struct hearthi_slab   *full;                       /* no free slot */
    struct hearthi_slab   *empty; /* without objects, for any class */
    struct hearthi_extents runs;
    uint64_t               split;  /* of the arena, when it was last seen */
    uint64_t               blocks; /* that it has of the arena */
    uint64_t large, large_bytes;   /* live, and on their way back */
    uint64_t taken, peak; /* bytes that are not free here, and the most */
};

/* So many bytes more are not free here. */
static inline void
hearthi_freelist_taken(struct hearthi_freelist *s, uint64_t bytes)
{
    s->taken += bytes;
    if (s->taken > s->peak)
        s->peak = s->taken;
}

/* Made when it is first asked for. */
struct hearthi_freelist *hearthi_freelist_of(int home);

bool hearthi_freelist_is_known(int home);

/* Of a run before this one (malloc_image.h): a slab, with a bit for each slot
 * that is live, and a large object, which is false if its quanta are not
 * free. */
void hearthi_slab_restore(struct hearthi_freelist *s, char *base,
                          unsigned class, const uint64_t *live);
bool hearthi_run_restore(struct hearthi_freelist *s, uint64_t first,
                         uint64_t quanta);

/* Blocks whose small objects are all free are for large ones from now on:
 * false if there are none. */
bool hearthi_slabs_melt(struct hearthi_freelist *s);

/* Blocks that were never used, or NULL. */
char *hearthi_runs_new(struct hearthi_freelist *s, uint64_t blocks);

/* For large objects blocks that were never used, or those that were given back
 * to the arena and are this rank's now, NULL if there are none: false then.
 * So many are split off at a time, if there are so many. */
enum { HEARTHI_LARGE_BLOCKS = 4 };
bool hearthi_runs_carve(struct hearthi_freelist *s, uint64_t blocks);
bool hearthi_runs_own_vacant(struct hearthi_freelist *s, char *base,
                             uint64_t blocks);

/* These quanta are used from now on: a bit for each use that they had.  So many
 * bytes of them count as written then, if they must (purge.h). */
unsigned hearthi_quanta_use(uint64_t first, uint64_t quanta);
void     hearthi_quanta_note(uint64_t first, size_t bytes, unsigned had);

/* A run is this rank's. */
void hearthi_run_own(uint64_t first, uint64_t quanta);

/* A block of free quanta for small objects, or NULL. */
char *hearthi_runs_block(struct hearthi_freelist *s);

/* Blocks of those that were given back to the arena are this rank's; false if
 * there are no such. */
bool hearthi_runs_vacant(struct hearthi_freelist *s, uint64_t blocks);

/* All blocks that are free go back to the arena, and all of their memory to
 * the system if that is asked for. */
void hearthi_runs_shed(struct hearthi_freelist *s, bool purge);

/* A block of this rank's whose quanta are free from now on. */
void hearthi_runs_give_block(struct hearthi_freelist *s, char *base);

#endif
