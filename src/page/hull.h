/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hulls over gaps.  One call of the kernel that changes protections takes 1 to
 * 3 us, and 20 to 50 ns for each page.  Pages that lie scattered would take a
 * call each.  Where the pages between two of them have the protection already
 * that both are about to get, one call for all from the first to the last, the
 * hull, does the same.
 *
 * Why that is right:
 *   - No page changes its state but those that would without hulls.  What is
 *     done besides for a page that changes (its diff, its twin, what is noted
 *     and counted of it) is done for these alone, and not for those between.
 *   - A page between has the state that is given to the whole hull.  This is
 *     looked at under the table's lock, without which no state changes, and
 *     the call follows before the lock is free.
 *   - The kernel takes nothing from a page that it protects once more as it is
 *     protected: one that can be read can be read meanwhile, and one that
 *     shows nothing goes on showing nothing.  (userfaultfd may take its entry
 *     for a moment.  Then a thread that reads there faults, waits for the
 *     lock, and finds the page as it was: as where the kernel loses entries,
 *     uffd_pages.h.)
 *   - The call comes before the first page of the hull is compared with its
 *     twin, so each is protected first and compared then (copies.c).
 *   - A copy that is pinned or on its way is not between others: a thread that
 *     has left the lock is about to change it.
 *
 * Behind each allocation is a page that is in none, and which no hull covers:
 * so a hull lies in one allocation.
 */
#ifndef HEARTHI_HULL_H
#define HEARTHI_HULL_H

#include <stdbool.h>
#include <stdint.h>

/* At most so many pages lie between two: what they cost in the table and in
 * the kernel is then less than a call. */
enum { HEARTHI_HULL_GAP = 16 };

/* What a page is to a hull: one for which it is made, one that may lie between
 * such, or neither. */
enum hearthi_in_hull { HEARTHI_HULL_OF, HEARTHI_HULL_OVER, HEARTHI_HULL_END };

/* The pages of the hull that begins with this one, as far as `ask` allows, and
 * below `end`.  The last is one for which it is made, too. */
static inline uint64_t
hearthi_hull(uint64_t first, uint64_t end,
             enum hearthi_in_hull (*ask)(uint64_t page, const void *arg),
             const void *arg)
{
    uint64_t last = first;

    for (uint64_t p = first + 1; p < end && p - last <= HEARTHI_HULL_GAP + 1;
         p++) {
        enum hearthi_in_hull is = ask(p, arg);

        if (is == HEARTHI_HULL_END)
            break;
        if (is == HEARTHI_HULL_OF)
            last = p;
    }
    return last + 1 - first;
}

#endif
