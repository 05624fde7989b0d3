/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where in the program another thread waits.  What lies on its stack may be
 * left from an earlier call, so the thread unwinds its own, in a handler of
 * SIGURG.  That is done in a job that is about to end: the thread waits in a
 * call that goes on behind a signal, and if it does not answer soon, because
 * it blocks signals or what it was interrupted in has a lock that the handler
 * wants, there is no place.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/format.h"
#include "profile/caller.h"
#include "report/merged.h"
#include "thread_state.h"

static struct {
    atomic_int        thread; /* which is asked */
    _Atomic uintptr_t at;     /* its answer */
} asked;

static void
unwind(int sig)
{
    int saved = errno;

    (void)sig;
    if (atomic_load(&asked.thread) == (int)syscall(SYS_gettid))
        atomic_store(&asked.at, hearthi_caller_here());
    errno = saved;
}

/* 0: it is not known. */
static uintptr_t
address_of(int thread)
{
    enum { NAPS = 100 };
    const struct timespec nap = { .tv_nsec = 2000000 };
    struct sigaction      act = { .sa_handler = unwind,
                                  .sa_flags = SA_RESTART | SA_ONSTACK };

    sigemptyset(&act.sa_mask);
    if (sigaction(SIGURG, &act, NULL) != 0)
        return 0;
    atomic_store(&asked.at, 0);
    atomic_store(&asked.thread, thread);
    syscall(SYS_tgkill, getpid(), thread, SIGURG);
    for (int i = 0; i < NAPS && atomic_load(&asked.at) == 0; i++)
        nanosleep(&nap, NULL);
    atomic_store(&asked.thread, 0);
    return atomic_load(&asked.at);
}

struct threads {
    int n, last;
};

static void
thread_count(struct hearthi_thread_state *u, void *to)
{
    struct threads *t = to;

    t->n++;
    t->last = u->tid;
}

/* Of a call whose thread is not known: the only one that calls, or else the
 * first of the process; 0 if there are several. */
static int
only_thread(void)
{
    struct threads t = { .last = getpid() };

    hearthi_thread_states_each(thread_count, &t);
    return t.n <= 1 ? t.last : 0;
}

void
hearthi_thread_place(int thread, char *text, size_t room)
{
    struct hearthi_site   site = { 0 };
    struct hearthi_merged m = { .site = &site, .sites = 1, .paths = 1 };
    uintptr_t             at;

    text[0] = '\0';
    if (thread == 0)
        thread = only_thread();
    if (thread == 0)
        return;
    hearthi_caller_open();
    at = address_of(thread);
    site.module = at == 0 ? NULL : hearthi_caller_module(at, &site.offset);
    if (site.module == NULL)
        return;
    m.path[0] = (char *)site.module;
    hearthi_sites_resolve(&m);
    if (site.file != NULL)
        snprintf(text, room, "%.30s:%d", hearthi_base_name(site.file),
                 site.line);
}
