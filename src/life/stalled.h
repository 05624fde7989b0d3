/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread that waits long in a call that not all ranks make: for a lock, a
 * flag, a condition, a reader-writer lock or memory.
 *
 * Its rank cannot know whether what it waits for will come, so one line of the
 * job says which rank waits in what.  A question goes round the ring first, so
 * that one rank speaks: a rank drops it that is lower and waits itself, and
 * one that waits in a collective call, which says more (collective_watch.h).
 * It has then waited for half of HEARTH_WATCH at least, and asks when it has
 * waited for all of that.  A rank that has waited for less passes the question
 * on, and hears that the line was said long before it would ask.
 */
#ifndef HEARTHI_LIFE_STALLED_H
#define HEARTHI_LIFE_STALLED_H

#include <stddef.h>
#include <stdint.h>

#include "liveness_line.h"

/* How long the thread of the program has waited that waits longest, given
 * that another beat has gone, and in what, "hearth_lock (5)"; 0: none does.
 * Asked by the thread that watches the lines. */
typedef uint64_t (*hearthi_stalled_ask)(uint64_t beat, char *text,
                                        size_t room);

void hearthi_stalled_open(hearthi_stalled_ask ask);

/* Called once a beat, of so many nanoseconds: ask if it is time. */
void hearthi_stalled_look(uint64_t beat);

/* A question, of this rank or of another. */
void hearthi_stalled_heard(struct hearthi_record *r);

#endif
