/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which collective call this rank is in, and which rank is where when it waits
 * long.
 *
 * All ranks make the same collective calls in the same order, one at a time,
 * so each rank numbers its own.  A rank that waits longer than HEARTH_WATCH
 * sends a question along the ring of lines, with the number of its call and
 * what the last few were; each rank that it passes compares them with its own.
 * Two ranks that made different calls with one number will never agree: that
 * is a fact, whatever either does meanwhile, so it ends the job.  A rank that
 * is behind in the same order may come yet: the job goes on, and one line says
 * which rank is where.
 */
#ifndef HEARTHI_COLLECTIVE_WATCH_H
#define HEARTHI_COLLECTIVE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "liveness_line.h"

/* This rank enters such a call, given n of its arguments, and leaves it. */
void hearthi_collective_watch_begin(const char *call, int n, uint64_t first,
                                    uint64_t second);
void hearthi_collective_watch_end(void);

/* What a thread of the program waits in, "hearth_lock (5)"; false: none does.
 * Asked by the thread that watches the lines. */
typedef bool (*hearthi_collective_watch_waits)(char *text, size_t room);

void hearthi_collective_watch_open(hearthi_collective_watch_waits waits);

/* Does it wait so long that it asks itself, or soon will? */
bool hearthi_collective_watch_asks(void);

/* For deadlock.h: how many of those calls this rank has made, *inside: and is
 * in the last of them, which *text names, for so long at least, as of the last
 * beat. */
uint64_t hearthi_collective_watch_count(uint64_t least, bool *inside,
                                        char *text, size_t room);

/* As a line tells them, in tenths. */
double hearthi_wait_seconds(uint64_t ns);

/* The line of this job that tells of a long wait: was it said, on any rank,
 * as any thread may ask; and it has been said here. */
bool hearthi_wait_was_told(void);
void hearthi_wait_told(void);

/* Called once a beat, of so many nanoseconds: ask if it is time. */
void hearthi_collective_watch_look(uint64_t beat);

/* A question, of this rank or of another. */
void hearthi_collective_watch_heard(struct hearthi_record *r);

/* "hearth_alloc(1000, 8)" */
void hearthi_collective_watch_text(const struct hearthi_where *where,
                                   char *text, size_t room);

#endif
