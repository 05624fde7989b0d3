/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A library that spins while it waits keeps its core until the kernel's next
 * look, milliseconds later, from the very process that it waits for.  Between
 * these two calls a timer makes the calling thread yield instead, as profilers
 * interrupt a thread: by a signal, after which most system calls go on
 * (SA_RESTART), but not poll(2), sleep(3) and the like.
 */
#ifndef HEARTHI_YIELD_TIMER_H
#define HEARTHI_YIELD_TIMER_H

#include <stdbool.h>

/* One pair at a time.  Nothing if ranks have a core each, where the program
 * uses SIGURG itself, by a handler or by blocking it, or where the kernel has
 * no timer to give. */
void hearthi_yield_timer_begin(bool crowded);
void hearthi_yield_timer_end(void);

/* hearthi_yield_timer_end(), behind a call that gave this. */
static inline int
hearthi_yield_timer_tick(int code)
{
    hearthi_yield_timer_end();
    return code;
}

#endif
