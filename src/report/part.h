/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What one rank hands in for the report: numbers and addresses, in one piece
 * that goes through MPI as it is.  Addresses of the program are places: a file
 * and where in it, since ranks may have loaded it elsewhere.
 */
#ifndef HEARTHI_PART_H
#define HEARTHI_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hearth/hearth.h"
#include "profile/allocations.h"
#include "profile/profile.h"
#include "transport/lock_key.h"

enum {
    HEARTHI_PART_MODULES = 64,
    HEARTHI_PART_PATH = 256,
    HEARTHI_REPORT_LINES = 1 << 11, /* what of each a rank hands in, at most */
    HEARTHI_REPORT_MEMORIES = HEARTHI_REPORT_LINES,
    HEARTHI_REPORT_PAGES = 1 << 12,
    HEARTHI_REPORT_ALL_PAGES = 1 << 16, /* of all ranks */
    HEARTHI_NOWHERE = UINT16_MAX,       /* instead of a module */
    HEARTHI_NO_INDEX = -1               /* instead of an index */
};

/* Until parts are merged the module is one of the rank's. */
struct hearthi_code_place {
    uint64_t offset;
    uint32_t module;
};

/* What memory or an instruction has cost: ns is the time of faults, and its
 * share of what diffs and fetches ahead took. */
struct hearthi_cost {
    uint64_t reads, writes, ahead, diffs, diff_bytes, ns;
};

void hearthi_cost_add(struct hearthi_cost *to, const struct hearthi_cost *c);

/* Of n entries those that have cost anything, or all, the dearest first: fills
 * in their indices, and returns how many there are. */
size_t hearthi_costs_dearest(const struct hearthi_cost *cost, size_t n,
                             bool all, uint32_t *out);

/* Bytes that a rank took for itself in its whole run, at most: home memory of
 * allocations, memory that hearth_malloc() has for its objects, copies of
 * other ranks' pages and their bound, twins; and by the kernel's count its
 * tables of pages, what the process had of memory in all, where what two views
 * show counts twice, and what it had at the end with each page counted once,
 * and shared ones divided among those that share them (PSS); 0 if that is not
 * known. */
struct hearthi_rank_memory {
    uint64_t home, objects, copies, copies_bound, twins, tables, process;
    uint64_t proportional;
};

/* Of this rank (rank_memory.c). */
void hearthi_rank_memory_take(struct hearthi_rank_memory *to);

/* The option that bounded it, or NULL. */
const char *hearthi_rank_memory_bound(const struct hearthi_rank_memory *m,
                                      const hearth_stats               *s);

struct hearthi_profile_part_line {
    struct hearthi_code_place at;
    struct hearthi_cost       cost;
    uint64_t                  stride, brought;
    uint32_t                  strided, inside, calls;
};

struct hearthi_profile_part_memory {
    struct hearthi_code_place at;
    struct hearthi_cost       cost;
    uint64_t                  from, bytes, collective;
    char                      name[HEARTHI_ALLOCATION_NAME];
};

struct hearthi_profile_part_page {
    struct hearthi_cost cost;
    uint64_t            page;
    int32_t             line, memory, home; /* indices of the two above */
    uint32_t            own; /* intervals in which it was written at home */
    uint32_t            narrow;
    uint64_t            stored[HEARTHI_PROFILE_GRAINS / 64];
};

struct hearthi_profile_part_lock {
    struct hearthi_code_place at;
    uint64_t                  n, wait_ns, longest_ns, held_ns;
    uint64_t                  holds, computed, one_word, wider, word;
    int32_t                   sync;
    char                      text[HEARTHI_LOCK_KEY_TEXT];
};

struct hearthi_profile_part_barrier {
    struct hearthi_code_place at;
    uint64_t                  n, wait_ns, longest_ns;
};

/* The arrays follow it, in this order. */
struct hearthi_profile_part {
    hearth_stats               stats;
    struct hearthi_rank_memory memory;
    uint64_t                   ns; /* of the section */
    uint64_t                   dropped, left_out, every, barriers;
    uint64_t modules, lines, memories, pages, locks, places, samples;
    int32_t  rank, node;
    char     host[64];
};

struct hearthi_profile_part_arrays {
    char (*module)[HEARTHI_PART_PATH];
    struct hearthi_profile_part_line    *line;
    struct hearthi_profile_part_memory  *memory;
    struct hearthi_profile_part_page    *page;
    struct hearthi_profile_part_lock    *lock;
    struct hearthi_profile_part_barrier *barrier;
    struct hearthi_profile_sample       *sample;
};

struct hearthi_profile_part_arrays
       hearthi_profile_part_arrays(struct hearthi_profile_part *p);
size_t hearthi_profile_part_bytes(const struct hearthi_profile_part *p);

/* While a part is filled, with room for all modules: the place of an
 * instruction, and what is known of calls (part_calls.c). */
struct hearthi_code_place
     hearthi_part_place(struct hearthi_profile_part              *to,
                        const struct hearthi_profile_part_arrays *a, uintptr_t at);
void hearthi_part_calls_put(const struct hearthi_profile             *from,
                            struct hearthi_profile_part              *to,
                            const struct hearthi_profile_part_arrays *a);

/* Fill in the text of one whose number is known. */
void hearthi_profile_part_lock_name(struct hearthi_profile_part_lock *l);

/* Of this rank, from malloc(3); NULL: no memory.  Of pages and lines those
 * that cost most, as many as all ranks together can hand in. */
struct hearthi_profile_part *
hearthi_profile_part_make(const hearth_stats *stats, uint64_t ns);

#endif
