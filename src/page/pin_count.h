/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which pages are pinned (hearth_hold): how often for reading, and how often
 * for writing.  What a pin means stands in pin.h.  The table lock is held by
 * callers.
 */
#ifndef HEARTHI_PIN_COUNT_H
#define HEARTHI_PIN_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "page.h"

struct hearthi_pin_count {
    uint64_t  pages;  /* that are pinned: 0 is all that most programs know */
    uint64_t  copies; /* of them, those whose home is on another node */
    uint64_t  wanted; /* copies that are about to be pinned */
    uint32_t *reads, *writes; /* of each page */
};

extern struct hearthi_pin_count hearthi_pin_count;

/* Pinned copies that are out of date, each once. */
extern struct hearthi_pagelist hearthi_stale;

void hearthi_pin_count_open(void);
void hearthi_pin_count_close(void);

/* Count a pin of a run of pages, `how` being of HEARTH_READ and HEARTH_WRITE,
 * and the end of one.  Of a run that was not pinned so throughout, the end is
 * refused: false, and nothing was done. */
void hearthi_pin_count_add(uint64_t page, uint64_t count, int how);
bool hearthi_pin_count_sub(uint64_t page, uint64_t count, int how);

/* How many of the copies of a run would be pinned anew. */
uint64_t hearthi_pin_count_new(uint64_t page, uint64_t count);

/* How many pages of a run are pinned. */
uint64_t hearthi_pin_count_of(uint64_t page, uint64_t count);

/* A pinned copy is out of date: hearthi_pins_renew() follows before the table
 * lock is free. */
void hearthi_stale_add(uint64_t page);
void hearthi_stale_clear(void);

static inline bool
hearthi_is_pinned(uint64_t page)
{
    const struct hearthi_pin_count *h = &hearthi_pin_count;

    return h->pages > 0 && (h->reads[page] | h->writes[page]) != 0;
}

static inline bool
hearthi_is_pinned_open(uint64_t page)
{
    return hearthi_pin_count.pages > 0 && hearthi_pin_count.writes[page] != 0;
}

#endif
