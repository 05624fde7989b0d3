/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Holds: pages that stay what a device, the kernel or a library needs, from
 * hearth_hold() to hearth_drop().  A page that is held is readable, and one
 * that is held for writing is writable, at every moment and in the same frame:
 * nobody protects it, evicts it or gives it up.  The table lock is held by
 * callers.
 */
#ifndef HEARTHI_PIN_H
#define HEARTHI_PIN_H

#include <stdbool.h>
#include <stdint.h>

void hearthi_pins_open(void);
void hearthi_pins_close(void);

/* How many copies may be held at a time. */
uint64_t hearthi_pins_most(void);

/* Hold a run of pages of one allocation, of which no more copies are held then
 * than may be. */
void hearthi_pages_pin(uint64_t page, uint64_t count, int how);

/* Bring the held copies up to date that are noted as stale.  Every acquire
 * ends with it, before the table lock is free. */
void hearthi_pins_renew(void);

#endif
