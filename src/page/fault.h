/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Page faults: the handler of SIGSEGV and SIGBUS, what a fault does, and what
 * is said of one that is the program's mistake.
 */
#ifndef HEARTHI_FAULT_H
#define HEARTHI_FAULT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- signal.c ---- */

/* Install the handler and try it with one deliberate fault. */
void hearthi_signal_open(void);
void hearthi_signal_close(void);

/* True if calls of other libraries do not come to libhearth's functions of the
 * same names first: it was loaded after them. */
bool hearthi_signal_passed(void);

/* A library may have replaced the handler by a way that was not seen: put it
 * back in front and keep theirs behind.  For every barrier. */
void hearthi_signal_check(void);

/* ---- fault.c ---- */

void hearthi_fault_dispatch_open(void);
void hearthi_fault_dispatch_close(void);

/* In a child that fork(2) has made: pages that are not here stay so. */
void hearthi_fault_dispatch_forked(void);

/* For the handler of an address in the heap.  False if it is the program's
 * fault; that is said then. */
bool hearthi_fault_dispatch(const siginfo_t *info, const void *context);

/* ---- fault_in_mpi.c ---- */

/* Serve a fault of a thread that is inside a call of MPI, or end the job;
 * false if the address is in no allocation. */
bool hearthi_fault_in_mpi(void *addr, bool write);

/* ---- fault_report.c ---- */

/* Say in a line what memory cannot be had, where a touch of home memory is
 * SIGBUS, and end the job; other SIGBUS goes to the handler that had it
 * before. */
void hearthi_sigbus_open(void);

/* A bus error that no page fault was: ends the job with a line where memory of
 * Hearth's cannot be had, and returns otherwise. */
void hearthi_sigbus_tell(const siginfo_t *info);

/* Print what an address outside of the heap may be, at which a fault ends this
 * process: it may have come from another rank.  Once. */
void hearthi_stranger_tell(const siginfo_t *info, const void *context);

/* Print where an address lies that is in the heap but in no allocation. */
void hearthi_fault_describe(const void *addr);

/* Allocations, for describe: set by the layer above. */
extern bool (*hearthi_nearest)(const void *addr, const void **base,
                               size_t *bytes);

#endif
