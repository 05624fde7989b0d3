/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The MPI call that the calling thread is in, the program's or Hearth's own,
 * or NULL.  MPI libraries cannot be entered again in the same thread: a page
 * fault there must be served without MPI.
 */
#ifndef HEARTHI_INSIDE_H
#define HEARTHI_INSIDE_H

/* Initial-exec: reading it in a signal handler must not allocate. */
extern _Thread_local __attribute__((tls_model("initial-exec")))
const char *hearthi_inside;

/* Returns what to give hearthi_inside_leave(). */
static inline const char *
hearthi_inside_enter(const char *call)
{
    const char *outer = hearthi_inside;

    hearthi_inside = call;
    return outer;
}

static inline void
hearthi_inside_leave(const char *outer)
{
    hearthi_inside = outer;
}

#endif
