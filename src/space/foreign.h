/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the program has mapped over the heap.
 *
 * Hearth cannot stand before mmap(2), shmat(2) and munmap(2)
 * (front/user_mprotect.c), so it asks the kernel afterwards what lies there.
 * All that Hearth maps shows one of a few files, shared: that of the cached
 * frames and those of the node's segments.  Anything else is the program's,
 * and where nothing is mapped the program has taken something away.
 */
#ifndef HEARTHI_FOREIGN_H
#define HEARTHI_FOREIGN_H

#include <stdbool.h>

/* Mappings of this process among which it is looked for. */
enum { HEARTHI_FOREIGN_MAPPINGS = 65536 };

/* Learn what Hearth's own files are; after the segments. */
void hearthi_foreign_open(void);
void hearthi_foreign_close(void);

/* Hearth itself has private memory in the heap, for a while: nothing is looked
 * for. */
void hearthi_foreign_allow(bool allow);

/* End the job with a line if a part of the heap does not show what it should,
 * as far as that can be known.  With the lock of the page table, under which
 * all mappings of the heap are made; in a signal handler, too. */
void hearthi_foreign_check(const char *call);

/* Does the kernel allow this process more mappings (vm.max_map_count)?  To
 * count them takes milliseconds where they are many, and to ask for one tells
 * nothing, since it may become a part of its neighbour: so a mapping of three
 * pages is split, which takes two more, and mended, in 4 us, once in ten
 * milliseconds; for the rest of them this is true.  One thread at a time. */
bool hearthi_maps_may_grow(void);

#endif
