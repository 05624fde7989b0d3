/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Races: what all ranks have kept since the last barrier (races/) is brought
 * together, compared on rank 0, and told.
 *
 * A page that one rank has stored to is no rank's but that one's business, and
 * most are: so ranks first tell each other which pages they stored to, and
 * only what they stored to the others goes to rank 0, with their events.
 */
#ifndef HEARTHI_RACE_REPORT_H
#define HEARTHI_RACE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "races/race_compare.h"
#include "races/race_history.h"

/* Both collective, while the library is up. */
void hearthi_race_report_open(void);
void hearthi_race_report_close(void);

/* After a barrier.  Collective. */
void hearthi_races_look(void);

/* The last lines.  Collective; gives how many races there were. */
uint64_t hearthi_race_report_end(void);

/* ---- race_pack.c ---- */

/* From malloc(3), or the end of the job. */
void *hearthi_race_room(size_t bytes);

/* Each page that this rank has stored to before the cut, once, in order. */
size_t hearthi_race_pages(const struct hearthi_race_history *h,
                          uint32_t                         **out);
int    hearthi_race_page_compare(const void *a, const void *b);

/* Its events, and its stores to these pages, in one piece; and what is in one.
 */
char *hearthi_race_pack(const struct hearthi_race_history *h,
                        const uint32_t *page, size_t n, uint64_t *bytes);

/* What a rank has handed in. */
struct hearthi_race_given {
    struct hearthi_race_part         part;
    const struct hearthi_race_place *place;
    size_t                           places;
};

struct hearthi_race_given hearthi_race_unpack(const char *from);

/* ---- race_text.c: on rank 0 ---- */

/* Tell of a pair, once for all that have the same places and memory; of so
 * many at most, and others are counted. */
enum { HEARTHI_RACES_TOLD = 50 };
void hearthi_race_tell(const struct hearthi_race_pair  *p,
                       const struct hearthi_race_given *given);

struct hearthi_race_counts {
    uint64_t races, pairs;     /* different ones, and all */
    uint64_t pages, shared;    /* stored to, and by several ranks */
    uint64_t looks;            /* barriers */
    uint64_t dropped, skipped; /* records; and barriers without a look */
    uint64_t lacked;           /* calls whose place found no room */
};

void hearthi_race_count(uint64_t *races, uint64_t *pairs);
void hearthi_race_last_line(const struct hearthi_race_counts *c);
void hearthi_race_text_close(void);

#endif
