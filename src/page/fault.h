/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Page faults: the handler of SIGSEGV and SIGBUS, and what a fault does.
 */
#ifndef HEARTHI_FAULT_H
#define HEARTHI_FAULT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Install the handler and try it with one deliberate fault. */
void hearthi_signal_open(void);
void hearthi_signal_close(void);

/* Say in a line what memory cannot be had, where a touch of home memory is
 * SIGBUS, and end the job; other SIGBUS goes to who had it before. */
void hearthi_sigbus_open(void);

/* A bus error that no page fault was: ends the job with a line where memory of
 * Hearth's cannot be had, and returns otherwise. */
void hearthi_sigbus_tell(const siginfo_t *info);

/* True if calls of other libraries do not come to libhearth's functions of the
 * same names first: it was loaded after them. */
bool hearthi_signal_passed(void);

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
