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

#include "assert.h"
#include "cancel.h"
#include "format.h"

/* PIECE: launchers read so much at a time (Open MPI's), and a pipe takes so
 * much of one process without another's between (PIPE_BUF). */
enum { LINE_MAX_BYTES = 1024, PIECE = 4096, END_WAIT_SECONDS = 20 };

int hearthi_report_rank = -1;
void (*hearthi_abort_hook)(void);
bool (*hearthi_ending_hook)(const char *call, const char *text);
void (*hearthi_ended_hook)(void);
bool (*hearthi_doubt_hook)(void);

/* Initial-exec: reading it in a signal handler must not allocate.  `speaker`
 * is only compared with its address, and nothing is read through it: so its
 * order carries nothing. */
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

static void
text_write(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, text, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        text += n;
        len -= (size_t)n;
    }
}

/* Returns where the text begins, behind the call. */
__attribute__((format(printf, 3, 0))) static const char *
line_make(char *line, const char *call, const char *fmt, va_list ap)
{
    size_t room = LINE_MAX_BYTES - 1, at; /* one byte for the line end */

    at = line_begin(line, room, call);
    if (hearthi_format(line + at, room - at, fmt, ap) < 0)
        line[at] = '\0';
    line_flatten(line);
    return line + at;
}

static void
line_write(char *line)
{
    size_t len = strlen(line);

    line[len++] = '\n';
    text_write(line, len);
}

static bool
stderr_is(mode_t type)
{
    struct stat s;

    return fstat(STDERR_FILENO, &s) == 0 && (s.st_mode & S_IFMT) == type;
}

static void
nap(void)
{
    const struct timespec some = { .tv_nsec = 5000000 };

    nanosleep(&some, NULL);
}

/* Until the reader of the pipe has read all, or takes too long. */
static void
reader_await(void)
{
    enum { NAPS = 100 };

    for (int i = 0; i < NAPS; i++) {
        int left = 0;

        if (ioctl(STDERR_FILENO, FIONREAD, &left) != 0 || left == 0)
            break;
        nap();
    }
}

/* A launcher that is told to end the job (MPICH's, at times) does so before it
 * has read the line from the pipe: let it read first, and then let the part of
 * it on this host tell the part on the user's, which no process can see.  The
 * job ends anyway. */
static void
line_deliver(void)
{
    enum { MORE = 20 };
    bool pipe = stderr_is(S_IFIFO);

    if (!pipe && !stderr_is(S_IFSOCK))
        return;
    nap();
    if (pipe)
        reader_await();
    for (int i = 0; i < MORE; i++)
        nap();
}

/* As many whole lines as a piece has room for. */
static size_t
piece_length(const char *text, size_t len)
{
    size_t n = PIECE;

    if (len <= PIECE)
        return len;
    while (n > 0 && text[n - 1] != '\n')
        n--;
    return n > 0 ? n : PIECE;
}

/* A launcher passes on what it reads at a time, and of this rank's stdout what
 * it reads then: so the end of what it reads has to be the end of a line,
 * which it is if there is one piece at a time to be read. */
void
hearthi_report_lines(const char *text, size_t len)
{
    HEARTHI_UNCANCELLED;
    bool pipe = stderr_is(S_IFIFO);

    while (len > 0) {
        size_t n = piece_length(text, len);

        if (pipe)
            reader_await();
        text_write(text, n);
        text += n;
        len -= n;
    }
}

void
hearthi_warn(const char *call, const char *fmt, ...)
{
    HEARTHI_UNCANCELLED;
    int     saved = errno;
    char    line[LINE_MAX_BYTES];
    va_list ap;

    va_start(ap, fmt);
    line_make(line, call, fmt, ap);
    va_end(ap);
    line_write(line);
    errno = saved;
}

#ifdef HEARTHI_COVERAGE
void __gcov_dump(void); /* of gcc */
#endif

void
hearthi_end_now(void)
{
#ifdef HEARTHI_COVERAGE /* ./check --coverage: what ran is known to the end \
                         */
    __gcov_dump();
#endif
    if (hearthi_abort_hook != NULL)
        hearthi_abort_hook();
    _exit(HEARTHI_EXIT);
}

/* A rank that no launcher ends does so itself. */
void
hearthi_end_wait(void)
{
    for (unsigned left = END_WAIT_SECONDS; left > 0;)
        left = sleep(left);
    hearthi_end_now();
}

#ifdef HEARTHI_DEBUG
bool
hearthi_is_ending(void)
{
    return __atomic_load_n(&speaker, __ATOMIC_ACQUIRE) == &identity;
}
#endif

void
hearthi_fatal(const char *call, const char *fmt, ...)
{
    HEARTHI_UNCANCELLED;
    const char *none = NULL, *text;
    char        line[LINE_MAX_BYTES];
    va_list     ap;

    if (!__atomic_compare_exchange_n(&speaker, &none, &identity, 0,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        /* Our own thread again: the way out itself has failed. */
        if (none != &identity)
            sleep(END_WAIT_SECONDS);
        _exit(HEARTHI_EXIT);
    }
    va_start(ap, fmt);
    text = line_make(line, call, fmt, ap);
    va_end(ap);
    if (hearthi_ending_hook != NULL && !hearthi_ending_hook(call, text))
        hearthi_end_wait();
    line_write(line);
    line_deliver();
    if (hearthi_ended_hook != NULL)
        hearthi_ended_hook();
    hearthi_end_now();
}

#ifdef HEARTHI_DEBUG
/* A thread that ends the job may find much that does not hold any more, and
 * has said why it ends the job. */
void
hearthi_assert_failed(const char *file, int line, const char *function,
                      const char *condition)
{
    if (hearthi_is_ending())
        return;
    hearthi_fatal("assertion", "%s:%d: %s: this does not hold: %s", file, line,
                  function, condition);
}
#endif
