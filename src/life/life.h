/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which rank is gone, and which one says so: one line, by one rank.
 *
 * A rank knows that another is gone because its line (liveness_line.h) ended
 * without a word, because nothing came over it for HEARTH_UDP_GIVEUP, or
 * because a transport waits in vain.  It *claims* that, over the lines, and
 * waits for a moment; of the ranks that claim, the one with the lightest claim
 * speaks and ends the job, and says so over the lines; all others hold their
 * tongue.
 */
#ifndef HEARTHI_LIFE_H
#define HEARTHI_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/lock_key.h"

/* Collective, after hearthi_world is filled; the latter says goodbye, so that
 * no rank takes the end for a death.  Over several clusters there are no
 * lines, and the gateways do it (clusters/hear.h). */
void hearthi_life_open(void);
void hearthi_life_close(void);

/* How often a rank looks for others, and for how long it has waited itself;
 * nanoseconds. */
uint64_t hearthi_life_beat(void);

/* In a child that fork(2) has made: the lines are its parent's alone. */
void hearthi_life_forked(void);

/* The function that adds the locks that are lost with a rank, as far as this
 * rank knows: asked by a thread of the library's when another rank is gone,
 * and not any more once this has returned.  NULL: this rank knows none. */
typedef void (*hearthi_life_knows)(int                             rank,
                                   struct hearthi_abandoned_locks *lost);
void hearthi_life_ask(hearthi_life_knows knows);

/* This rank cannot go on because another (or its own way to all others) is
 * gone: claim it, and wait for the end.  The line is said if no other rank has
 * something to say. */
_Noreturn void hearthi_life_gone(int rank, const char *call, const char *fmt,
                                 ...)
    __attribute__((format(printf, 3, 4), cold));

/* Is the end of the job told by a line, so that no other is to come?  Or has
 * this rank heard nothing of that one for so long that it will say so, if it
 * goes on? */
bool hearthi_life_is_told(int rank);

#endif
