/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A library that spins while it waits keeps its core until the kernel's next
 * look, milliseconds later, from the very process that it waits for.  Between
 * these two calls a timer makes the calling thread yield instead, as profilers
 * interrupt a thread: by a signal, after which most system calls go on
 * (SA_RESTART), but not poll(2), sleep(3) and the like.
 */
#ifndef HEARTHI_SPIN_H
#define HEARTHI_SPIN_H

#include <stdbool.h>

/* One pair at a time.  Nothing if ranks have a core each, where the program
 * uses SIGURG itself, by a handler or by blocking it, or where the kernel has
 * no timer to give. */
void hearthi_spin_begin(bool crowded);
void hearthi_spin_end(void);

/* hearthi_spin_end(), behind a call that gave this. */
static inline int
hearthi_spun(int code)
{
    hearthi_spin_end();
    return code;
}

#endif
