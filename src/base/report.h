/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the library says on stderr: one line at a time, in one write(2) from
 * the stack, so that lines of several ranks do not mix and a signal handler
 * may speak too.
 */
#ifndef HEARTHI_REPORT_H
#define HEARTHI_REPORT_H

/* Rank named in the lines; -1 as long as it is not known. */
extern int hearthi_report_rank;

/* Ends the whole job: the core makes it call MPI_Abort.  NULL: nobody but
 * this process is there to be ended. */
extern void (*hearthi_abort_hook)(void);

/* "hearth: rank R: CALL: text", then the end of the job.  Only the first of a
 * process speaks; another thread that comes here waits for the end. */
_Noreturn void hearthi_fatal(const char *call, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

/* The same line, and the job goes on. */
void hearthi_warn(const char *call, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

#endif
