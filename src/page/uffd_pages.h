/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which pages of the application view are watched by userfaultfd
 * (space/userfault.h), and not protected by mprotect.  They are one mapping of
 * the kernel however their states differ, so copies may lie scattered.
 *
 * Watched is what has its home on another node and shows its own place: not
 * home pages, not a copy whose frame lies elsewhere (frames.h), and not one
 * that was pinned, since the kernel must find it: that one is protected by
 * mprotect from then on, until its frame is given up.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_UFFD_PAGES_H
#define HEARTHI_UFFD_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "page.h"
#include "policy/uffd_policy.h"

/* 0: not yet; left to mprotect when it was pinned. */
enum { HEARTHI_UFFD_WATCHED = 1, HEARTHI_UFFD_LEFT = 2 };

struct hearthi_uffd_pages {
    bool     up;   /* userfaultfd is in use */
    uint8_t *page; /* of each page: see below */
};

extern struct hearthi_uffd_pages hearthi_uffd_pages;

/* As HEARTH_PROTECT says and the kernel allows. */
void hearthi_uffd_pages_open(void);
void hearthi_uffd_pages_close(void);

/* A program that closes descriptors which it did not open is told so. */
void hearthi_uffd_pages_check(void);

/* Without the lock, an answer may be out of date. */
static inline bool
hearthi_is_uffd_page(uint64_t page)
{
    return hearthi_uffd_pages.up &&
           hearthi_uffd_pages.page[page] == HEARTHI_UFFD_WATCHED;
}

/* Can a page be watched, and is it not yet?  Then these around it, which can
 * be, too, are to be watched with it. */
bool hearthi_may_watch(uint64_t page);
void hearthi_uffd_pages_around(uint64_t page, uint64_t *first, uint64_t *end);

/* The kernel's mappings, for what decides (policy/uffd_policy.h). */
static inline struct hearthi_areas
hearthi_areas_now(void)
{
    return (struct hearthi_areas){ hearthi_table.areas,
                                   hearthi_table.areas_max };
}

/* Watched pages are one mapping with those beside them: is this one among at
 * most so many, whose copies take mappings, as under mprotect?  *first,
 * *count: all of these.  So it is where allocations of few pages each lie
 * apart. */
bool hearthi_uffd_pages_are_few(uint64_t page, uint64_t most, uint64_t *first,
                                uint64_t *count);

/* Watch pages that show their own place anew, without access.  And they show
 * something else now. */
void hearthi_uffd_pages_watch(uint64_t page, uint64_t count);

/* Note them as watched, which hearthi_uffd_pages_watch() does first. */
void hearthi_uffd_pages_note(uint64_t page, uint64_t count);
void hearthi_uffd_pages_forget(uint64_t page, uint64_t count);

/* The same of a large range, whose memory goes back. */
void hearthi_uffd_pages_clear(uint64_t page, uint64_t count);

/* Let watched pages be seen as in a state that they are about to get. */
void hearthi_uffd_pages_set(uint64_t page, uint64_t count,
                            enum hearthi_state to);

/* Let copies that are watched, and hidden, be seen as their state says, which
 * is that of the first. */
void hearthi_uffd_pages_show(uint64_t page, uint64_t count);

/* A thread has faulted on a valid copy: another was faster, or the kernel has
 * lost the page's entry. */
void hearthi_uffd_pages_renew(uint64_t page);

/* Pages that are valid copies, and are watched, are protected by mprotect as
 * their state says, without a moment in which they allow more or are not
 * there. */
void hearthi_uffd_pages_unwatch(uint64_t page, uint64_t count, int prot);

#endif
