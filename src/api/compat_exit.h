/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the interfaces of other systems (jia.h, Tmk.h, PARMACS) need at their
 * starts and ends, beside hearth.h.
 */
#ifndef HEARTHI_COMPAT_EXIT_H
#define HEARTHI_COMPAT_EXIT_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>

/* Set a variable of the environment that is not set there: true if so, and
 * then the caller takes it back after hearth_init(). */
bool hearthi_variable_default(const char *name, const char *value);

/* hearth_init() for programs that know nothing of homes: HEARTH_MIGRATE is on
 * unless the environment says otherwise, where this leaves no trace. */
void hearthi_start_moving(void);

/* Have leave called when the program ends by itself; once, however often it is
 * started: *watched says so.  After hearth_init(), so that it comes before
 * hearth's own look at the end. */
void hearthi_compat_exit_watch(void (*leave)(int status, void *unused),
                               bool *watched);

/* Wait until every rank of comm is at its end, and serve them meanwhile.  With
 * the name of a call that this rank has left without it waits 10 minutes, and
 * then ends the job. */
void hearthi_compat_exit(MPI_Comm comm, const char *missing);

/* The same where the program ended by itself, with this status, which ends the
 * job unless it is 0. */
void hearthi_compat_exit_without(MPI_Comm comm, const char *missing,
                                 int status);

/* End the job with a line formed as by printf(3). */
_Noreturn void hearthi_error(const char *call, const char *format, va_list ap)
    __attribute__((format(printf, 2, 0)));

#endif
