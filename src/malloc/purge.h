/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The memory of large objects that were freed stays for a while, since a
 * program that takes as much again would have a page fault for each page of
 * it, and then goes back to the system: mimalloc's purge delay, jemalloc's
 * decay.
 *
 * A quantum that is freed is KEPT.  Once in hearthi_purge_ns a thread of the
 * library (background_thread.h) looks at all that is free: what is KEPT is OLD
 * from then on, and the memory of what is OLD goes back, so between one and
 * two such times after it was freed.  What is taken before that has its memory
 * still, and is USED.
 *
 * To give memory back writes zeros at home, while other ranks may have copies
 * of what was there.  A store to such a copy of what it has already would make
 * no diff, and the home would keep its zero.  So a quantum is GONE, and when
 * this rank gives it out again, it counts as written by this rank then
 * (hearthi_written_note), by which the copies of all ranks go that get the
 * object from here.  Not earlier: a rank may fetch a page of free memory
 * without being asked to (a fetch ahead), with what was there before or with
 * the zeros, at any time until then.  So the thread touches neither the page
 * table nor a copy.  What is GONE may go back to its arena in blocks: a rank
 * that takes them, the same or another, counts them as written in the same way
 * when it gives them out (HEARTHI_QUANTUM_VACANT).
 *
 * Only what is at home here, in whole pages, and not where a network card may
 * have registered it.
 */
#ifndef HEARTHI_MALLOC_PURGE_H
#define HEARTHI_MALLOC_PURGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena_map.h"
#include "freelist_state.h"

/* How long memory stays at least; tests change it. */
extern _Atomic uint64_t hearthi_purge_ns;

void hearthi_purge_open(void);

/* A run was freed.  Callers of this one and the last have the mutex of the
 * freelist. */
void hearthi_purge_keep(const struct hearthi_freelist *s, uint64_t first,
                        uint64_t quanta);

/* In the background thread: may there be something that is kept?  And a look
 * at all that is free, until it is to stop. */
bool hearthi_purge_is_kept(void);
void hearthi_purge_look(const atomic_bool *stop);

/* All that is kept goes back now; and what else is free, and was used. */
void hearthi_purge_all(struct hearthi_freelist *s, bool used);

#endif
