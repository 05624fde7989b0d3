/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "file_write.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static sigset_t
only_too_large(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

static bool
is_pending(void)
{
    sigset_t set;

    return sigpending(&set) == 0 && sigismember(&set, SIGXFSZ) == 1;
}

void
hearthi_file_write_begin(struct hearthi_file_write *w)
{
    const sigset_t set = only_too_large();

    w->pending = is_pending();
    pthread_sigmask(SIG_BLOCK, &set, &w->mask);
}

/* The kernel sends the signal to the thread that writes.  errno stays. */
void
hearthi_file_write_end(const struct hearthi_file_write *w)
{
    const sigset_t        set = only_too_large();
    const struct timespec now = { 0 };
    const int             code = errno;

    if (!w->pending && is_pending())
        sigtimedwait(&set, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &w->mask, NULL);
    errno = code;
}

const char *
hearthi_file_write_error(int code)
{
    static char   text[120];
    struct rlimit most;

    if (code != EFBIG || getrlimit(RLIMIT_FSIZE, &most) != 0 ||
        most.rlim_cur == RLIM_INFINITY)
        return strerror(code);
    snprintf(text, sizeof text,
             "a file may have %llu KiB (ulimit -f): raise that (ulimit -f "
             "unlimited)",
             (unsigned long long)most.rlim_cur >> 10);
    return text;
}
