/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank that leaves without hearth_finalize() and says that all is well.  The
 * launcher may believe it: MPICH's then kills the others and gives status 0,
 * before any of them can end the job.  exit(3) has handlers (init.c); _exit(2)
 * has none, so Hearth stands in front of it, and of quick_exit(3), whose
 * handlers hear of no status, and of daemon(3), whose caller ends by _exit(2)
 * past us.  A child that vfork(2) has made has this rank's memory, and another
 * number.
 */
#include "config.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/dlsym_next.h"
#include "base/report.h"
#include "hearth/hearth.h"
#include "init.h"
#include "world.h"

static pid_t owner;

void
hearthi_leave_watch(void)
{
    owner = getpid();
}

/* Between hearth_init() and hearth_finalize(), and no child. */
static bool
is_rank(void)
{
    return hearthi_world.up && getpid() == owner;
}

static void
leave_check(const char *call, int status)
{
    if (status == EXIT_SUCCESS && is_rank())
        hearthi_fatal(call, "the program ended without hearth_finalize: call "
                            "it on every rank");
}

_Noreturn static void
leave(const char *call, int status)
{
    leave_check(call, status);
    for (;;)
        syscall(SYS_exit_group, status);
}

#define LEAVE(name)                                                  \
    HEARTH_API _Noreturn                                             \
        __attribute__((weak)) void leave_##name(int) __asm__(#name); \
                                                                     \
    void leave_##name(int status)                                    \
    {                                                                \
        leave(#name, status);                                        \
    }

LEAVE(_exit)
LEAVE(_Exit)

#define FRONT __attribute__((weak))
HEARTH_API FRONT _Noreturn void front_quick_exit(int) __asm__("quick_exit");
HEARTH_API FRONT int            front_daemon(int, int) __asm__("daemon");

void
front_quick_exit(int status)
{
    void (*next)(int);

    leave_check("quick_exit", status);
    hearthi_dlsym_next(&next, "quick_exit");
    next(status);
    leave("quick_exit", status);
}

int
front_daemon(int there, int open)
{
    int (*next)(int, int);

    leave_check("daemon", EXIT_SUCCESS);
    hearthi_dlsym_next(&next, "daemon");
    return next(there, open);
}

/* ---- exec ----
 *
 * A rank that becomes another program.  Its lines to others close by
 * themselves, so they know at once; but MPICH's launcher takes the end of that
 * program, if its status is 0, for a good end of the rank, kills the others
 * and gives status 0 itself.  So Hearth stands in front of these calls, and
 * ends the job.  A child that calls them, of fork(2) or vfork(2), has another
 * process number; posix_spawn(3), system(3) and popen(3) do not come here.
 *
 * What comes next is looked up when the library is loaded, as a child must not
 * wait for a thread that was looking something up in its parent. */

typedef char *const *words;

static struct {
    int (*execv)(const char *, words);
    int (*execve)(const char *, words, words);
    int (*execvp)(const char *, words);
    int (*execvpe)(const char *, words, words);
    int (*fexecve)(int, words, words);
    int (*execveat)(int, const char *, words, words, int);
} next;

__attribute__((constructor)) static void
next_find(void)
{
    hearthi_dlsym_next(&next.execv, "execv");
    hearthi_dlsym_next(&next.execve, "execve");
    hearthi_dlsym_next(&next.execvp, "execvp");
    hearthi_dlsym_next(&next.execvpe, "execvpe");
    hearthi_dlsym_next(&next.fexecve, "fexecve");
    hearthi_dlsym_next(&next.execveat, "execveat");
}

/* Constructors of other libraries may come here before ours has run. */
static void
rank_refuse(const char *call)
{
    if (next.execve == NULL)
        next_find();
    if (is_rank())
        hearthi_fatal(call, "this rank would become another program without "
                            "hearth_finalize: call it on every rank before, "
                            "or this in a child (fork, posix_spawn)");
}

HEARTH_API FRONT int front_execv(const char *, words) __asm__("execv");
HEARTH_API FRONT int front_execve(const char *, words,
                                  words) __asm__("execve");
HEARTH_API FRONT int front_execvp(const char *, words) __asm__("execvp");
HEARTH_API FRONT int front_execvpe(const char *, words,
                                   words) __asm__("execvpe");
HEARTH_API FRONT int front_fexecve(int, words, words) __asm__("fexecve");
HEARTH_API FRONT int front_execveat(int, const char *, words, words,
                                    int) __asm__("execveat");
HEARTH_API FRONT int front_execl(const char *, const char *,
                                 ...) __asm__("execl");
HEARTH_API FRONT int front_execle(const char *, const char *,
                                  ...) __asm__("execle");
HEARTH_API FRONT int front_execlp(const char *, const char *,
                                  ...) __asm__("execlp");

int
front_execv(const char *path, words argv)
{
    rank_refuse("execv");
    return next.execv(path, argv);
}

int
front_execve(const char *path, words argv, words env)
{
    rank_refuse("execve");
    return next.execve(path, argv, env);
}

int
front_execvp(const char *file, words argv)
{
    rank_refuse("execvp");
    return next.execvp(file, argv);
}

int
front_execvpe(const char *file, words argv, words env)
{
    rank_refuse("execvpe");
    return next.execvpe(file, argv, env);
}

int
front_fexecve(int fd, words argv, words env)
{
    rank_refuse("fexecve");
    return next.fexecve(fd, argv, env);
}

int
front_execveat(int dir, const char *path, words argv, words env, int flags)
{
    rank_refuse("execveat");
    return next.execveat(dir, path, argv, env, flags);
}

/* ---- words one by one ---- */

/* Behind the first one, with the NULL. */
static size_t
words_count(va_list ap)
{
    va_list copy;
    size_t  n = 1;

    va_copy(copy, ap);
    while (va_arg(copy, char *) != NULL)
        n++;
    va_end(copy);
    return n;
}

/* The words go on the stack, as a child of vfork(2) may not allocate: by
 * execv or execvp, or else by execve with what stands behind the NULL. */
static int
list_exec(int (*exec)(const char *, words), const char *path,
          const char *first, va_list ap)
{
    size_t n = first == NULL ? 0 : words_count(ap);
    char **argv = __builtin_alloca((n + 1) * sizeof *argv);

    argv[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i <= n; i++)
        argv[i] = va_arg(ap, char *);
    return exec != NULL ? exec(path, argv)
                        : next.execve(path, argv, va_arg(ap, words));
}

int
front_execl(const char *path, const char *first, ...)
{
    va_list ap;
    int     code;

    rank_refuse("execl");
    va_start(ap, first);
    code = list_exec(next.execv, path, first, ap);
    va_end(ap);
    return code;
}

int
front_execle(const char *path, const char *first, ...)
{
    va_list ap;
    int     code;

    rank_refuse("execle");
    va_start(ap, first);
    code = list_exec(NULL, path, first, ap);
    va_end(ap);
    return code;
}

int
front_execlp(const char *file, const char *first, ...)
{
    va_list ap;
    int     code;

    rank_refuse("execlp");
    va_start(ap, first);
    code = list_exec(next.execvp, file, first, ap);
    va_end(ap);
    return code;
}
