/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pins: pages that stay what a device, the kernel or a library needs, from
 * hearth_hold() to hearth_drop().  A page that is pinned is readable, and one
 * that is pinned for writing is writable, at every moment and in the same
 * frame: it is not protected, evicted or given up.  The table lock is held by
 * callers.
 */
#ifndef HEARTHI_PIN_H
#define HEARTHI_PIN_H

#include <stdbool.h>
#include <stdint.h>

#include "pin_count.h"

void hearthi_pins_open(void);
void hearthi_pins_close(void);

/* How many copies may be pinned at a time. */
uint64_t hearthi_pins_most(void);

/* Pin a run of pages of one allocation, of which no more copies are pinned
 * then than may be. */
void hearthi_pages_pin(uint64_t page, uint64_t count, int how);

/* Bring the pinned copies up to date that are noted as stale.  Every acquire
 * ends with it, before the table lock is free. */
void hearthi_pins_bring(void);

static inline void
hearthi_pins_renew(void)
{
    if (hearthi_stale.n > 0)
        hearthi_pins_bring();
}

#endif
