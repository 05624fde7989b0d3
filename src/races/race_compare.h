/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which stores of different ranks are to the same bytes, in intervals that
 * nothing orders, an atomic step being a store that races with plain ones.
 * Pure data.
 *
 * Of an object that hearth_malloc() has given out since the last barrier only
 * stores count that come after that by vector time, both of them: the memory
 * may have been freed before, and then what the ranks did to the one that was
 * there is ordered before what they do to the other, by the allocator.
 */
#ifndef HEARTHI_RACE_COMPARE_H
#define HEARTHI_RACE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "race_order.h"

struct hearthi_race_part {
    struct hearthi_race_log            log;
    const struct hearthi_race_renewed *renewed;
    const char                        *stores;
    size_t                             renewals, bytes;
};

/* `apart`: the bytes are different ones of a word that hearth_alloc() was
 * told to be one.  `word` has what each had there. */
struct hearthi_race_pair {
    int      rank[2];
    uint32_t interval[2];
    uint64_t word[2];
    uint64_t at; /* offset of the first byte in the heap */
    unsigned unit;
    bool     apart;
    bool     atomic[2]; /* by an atomic step, of which there is no word */
};

struct hearthi_race_comparison {
    int                             ranks;
    const struct hearthi_race_part *part;
    unsigned                        shift; /* of a page */
    unsigned (*unit_of)(uint64_t page);    /* of its diffs */
    void (*found)(const struct hearthi_race_pair *p, void *arg);
    void *arg;
};

/* False: the order could not be told, and nothing was compared. */
bool hearthi_races_compare(const struct hearthi_race_comparison *c);

#endif
