/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank in need: it finds no memory, and asks all ranks for what is free
 * there, by a step on a word of theirs.  They look at the word wherever they
 * come by, and by a thread (background_thread.h).
 */
#ifndef HEARTHI_MALLOC_NEED_H
#define HEARTHI_MALLOC_NEED_H

#include "arena_map.h"
#include "central_freelist.h"

/* What other ranks freed is taken, what of theirs was freed here is handed
 * over, and what is free then goes. */
void hearthi_need_give(enum hearthi_shed how);

void hearthi_need_asked(void);

/* At a synchronisation that is no barrier, and wherever else this rank has
 * time for it: does one ask?  Locks are too many, and taken too often, for
 * messages of that kind each time. */
static inline void
hearthi_need_heed(void)
{
    if (hearthi_arena_map_has_freed() &&
        hearthi_arena_map_own(hearthi_arena_need_at()) !=
            __atomic_load_n(&hearthi_arena_map.need, __ATOMIC_RELAXED))
        hearthi_need_asked();
}

#endif
