/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The handler of SIGSEGV and SIGBUS and its place beside other handlers.
 *
 * A program, a language runtime or an MPI library may install a handler
 * before or after hearth_init().  Before: ours goes in front and passes on
 * what is not ours.  After: sigaction() and its kin (front/sigmask.c) of
 * libhearth stand before those of the C library for every program linked with
 * it; while the heap is up they keep a new handler of these behind ours
 * instead of installing it.  A handler installed past them (a raw system call)
 * is found at the next barrier.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "altstack.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/dlsym_next.h"
#include "base/report.h"
#include "base/thread.h"
#include "fault.h"
#include "hearth/hearth.h"
#include "space/heap.h"
#include "uffd_pages.h"

typedef int action_function(int, const struct sigaction *, struct sigaction *);
typedef int mask_function(int, const sigset_t *, sigset_t *);

HEARTH_API int sigaction(int signum, const struct sigaction *act,
                         struct sigaction *old);

static struct taken {
    int              sig;
    const char      *name;
    bool             wanted; /* since hearth_init() */
    volatile bool    installed;
    struct sigaction behind; /* whoever had it before us */
} taken[] = { { .sig = SIGSEGV, .name = "SIGSEGV" },
              { .sig = SIGBUS, .name = "SIGBUS" } };

enum { TAKEN = sizeof taken / sizeof *taken };

static void *volatile probing; /* address of the deliberate fault */
static volatile bool probed;
static bool          passed;  /* other libraries' calls do not come here */
static volatile bool arrived; /* one did */

static struct taken *
taken_of(int sig)
{
    return hearthi_is_fault_signal(sig) ? &taken[sig == SIGBUS] : NULL;
}

static action_function *
real_sigaction(void)
{
    static action_function *real;

    if (real == NULL)
        hearthi_dlsym_next(&real, "sigaction");
    return real;
}

/* Not Hearth's own, which lets no thread block these. */
static void
real_mask(int how, const sigset_t *set)
{
    static mask_function *real;

    if (real == NULL)
        hearthi_dlsym_next(&real, "pthread_sigmask");
    real(how, set, NULL);
}

/* The mask that the kernel would have set for the handler behind ours; the
 * return from the signal puts back what was. */
static void
mask_for_behind(const struct taken *t, const ucontext_t *u)
{
    sigset_t mask;

    sigorset(&mask, &u->uc_sigmask, &t->behind.sa_mask);
    if (!(t->behind.sa_flags & SA_NODEFER))
        sigaddset(&mask, t->sig);
    real_mask(SIG_SETMASK, &mask);
}

static bool
is_nobodys(const struct sigaction *a)
{
    return !(a->sa_flags & SA_SIGINFO) &&
           (a->sa_handler == SIG_DFL || a->sa_handler == SIG_IGN);
}

/* The handler behind may have changed since its stack was looked up. */
static bool
behind_call(const siginfo_t *info, const void *context)
{
    const int              sig = info->si_signo;
    struct taken          *t = taken_of(sig);
    const struct sigaction to = t->behind;

    mask_for_behind(t, context);
    if (to.sa_flags & (int)SA_RESETHAND)
        t->behind = (struct sigaction){ .sa_handler = SIG_DFL };
    if (to.sa_flags & SA_SIGINFO) {
        to.sa_sigaction(sig, (siginfo_t *)info, (void *)context);
    } else if (!is_nobodys(&to)) {
        to.sa_handler(sig);
    } else {
        /* None: the instruction faults again and ends the process.  The kernel
         * does not ignore a signal of its own making either. */
        struct sigaction none = { .sa_handler = SIG_DFL };

        t->installed = false;
        real_sigaction()(sig, &none, NULL);
    }
    return true;
}

/* Pass a fault on as the kernel would have. */
static void
chain(const siginfo_t *info, const void *context)
{
    const struct sigaction *to = &taken_of(info->si_signo)->behind;

    if ((to->sa_flags & SA_ONSTACK) || is_nobodys(to))
        behind_call(info, context);
    else
        hearthi_altstack_leave(behind_call, info, context);
}

/* A handler that was put in front of ours unseen, because its library calls
 * the C library past us, has taken a fault for the program's and then called
 * the one before it: by raise(), when ours is in place again (faulthandler of
 * Python).  The instruction faults once more, and comes here at once. */
static bool
told_by_another(const siginfo_t *info)
{
    if (!passed || info->si_code != SI_TKILL || info->si_pid != getpid())
        return false;
    hearthi_warn("segmentation fault",
                 "another library's handler came first: what it says of a "
                 "fault may be a page that is fetched now; start with "
                 "LD_PRELOAD=libhearth.so");
    return true;
}

/* What is behind lets the process end: none, or UCX's, which prints a stack.
 */
static bool
behind_ends(int sig)
{
    const struct sigaction *to = &taken_of(sig)->behind;
    void                   *function;
    Dl_info                 whose;

    if (is_nobodys(to))
        return true;
    memcpy(&function, &to->sa_handler, sizeof function);
    return dladdr(function, &whose) != 0 &&
           (strstr(whose.dli_fname, "/libucs.so") != NULL ||
            strstr(whose.dli_fname, "/libopen-pal.so") != NULL);
}

/* si_code <= 0: sent by kill(2), not a fault at all.  Not a part of the
 * handler, whose stack may be small. */
static __attribute__((noinline)) bool
is_done(const siginfo_t *info, const void *context)
{
    HEARTHI_UNCANCELLED;

    if ((info->si_code > 0 && hearthi_in_heap(info->si_addr) &&
         hearthi_fault_dispatch(info, context)) ||
        told_by_another(info))
        return true;
    if (info->si_signo == SIGBUS)
        hearthi_sigbus_tell(info);
    else if (behind_ends(SIGSEGV))
        hearthi_stranger_tell(info, context);
    return false;
}

static void
handler(int sig, siginfo_t *info, void *context)
{
    int   saved = errno;
    void *addr = probing;
    bool  done;

    /* qemu-user -R gives a bus error an address of its own.  One of another
     * thread comes again. */
    if (addr != NULL && (addr == info->si_addr || sig == SIGBUS)) {
        probed = true;
        mmap(addr, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        errno = saved;
        return;
    }
    done = hearthi_altstack_run(is_done, info, context);
    errno = saved;
    if (!done)
        chain(info, context);
}

int
sigaction(int signum, const struct sigaction *act, struct sigaction *old)
{
    struct taken    *t = taken_of(signum);
    struct sigaction was, open;

    arrived = true;
    if (t == NULL && act != NULL) {
        /* That handler may touch the heap. */
        open = *act;
        hearthi_fault_signals_open(&open.sa_mask);
        act = &open;
    }
    if (t == NULL || !t->installed)
        return real_sigaction()(signum, act, old);
    was = t->behind;
    if (act != NULL)
        t->behind = *act;
    if (old != NULL)
        *old = was;
    return 0;
}

/* UCX up to 1.12 could swallow sigaction: see the handler work before the
 * program depends on it. */
static void
probe(const struct taken *t)
{
    size_t         page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *p;

    if (t->sig == SIGSEGV)
        p = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    else /* behind the end of a file */
        p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED,
                 hearthi_heap.fd, (off_t)hearthi_heap.bytes);
    if (p == MAP_FAILED)
        hearthi_fatal("hearth_init", "no memory");
    probed = false;
    probing = (void *)p;
    *p = 1;
    probing = NULL;
    munmap((void *)p, page);
    if (!probed)
        hearthi_fatal("hearth_init",
                      "another library keeps %s for itself, so page "
                      "faults cannot be served: start without it (for UCX: "
                      "UCX_ERROR_SIGNALS= in the environment)",
                      t->name);
}

/* What pthread_cancel() sends to a thread that may be cancelled at any moment.
 * The handler of glibc (2.36) looks at the thread's type of cancellation, not
 * at its state: a signal that was sent before a fault disabled cancellation,
 * and comes after that, would end the thread in the midst of the fault.  So
 * it waits until the fault's handler returns.  sigaddset() refuses signals of
 * the C library's own; other libraries look at the state. */
static void
mask_cancel(sigset_t *mask)
{
#ifdef __GLIBC__
    mask->__val[0] |= 1UL << (__SIGRTMIN - 1);
#else
    (void)mask;
#endif
}

/* They stay unblocked in the handler: a cancel that came meanwhile may be
 * acted on at the end of it, where nothing is held (base/cancel.h), and the
 * thread's cleanup handlers may touch the heap and fault in turn. */
static void
install(struct taken *t)
{
    struct sigaction act = { .sa_sigaction = handler,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER |
                                         SA_ONSTACK };
    struct sigaction old;

    sigemptyset(&act.sa_mask);
    mask_cancel(&act.sa_mask);
    if (real_sigaction()(t->sig, &act, &old) != 0)
        hearthi_fatal("hearth_init", "sigaction(%s) failed: %s", t->name,
                      strerror(errno));
    t->behind = old;
}

/* A function that comes first may hand on to ours, as AddressSanitizer's does:
 * only a call tells. */
static bool
calls_pass(void)
{
    action_function *first = NULL;
    void            *found = dlsym(RTLD_DEFAULT, "sigaction");
    struct sigaction now;

    memcpy(&first, &found, sizeof found);
    arrived = first == NULL;
    if (first != NULL)
        first(SIGSEGV, NULL, &now);
    return !arrived;
}

static void
take(struct taken *t)
{
    install(t);
    t->wanted = t->installed = true;
    probe(t);
}

void
hearthi_signal_open(void)
{
    passed = calls_pass();
    hearthi_fault_dispatch_open();
    hearthi_fault_signals_unblock();
    hearthi_altstack_open();
    take(taken_of(SIGSEGV));
    take(taken_of(SIGBUS));
}

bool
hearthi_signal_passed(void)
{
    return passed;
}

void
hearthi_signal_close(void)
{
    for (int i = 0; i < TAKEN; i++)
        if (taken[i].wanted) {
            taken[i].wanted = taken[i].installed = false;
            real_sigaction()(taken[i].sig, &taken[i].behind, NULL);
        }
    hearthi_fault_dispatch_close();
}

static bool
is_replaced(const struct taken *t)
{
    struct sigaction now;

    return real_sigaction()(t->sig, NULL, &now) == 0 &&
           !((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler);
}

/* At most once a millisecond: the system calls would double a barrier. */
void
hearthi_signal_check(void)
{
    static uint64_t last;
    uint64_t        time = hearthi_now();

    if (time - last < 1000000)
        return;
    last = time;
    for (int i = 0; i < TAKEN; i++)
        if (taken[i].wanted && is_replaced(&taken[i]))
            install(&taken[i]);
    hearthi_uffd_pages_check();
}
