/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Protection by userfaultfd(2).  mprotect(2) makes a mapping of the kernel for
 * each run of pages of one protection, of which a process may have so many
 * (vm.max_map_count).  Memory that is watched by userfaultfd is one mapping,
 * readable and writable, and each of its pages is hidden, shown to be read, or
 * shown to be written, by its entry in the page table alone.
 *
 * A thread that touches a hidden page, or stores to one that is shown to be
 * read, gets SIGBUS with the address (BUS_ADRERR) itself; the kernel gets
 * EFAULT.  There is no thread that must answer, so no fault can wait for one.
 * When a call returns, no thread has the old entry in its TLB.
 *
 * Only for shared mappings of memory files.  What is watched is not there in a
 * child of fork(2), which would have it unprotected.  An entry may get lost,
 * where the kernel wants the memory: then the page is hidden, and is shown
 * again by code that knows that it should be.  So the kernel cannot be given
 * it.
 *
 * No MPI call, and no other part of the library: hearth-info asks it, too.
 */
#ifndef HEARTHI_USERFAULT_H
#define HEARTHI_USERFAULT_H

#include <stdbool.h>
#include <stddef.h>

/* Get ready, and try all of it on a page: NULL, or why it cannot be. */
const char *hearthi_userfault_open(void);
void        hearthi_userfault_close(void);

/* False when others have closed its descriptor: nothing is watched then, and
 * all that was is readable and writable. */
bool hearthi_userfault_works(void);

/* All of these return 0 or an errno; a range is one of whole pages. */

/* Watch a range, of which nothing was ever touched; all of it is hidden. */
int hearthi_userfault_watch(void *at, size_t len);

/* End that: the protection is what mprotect(2) has said last. */
int hearthi_userfault_leave(void *at, size_t len);

/* Show pages that are hidden, to be read or to be written; those that are
 * shown stay as they are.  EFAULT: the file has no memory there. */
int hearthi_userfault_show(void *at, size_t len, bool write);

/* Shown pages of a range are to be written, or to be read, from now on. */
int hearthi_userfault_allow(void *at, size_t len, bool write);

int hearthi_userfault_hide(void *at, size_t len);

#endif
