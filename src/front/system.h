/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls that hand memory of the program to the kernel (system.def), with
 * Hearth in front of them.
 */
#ifndef HEARTHI_SYSTEM_H
#define HEARTHI_SYSTEM_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/* Look for the functions behind, and open the mask of this thread, which all
 * threads that it starts inherit.  It is called when the library is loaded;
 * and by name, so that a program linked with its objects alone has these
 * calls. */
void hearthi_system_open(void);

/* ---- sigmask.c ---- */

/* What notifies by a thread (SIGEV_THREAD) does so in one that has the signals
 * of faults: *event changed, in *room, or itself. */
struct sigevent *hearthi_notify_open(struct sigevent *event,
                                     struct sigevent *room);

/* Say which threads of the program have signals of faults blocked, if any do;
 * at the end of hearth_init(). */
void hearthi_sigmask_check(void);

/* ---- system.c ---- */

/* From now on read(2) of others calls this instead of what it called so far,
 * which is the answer. */
typedef ssize_t hearthi_read(int fd, void *p, size_t n);
hearthi_read *hearthi_system_read_by(hearthi_read *by);

#endif
