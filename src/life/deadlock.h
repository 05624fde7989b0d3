/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A job in which every rank waits (HEARTH_DEADLOCK).
 *
 * When rank 0 has waited for so long it asks along the ring of lines whether
 * each rank has, and then once more what each of its threads waits for and
 * has.  What comes back says whether any of them can go on (wait_graph.h); if
 * none can, one line says who waits for what, and the job ends.
 */
#ifndef HEARTHI_DEADLOCK_H
#define HEARTHI_DEADLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "liveness_line.h"
#include "wait_graph.h"

/* What the layers above see of this rank's threads, asked by the thread that
 * watches the lines. */
struct hearthi_deadlock_view {
    /* How many threads of the program do not wait, or have waited for less
     * than so many nanoseconds.  The first look marks the waits that it sees;
     * the second counts those alone that were marked.  What threads wait for,
     * and have, is added to *to, unless that is NULL; *all is the one that
     * waits in a call that all ranks make, which is not added, or 0. */
    int (*loose)(uint64_t least, bool first, struct hearthi_waits *to,
                 int *all);

    /* Where in the program that thread is, "main.c:80", or "": of a job that
     * is about to end. */
    void (*place)(int thread, char *text, size_t room);

    /* Calls of MPI's that all ranks make, so many were made. */
    uint64_t (*mpi_calls)(void);

    /* Of one that this rank manages: is it set, as far as it can be told? */
    bool (*flag_is_set)(int flag);
};

/* NULL: this rank never waits. */
void hearthi_deadlock_open(const struct hearthi_deadlock_view *view);
void hearthi_deadlock_close(void);

/* Called once a beat, behind those of collective_watch.h and stalled.h. */
void hearthi_deadlock_look(void);

/* A question, of this rank or of another; and an answer. */
void hearthi_deadlock_heard(struct hearthi_record *r);
void hearthi_deadlock_told(struct hearthi_record *r);

#endif
