/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the library says on stderr: one line at a time, in one write(2) from
 * the stack, so that lines of several ranks do not mix and a signal handler
 * may speak too.
 */
#ifndef HEARTHI_REPORT_H
#define HEARTHI_REPORT_H

#include <stdbool.h>

/* Rank named in the lines; -1 as long as it is not known. */
extern int hearthi_report_rank;

/* Ends the whole job: the core makes it call MPI_Abort.  NULL: nobody but
 * this process is there to be ended. */
extern void (*hearthi_abort_hook)(void);

/* Both may be NULL, and are called on any thread.  The former says to other
 * ranks that this one is about to end the job, and may be called in a signal
 * handler.  The latter is asked before a line about what may be but the
 * consequence of another rank's end: true if somebody knows better and speaks;
 * it may take half a second. */
extern void (*hearthi_ending_hook)(void);
extern bool (*hearthi_doubt_hook)(void);

/* Hold one's tongue until somebody else has ended the job. */
_Noreturn void hearthi_end_wait(void);

/* End the job without a word. */
_Noreturn void hearthi_end_now(void);

enum { HEARTHI_EXIT = 70 }; /* a rank's status: EX_SOFTWARE of sysexits.h */

/* "hearth: rank R: CALL: text", then the end of the job.  Only the first of a
 * process speaks; another thread that comes here waits for the end. */
_Noreturn void hearthi_fatal(const char *call, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

/* The same line, and the job goes on. */
void hearthi_warn(const char *call, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

#endif
