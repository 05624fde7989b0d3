/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How long a thread may have its core while others want it, from Linux 6.12 on
 * (EEVDF; sched_setattr(2)): when a thread of short slices wakes it is not
 * kept waiting for the rest of another's.
 */
#ifndef HEARTHI_SCHED_SLICE_H
#define HEARTHI_SCHED_SLICE_H

/* For the calling thread.  Nothing if it is not of Linux's ordinary policy, or
 * if that is refused. */
void hearthi_sched_slice_short(void);

#endif
