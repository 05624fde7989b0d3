/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which pages are worth being watched (page/uffd_pages.h).
 *
 * mprotect leaves entries of page tables where they are, and userfaultfd
 * touches each: to hide, show and open a page of a long run takes 20, 55 and
 * 55 ns with one and 50, 80 and 190 with the other (Linux 6.18, x86-64).  A
 * page by itself takes 1.3, 0.7 and 1.3 us against 1.2, 0.6 and 1.0, and
 * mprotect's cost grows with the mappings that are there, which end some day.
 * So granules of pages are watched where pages have changed one by one, or
 * where the kernel's mappings are many already.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_UFFD_POLICY_H
#define HEARTHI_UFFD_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* Pages, however long they are: the costs above are one for each page, and the
 * kernel counts a mapping for each run of pages. */
enum { HEARTHI_UFFD_GRANULE = 512 };

void hearthi_uffd_policy_open(void);
void hearthi_uffd_policy_close(void);

/* A run of so many pages becomes copies, or open ones. */
void hearthi_uffd_policy_note(uint64_t page, uint64_t count);

/* Of the kernel's mappings: how many are in use, and how many may be. */
struct hearthi_areas {
    long used, max;
};

/* Should what lies in the granule of a page be watched? */
bool hearthi_uffd_policy_scattered(uint64_t page, struct hearthi_areas areas);

/* Forget what was noted of granules in this range. */
void hearthi_uffd_policy_forget(uint64_t page, uint64_t count);

/* How many pages that may be watched are watched together, where all that are
 * allocated lie below `top`: those of an aligned group of so many. */
uint64_t hearthi_uffd_policy_size(struct hearthi_areas areas, uint64_t top);

#endif
