/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is gone, and who says so: one line, by one rank.
 *
 * A rank knows that another is gone because its line (liveness_line.h) ended
 * without a word, because nothing came over it for HEARTH_UDP_GIVEUP, or
 * because a transport waits in vain.  It *claims* that, over the lines, and
 * waits for a moment; of those who claim, the one with the lightest claim
 * speaks and ends the job, and says so over the lines; all others hold their
 * tongue.
 */
#ifndef HEARTHI_LIFE_H
#define HEARTHI_LIFE_H

#include <stdbool.h>

#include "transport/abandoned_locks.h"

/* Collective, after hearthi_world is filled; the latter says goodbye, so that
 * nobody takes the end for a death. */
void hearthi_life_open(void);
void hearthi_life_close(void);

/* In a child that fork(2) has made: the lines are its parent's alone. */
void hearthi_life_forked(void);

/* Who adds the locks that are lost with a rank, as far as this rank knows:
 * asked by a thread of the library's when another rank is gone, and not any
 * more once this has returned.  NULL: nobody knows. */
typedef void (*hearthi_life_knows)(int                             rank,
                                   struct hearthi_abandoned_locks *lost);
void hearthi_life_ask(hearthi_life_knows knows);

/* This rank cannot go on because another (or its own way to all others) is
 * gone: claim it, and wait for the end.  The line is said if nobody else has
 * something to say. */
_Noreturn void hearthi_life_gone(int rank, const char *call, const char *fmt,
                                 ...)
    __attribute__((format(printf, 3, 4), cold));

/* Is the end of the job told by a line, so that no other is to come?  Or has
 * this rank heard nothing of that one for so long that it will say so, if it
 * goes on? */
bool hearthi_life_is_told(int rank);

#endif
