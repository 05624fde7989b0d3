/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"

enum { LINE_MAX_BYTES = 1024, END_WAIT_SECONDS = 20 };

int hearthi_report_rank = -1;
void (*hearthi_abort_hook)(void);
void (*hearthi_ending_hook)(void);
bool (*hearthi_doubt_hook)(void);

/* Initial-exec: reading it in a signal handler must not allocate. */
static _Thread_local __attribute__((tls_model("initial-exec"))) char identity;
static const char *speaker; /* identity of the thread that ends the job */

static size_t
line_begin(char *line, size_t room, const char *call)
{
    int n;

    if (hearthi_report_rank < 0)
        n = snprintf(line, room, "hearth: %s: ", call);
    else
        n = snprintf(line, room, "hearth: rank %d: %s: ", hearthi_report_rank,
                     call);
    return n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

/* Text from elsewhere (an MPI error string) may hold line ends; a line stays
 * one line. */
static void
line_flatten(char *line)
{
    for (; (line = strpbrk(line, "\r\n")) != NULL; line++)
        *line = ' ';
}

__attribute__((format(printf, 2, 0))) static void
line_write(const char *call, const char *fmt, va_list ap)
{
    char    line[LINE_MAX_BYTES];
    size_t  room = sizeof line - 1, at, len; /* one byte for the line end */
    ssize_t n;

    at = line_begin(line, room, call);
    if (vsnprintf(line + at, room - at, fmt, ap) < 0)
        line[at] = '\0';
    line_flatten(line);
    len = strlen(line);
    line[len++] = '\n';
    do
        n = write(STDERR_FILENO, line, len);
    while (n < 0 && errno == EINTR);
}

/* A launcher that is told to end the job (MPICH's, at times) does so before it
 * has read the line from the pipe: let it read first, and then let the part of
 * it on this host tell the part on the user's, which nobody can see.  The job
 * ends anyway. */
static void
line_deliver(void)
{
    const struct timespec nap = { .tv_nsec = 5000000 };
    enum { NAPS = 100, MORE = 20 };
    struct stat s;
    int         left = 0;

    if (fstat(STDERR_FILENO, &s) != 0 ||
        !(S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode)))
        return;
    for (int i = 0; i < NAPS; i++) {
        nanosleep(&nap, NULL);
        if (!S_ISFIFO(s.st_mode) ||
            ioctl(STDERR_FILENO, FIONREAD, &left) != 0 || left == 0)
            break;
    }
    for (int i = 0; i < MORE; i++)
        nanosleep(&nap, NULL);
}

void
hearthi_warn(const char *call, const char *fmt, ...)
{
    HEARTHI_UNCANCELLED;
    int     saved = errno;
    va_list ap;

    va_start(ap, fmt);
    line_write(call, fmt, ap);
    va_end(ap);
    errno = saved;
}

void
hearthi_end_now(void)
{
    if (hearthi_abort_hook != NULL)
        hearthi_abort_hook();
    _exit(HEARTHI_EXIT);
}

/* A rank that nobody ends does so itself. */
void
hearthi_end_wait(void)
{
    for (unsigned left = END_WAIT_SECONDS; left > 0;)
        left = sleep(left);
    hearthi_end_now();
}

void
hearthi_fatal(const char *call, const char *fmt, ...)
{
    HEARTHI_UNCANCELLED;
    const char *nobody = NULL;
    va_list     ap;

    if (!__atomic_compare_exchange_n(&speaker, &nobody, &identity, 0,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        /* Our own thread again: the way out itself has failed. */
        if (nobody != &identity)
            sleep(END_WAIT_SECONDS);
        _exit(HEARTHI_EXIT);
    }
    if (hearthi_ending_hook != NULL)
        hearthi_ending_hook();
    va_start(ap, fmt);
    line_write(call, fmt, ap);
    va_end(ap);
    line_deliver();
    hearthi_end_now();
}
