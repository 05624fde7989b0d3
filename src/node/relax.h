/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How a thread waits: one turn of a loop that looks at memory.  A thread that
 * waits lets its transport serve other ranks, gives its core away now and
 * then, and where more threads of a rank wait than it has cores, sleeps.
 */
#ifndef HEARTHI_RELAX_H
#define HEARTHI_RELAX_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"

/* What a thread that waits owes other ranks, and how it is done: set by the
 * transport that is in use. */
struct hearthi_relax {
    void (*progress)(void); /* let them be served */
    bool (*drive)(void);    /* enter MPI for the program's own messages; true
                               if something has moved.  NULL: waits do not */
    bool may_sleep;         /* they are served while all threads here sleep */
};
extern struct hearthi_relax hearthi_relaxing;

/* One turn: spins at first, then drives progress and yields, once in so many
 * turns.  Start with *turn == 0. */
enum { HEARTHI_RELAX_TURNS = 4 };
void hearthi_relax(unsigned *turn);

/* One turn of a wait that may be long, which counts the thread as one that
 * waits meanwhile.  One that may sleep does so at an event, until that is
 * raised or some milliseconds have passed; or it naps, for so many
 * nanoseconds, below a second, where that is worth it.  The third never
 * sleeps, the last always does.  All of them let others be served, as
 * hearthi_relax() does. */
void hearthi_crowd_wait(struct hearthi_event *e, uint32_t seen,
                        unsigned *turn);
void hearthi_crowd_relax(unsigned *turn, uint64_t ns);
void hearthi_crowd_turn(unsigned *turn);
void hearthi_crowd_sleep(struct hearthi_event *e, uint32_t seen);

/* One turn of a wait for a word of memory that no event tells of, and that has
 * taken so many nanoseconds: sleeps for a sixteenth of that at most, so a wait
 * is longer by so much at most, and keeps a core at its beginning only.  Lets
 * others be served, and the program's own messages: where nothing else serves
 * them this thread wakes up more often, and comes back each time if the word is
 * `near`, but goes on sleeping if a look at it is a message there and back, in
 * which it keeps a core for as long as the target sleeps. */
void hearthi_long_relax(unsigned *turn, uint64_t waited, bool near);

/* Of a call that a program may repeat until another rank has done something,
 * and that may come back without a message: let others be served, where
 * nothing but this rank's own calls does that. */
void hearthi_relax_serve(void);

/* Are others served while all threads of this rank sleep? */
bool hearthi_relax_are_served(void);

/* With this thread more threads of this rank wait than it has cores, and what
 * they wait for comes without them. */
bool hearthi_crowd_may_sleep(void);

#endif
