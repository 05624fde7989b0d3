/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "fork_child.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "migration_freeze.h"
#include "page.h"
#include "space/heap.h"
#include "space/segment.h"
#include "world.h"

_Atomic uint64_t *hearthi_fork_count;

static uint64_t at_fork;
static uint8_t *copied; /* of a child: a bit for each page */

/* Without memory for the word no child reads anything. */
static void
count_open(void)
{
    void *at;

    if (hearthi_fork_count != NULL)
        return;
    at = mmap(NULL, sizeof *hearthi_fork_count, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED)
        hearthi_fork_count = at;
}

void
hearthi_fork_close(void)
{
    if (hearthi_fork_count != NULL)
        munmap((void *)hearthi_fork_count, sizeof *hearthi_fork_count);
    hearthi_fork_count = NULL;
}

/* Any reuse that the lock does not keep out comes behind this load, and the
 * child sees that the word has changed. */
void
hearthi_fork_before(void)
{
    hearthi_table_lock();
    count_open();
    if (hearthi_fork_count != NULL)
        at_fork = atomic_load(hearthi_fork_count);
}

void
hearthi_fork_parent(void)
{
    hearthi_table_unlock();
}

void
hearthi_fork_child(void)
{
    const struct hearthi_heap *h = &hearthi_heap;

    hearthi_table_unlock();
    if (mmap(h->base, h->bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == h->base &&
        hearthi_fork_count != NULL)
        copied = hearthi_sparse(h->pages / 8 + 1);
}

/* Where the page was at the fork, in memory that is mapped here still.  It may
 * have been frozen: then a barrier was about to move it, and it was where it
 * had been. */
static const char *
source(uint64_t page)
{
    const enum hearthi_state state = hearthi_is_frozen(page)
                                         ? hearthi_frozen_state(page)
                                         : hearthi_state_of(page);
    const char              *base;

    if (hearthi_is_copy(state) || state == HEARTHI_PREFETCHED)
        return hearthi_cached(page);
    if (!hearthi_is_home(state))
        return NULL;
    base = hearthi_segments
               .base[hearthi_world.node_rank_of[hearthi_home_of(page)]];
    return base + hearthi_home_at(page);
}

/* The fence is the child's part of the sequence lock (fork_child.h): the loads
 * of the page come before that of the count. */
static const char *
page_bring(uint64_t page)
{
    const size_t bytes = hearthi_heap.page;
    const char  *from = copied != NULL ? source(page) : NULL;
    void        *copy;

    if (copied != NULL && (copied[page / 8] >> page % 8 & 1) != 0)
        return NULL;
    if (from == NULL)
        return "it has the pages that were here, to read: touch them before "
               "fork()";
    copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return "there is no memory for a copy";
    memcpy(copy, from, bytes);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(hearthi_fork_count, memory_order_relaxed) !=
        at_fork) {
        munmap(copy, bytes);
        return "its parent has used memory of the heap anew since fork() "
               "(hearth_free, HEARTH_CACHE): read it before that, which "
               "keeps it";
    }
    if (mprotect(copy, bytes, PROT_READ) != 0 ||
        (void *)syscall(SYS_mremap, copy, bytes, bytes,
                        MREMAP_MAYMOVE | MREMAP_FIXED,
                        hearthi_app(page)) != hearthi_app(page))
        return "the copy cannot be mapped";
    copied[page / 8] |= (uint8_t)(1 << page % 8);
    return NULL;
}

/* A child may have threads of its own, which come here at once. */
const char *
hearthi_fork_page(uint64_t page)
{
    const char *why;

    hearthi_table_lock();
    why = page_bring(page);
    hearthi_table_unlock();
    return why;
}

void
hearthi_fork_read(const void *p, size_t bytes)
{
    if (copied == NULL || bytes == 0)
        return;
    for (uint64_t page = hearthi_page_of(p),
                  last = hearthi_page_of((const char *)p + bytes - 1);
         page <= last; page++)
        hearthi_fork_page(page);
}
