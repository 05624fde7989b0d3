/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The signals by which page faults come: SIGSEGV, and SIGBUS for pages that
 * are protected by userfaultfd.  Nobody has them blocked, ever.
 */
#ifndef HEARTHI_FAULT_SIGNAL_H
#define HEARTHI_FAULT_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

static inline bool
hearthi_is_fault_signal(int signum)
{
    return signum == SIGSEGV || signum == SIGBUS;
}

/* Take them out of a set. */
static inline void
hearthi_fault_signals_open(sigset_t *set)
{
    sigdelset(set, SIGSEGV);
    sigdelset(set, SIGBUS);
}

#endif
