/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Page faults: the SIGSEGV handler, and what a fault does.
 */
#ifndef HEARTHI_FAULT_H
#define HEARTHI_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Install the handler and try it with one deliberate fault. */
void hearthi_signal_open(void);
void hearthi_signal_close(void);

/* True if calls of other libraries do not come to libhearth's functions of the
 * same names first: it was loaded after them. */
bool hearthi_signal_passed(void);

/* In a child that fork(2) has made: pages that are not here stay so. */
void hearthi_signal_forked(void);

/* Somebody may have replaced the handler by a way that was not seen: put it
 * back in front and keep theirs behind.  For every barrier. */
void hearthi_signal_check(void);

/* Serve a fault; false if the address is in no allocation. */
bool hearthi_fault(void *addr, bool write);

/* Print where an address lies that is in the heap but in no allocation. */
void hearthi_fault_describe(const void *addr);

/* Allocations, for describe: set by the layer above. */
extern bool (*hearthi_nearest)(const void *addr, const void **base,
                               size_t *bytes);

#endif
