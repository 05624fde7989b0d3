/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a child of fork(2) reads of the heap.
 *
 * A child has its parent's mappings, and its parent goes on: frames are given
 * to other pages, arrays are freed and their memory is another array's.  So
 * nothing of the heap is mapped in a child.  A page that was here at the fork
 * comes to it as a copy of its own, when it is first read, and stays that.
 * The copy is good if the parent has used no memory anew since the fork: it
 * counts that in a word that both share, before it writes there, and the child
 * looks at the word behind its copy.  (A sequence lock: release fence between
 * count and stores at the one side, acquire fence between loads and count at
 * the other.)  If it has, the child gets a line and SIGSEGV.
 *
 * What the parent or others store into an array that stays is seen or not.
 */
#ifndef HEARTHI_FORK_CHILD_H
#define HEARTHI_FORK_CHILD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* How often memory was used anew; NULL before the first fork(). */
extern _Atomic uint64_t *hearthi_fork_count;

/* Memory of the heap is about to be another page's, or another array's. */
static inline void
hearthi_fork_reuse(void)
{
    if (hearthi_fork_count == NULL)
        return;
    atomic_fetch_add_explicit(hearthi_fork_count, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

void hearthi_fork_close(void);

/* For pthread_atfork(3), of a process that is a rank.  The page table is whole
 * at the fork: its lock is taken before and given back by both. */
void hearthi_fork_before(void);
void hearthi_fork_parent(void);
void hearthi_fork_child(void);

/* In a child: a page is to be read.  NULL if it can be now, else why not. */
const char *hearthi_fork_page(uint64_t page);

/* The same for the kernel, of a buffer of the heap, as far as it can be. */
void hearthi_fork_read(const void *p, size_t bytes);

#endif
