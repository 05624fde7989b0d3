/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What all ranks have handed in, put together on rank 0: one entry for each
 * instruction, piece of memory, lock and barrier, whichever ranks had to do
 * with it.
 */
#ifndef HEARTHI_MERGED_H
#define HEARTHI_MERGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "part.h"
#include "shares.h"

enum { HEARTHI_MERGED_PATHS = 256 };

/* A place in the program.  Texts are NULL where they are not known. */
struct hearthi_site {
    const char *module; /* path; NULL: in no file that is known */
    uint64_t    offset;
    char       *file, *function;
    int         line;
};

struct hearthi_seen_line {
    struct hearthi_cost cost;
    size_t              site;
    uint64_t            stride, strided, inside, faults;
    uint64_t            calls, brought; /* by hearth_prefetch() */
};

struct hearthi_seen_memory {
    struct hearthi_cost cost;
    size_t              site, line; /* the line that is dearest there */
    uint64_t            from, bytes, collective, line_ns;
    char                name[HEARTHI_ALLOCATION_NAME];
};

/* wait_most and who: the rank that waited longest in all. */
struct hearthi_seen_lock {
    size_t   site;
    uint64_t n, wait_ns, longest_ns, held_ns, wait_most;
    uint64_t holds, computed, one_word, wider, word;
    int      sync, ranks, who;
    char     text[HEARTHI_LOCK_KEY_TEXT];
};

/* Of the samples: how often each rank came last, and how long the others had
 * waited for it in all. */
struct hearthi_seen_barrier {
    size_t    site;
    uint64_t  n, wait_ns, longest_ns, samples;
    uint64_t  uneven_ns; /* of all ranks, as if no sample had been left out */
    uint64_t *last;      /* a number for each rank */
    uint64_t *late_ns;   /* of uneven_ns, where that rank came last */
};

struct hearthi_seen_page {
    const struct hearthi_profile_part_page *of;
    int                                     rank;
};

struct hearthi_merged {
    int                                 ranks, nodes;
    struct hearthi_profile_part       **part;
    struct hearthi_profile_part_arrays *a;
    struct hearthi_site                *site;
    struct hearthi_seen_line           *line;
    struct hearthi_seen_memory         *memory;
    struct hearthi_seen_lock           *lock;
    struct hearthi_seen_barrier        *barrier;
    struct hearthi_seen_page           *page; /* by number, then by rank */
    size_t      sites, lines, memories, locks, barriers, pages;
    char       *path[HEARTHI_MERGED_PATHS]; /* of the files of sites */
    size_t      paths;
    uint64_t    dropped, left_out, every;
    uint64_t    whole_ns;   /* the sections of all ranks */
    uint64_t    elapsed_ns; /* the longest */
    const char *no_lines;   /* why sites have no files and lines, or NULL */
};

/* On rank 0, of a part from each rank: takes them.  NULL: no memory. */
struct hearthi_merged *hearthi_merged_make(struct hearthi_profile_part **part,
                                           int ranks, int nodes);
void                   hearthi_merged_free(struct hearthi_merged *m);

/* Give each site its file, line and function (resolve.c). */
void hearthi_sites_resolve(struct hearthi_merged *m);

/* Put instructions of one line together, and find the dearest line of each
 * piece of memory (fold.c).  False: no memory. */
bool hearthi_merged_fold(struct hearthi_merged *m);

#endif
