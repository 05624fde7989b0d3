/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the library says on stderr: one line at a time, in one write(2) from
 * the stack, so that lines of several ranks do not mix and a signal handler
 * may speak too.
 */
#ifndef HEARTHI_REPORT_H
#define HEARTHI_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Rank named in the lines; -1 as long as it is not known. */
extern int hearthi_report_rank;

/* Ends the whole job: the core makes it call MPI_Abort, for at most so long,
 * and then ends this process, which the launcher sees.  NULL: only this
 * process is there to be ended. */
enum { HEARTHI_ABORT_SECONDS = 3 };
extern void (*hearthi_abort_hook)(void);

/* Each may be NULL, and is called on any thread.  The first says to other
 * ranks that this one is about to end the job, by that line; false: another
 * rank has said before why it ends, and this one is to say nothing.  The
 * second is called once the line is out: until what the first has said has
 * arrived.  Both may be called in a signal handler.  The third is asked before
 * a line about what may be but the consequence of another rank's end: true if
 * another rank knows better and speaks; it may take half a second. */
extern bool (*hearthi_ending_hook)(const char *call, const char *text);
extern void (*hearthi_ended_hook)(void);
extern bool (*hearthi_doubt_hook)(void);

/* Is it this thread that ends the job?  With --enable-debug only. */
bool hearthi_is_ending(void);

/* Say nothing until another rank has ended the job. */
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

/* Several lines, such as a table: they stay whole even where the launcher
 * reads only a part of them at a time. */
void hearthi_report_lines(const char *text, size_t len);

#endif
