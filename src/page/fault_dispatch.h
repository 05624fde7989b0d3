/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a fault in the heap is, and whose: a page's, or the program's mistake.
 */
#ifndef HEARTHI_FAULT_DISPATCH_H
#define HEARTHI_FAULT_DISPATCH_H

#include <signal.h>
#include <stdbool.h>

void hearthi_fault_dispatch_open(void);
void hearthi_fault_dispatch_close(void);

/* In a child that fork(2) has made: pages that are not here stay so. */
void hearthi_fault_dispatch_forked(void);

/* For the handler of an address in the heap; on_stack: it runs on the stack
 * for signals.  False if it is the program's fault; that is said then. */
bool hearthi_fault_dispatch(const siginfo_t *info, const void *context,
                            bool on_stack);

#endif
