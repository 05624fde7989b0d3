/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Signal stacks (sigaltstack), on which a handler of the program's may want to
 * run, so that it can tell of a stack that has overflown.  Page faults are
 * then served there, too, and by MPI.
 */
#ifndef HEARTHI_ALTSTACK_H
#define HEARTHI_ALTSTACK_H

#include <signal.h>
#include <stdbool.h>

/* Is a handler before this one to run on the thread's stack for signals?  One
 * that is too small for page faults is not taken. */
bool hearthi_altstack_wanted(const struct sigaction *other);

/* This handler does: that of another thread may be too small, which ends the
 * job. */
void hearthi_altstack_check(const ucontext_t *u);

#endif
