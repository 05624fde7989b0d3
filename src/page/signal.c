/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The SIGSEGV handler and its place beside other handlers.
 *
 * A program, a language runtime or an MPI library may install a handler
 * before or after hearth_init().  Before: ours goes in front and passes on
 * what is not ours.  After: sigaction() and its kin (front/masks.c) of
 * libhearth stand before those of the C library for every program linked with
 * it; while the heap is up they keep a new SIGSEGV handler behind ours instead
 * of installing it.  A handler installed past them (a raw system call) is
 * found at the next barrier.
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

#include "base/clock.h"
#include "base/next.h"
#include "base/report.h"
#include "fault.h"
#include "hearth/hearth.h"
#include "machine.h"
#include "space/heap.h"

typedef int action_function(int, const struct sigaction *, struct sigaction *);
typedef int mask_function(int, const sigset_t *, sigset_t *);

HEARTH_API int sigaction(int signum, const struct sigaction *act,
                         struct sigaction *old);

static volatile bool    installed;
static struct sigaction behind; /* whoever had SIGSEGV before us */
static void *volatile probing;  /* address of the deliberate fault */
static volatile bool probed;
static volatile bool orphan; /* fork() has made this process */
static bool          passed; /* other libraries' calls do not come here */

static action_function *
real_sigaction(void)
{
    static action_function *real;

    if (real == NULL)
        hearthi_next(&real, "sigaction");
    return real;
}

/* Not Hearth's own, which lets nobody block SIGSEGV. */
static void
real_mask(int how, const sigset_t *set)
{
    static mask_function *real;

    if (real == NULL)
        hearthi_next(&real, "pthread_sigmask");
    real(how, set, NULL);
}

/* The mask that the kernel would have set for the handler behind ours; the
 * return from the signal puts back what was. */
static void
mask_for_behind(const ucontext_t *u)
{
    sigset_t mask;

    sigorset(&mask, &u->uc_sigmask, &behind.sa_mask);
    if (!(behind.sa_flags & SA_NODEFER))
        sigaddset(&mask, SIGSEGV);
    real_mask(SIG_SETMASK, &mask);
}

/* Pass a fault on as the kernel would have. */
static void
chain(int sig, siginfo_t *info, void *context)
{
    const struct sigaction to = behind;

    mask_for_behind(context);
    if (to.sa_flags & (int)SA_RESETHAND)
        behind = (struct sigaction){ .sa_handler = SIG_DFL };
    if (to.sa_flags & SA_SIGINFO) {
        to.sa_sigaction(sig, info, context);
    } else if (to.sa_handler != SIG_DFL && to.sa_handler != SIG_IGN) {
        to.sa_handler(sig);
    } else {
        /* Nobody: the instruction faults again and ends the process.  The
         * kernel does not ignore a SIGSEGV of its own making either. */
        struct sigaction none = { .sa_handler = SIG_DFL };

        installed = false;
        real_sigaction()(SIGSEGV, &none, NULL);
    }
}

enum { STACK_ROOM = 65536 }; /* that a page fault needs, with MPI in it */

static volatile bool on_stack; /* ours is installed with SA_ONSTACK */

/* The stack of a handler behind ours, so that it can tell of a stack that has
 * overflown.  Page faults are then served there, too, and by MPI: a stack that
 * is too small for that is not taken. */
static int
stack_flag(const struct sigaction *other)
{
    stack_t s;

    return (other->sa_flags & SA_ONSTACK) && sigaltstack(NULL, &s) == 0 &&
                   !(s.ss_flags & SS_DISABLE) && s.ss_size >= STACK_ROOM
               ? SA_ONSTACK
               : 0;
}

/* Another thread's may be smaller. */
static void
stack_check(const ucontext_t *u)
{
    const stack_t *s = &u->uc_stack;
    const char     here = 0, *at = &here;

    if (on_stack && !(s->ss_flags & SS_DISABLE) && s->ss_size < STACK_ROOM &&
        at >= (const char *)s->ss_sp &&
        at < (const char *)s->ss_sp + s->ss_size)
        hearthi_fatal("page fault",
                      "a signal stack of %zu bytes is too small: give "
                      "sigaltstack() %d in threads that use the heap",
                      s->ss_size, STACK_ROOM);
}

/* False if it is the program's fault; that is said then. */
static bool
heap_serve(void *addr, const void *context)
{
    if (orphan) {
        hearthi_warn("segmentation fault",
                     "a child of fork() touched %p, which it cannot: it has "
                     "the pages that were here, to read: touch them before "
                     "fork()",
                     addr);
        return false;
    }
    if (hearthi_fault_jumps(context, addr)) {
        hearthi_warn("segmentation fault",
                     "a jump to %p, which is in the heap: what is there "
                     "cannot be run: see the pointer to a function that led "
                     "there",
                     addr);
        return false;
    }
    stack_check(context);
    if (hearthi_fault(addr, hearthi_fault_writes(context)))
        return true;
    hearthi_fault_describe(addr);
    return false;
}

/* A handler that was put in front of ours unseen, because its library calls
 * the C library past us, has taken a fault for the program's and then called
 * who was before it: by raise(), when ours is in place again (faulthandler of
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

static void
handler(int sig, siginfo_t *info, void *context)
{
    int   saved = errno;
    void *addr = info->si_addr;

    if (addr == probing && probing != NULL) {
        probed = true;
        mprotect(addr, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
        errno = saved;
        return;
    }
    /* si_code <= 0: sent by kill(2), not a fault at all. */
    if ((info->si_code > 0 && hearthi_in_heap(addr) &&
         heap_serve(addr, context)) ||
        told_by_another(info)) {
        errno = saved;
        return;
    }
    errno = saved;
    chain(sig, info, context);
}

static struct sigaction install_before(const struct sigaction *other);

int
sigaction(int signum, const struct sigaction *act, struct sigaction *old)
{
    struct sigaction was, open;

    if (signum != SIGSEGV && act != NULL) {
        /* That handler may touch the heap. */
        open = *act;
        sigdelset(&open.sa_mask, SIGSEGV);
        act = &open;
    }
    if (signum != SIGSEGV || !installed)
        return real_sigaction()(signum, act, old);
    was = behind;
    if (act != NULL) {
        behind = *act;
        install_before(act);
    }
    if (old != NULL)
        *old = was;
    return 0;
}

/* UCX up to 1.12 could swallow sigaction: see the handler work before the
 * program depends on it. */
static void
probe(void)
{
    size_t         page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *p =
        mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        hearthi_fatal("hearth_init", "no memory");
    probing = (void *)p;
    *p = 1;
    probing = NULL;
    munmap((void *)p, page);
    if (!probed)
        hearthi_fatal("hearth_init",
                      "another library keeps SIGSEGV for itself, so page "
                      "faults cannot be served: start without it (for UCX: "
                      "UCX_ERROR_SIGNALS= in the environment)");
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

/* SIGSEGV stays unblocked in the handler: a cancel that came meanwhile may be
 * acted on at the end of it, where nothing is held (base/cancel.h), and the
 * thread's cleanup handlers may touch the heap and fault in turn. */
static struct sigaction
install_before(const struct sigaction *other)
{
    struct sigaction act = { .sa_sigaction = handler,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER |
                                         stack_flag(other) };
    struct sigaction old;

    on_stack = (act.sa_flags & SA_ONSTACK) != 0;
    sigemptyset(&act.sa_mask);
    mask_cancel(&act.sa_mask);
    if (real_sigaction()(SIGSEGV, &act, &old) != 0)
        hearthi_fatal("hearth_init", "sigaction(SIGSEGV) failed: %s",
                      strerror(errno));
    return old;
}

static void
install(void)
{
    struct sigaction other;

    if (real_sigaction()(SIGSEGV, NULL, &other) == 0)
        behind = install_before(&other);
}

/* By the library that has them: an address of "sigaction" taken here is that
 * of whoever comes first, too. */
static bool
calls_pass(void)
{
    void   *first = dlsym(RTLD_DEFAULT, "sigaction");
    Dl_info theirs, ours;

    return dladdr(first, &theirs) != 0 && dladdr(&behind, &ours) != 0 &&
           theirs.dli_fbase != ours.dli_fbase;
}

void
hearthi_signal_open(void)
{
    sigset_t segv;

    passed = calls_pass();
    sigemptyset(&segv);
    sigaddset(&segv, SIGSEGV);
    real_mask(SIG_UNBLOCK, &segv);
    install();
    installed = true;
    probe();
}

bool
hearthi_signal_passed(void)
{
    return passed;
}

void
hearthi_signal_forked(void)
{
    orphan = true;
}

void
hearthi_signal_close(void)
{
    installed = false;
    real_sigaction()(SIGSEGV, &behind, NULL);
}

/* At most once a millisecond: the system call would double a barrier. */
void
hearthi_signal_check(void)
{
    static uint64_t  last;
    uint64_t         time = hearthi_now();
    struct sigaction now;

    if (time - last < 1000000)
        return;
    last = time;
    if (real_sigaction()(SIGSEGV, NULL, &now) == 0 &&
        !((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler))
        install();
}

bool (*hearthi_nearest)(const void *addr, const void **base, size_t *bytes);

void
hearthi_fault_describe(const void *addr)
{
    const char *at = addr;
    const void *base;
    size_t      bytes;

    if (hearthi_nearest == NULL || !hearthi_nearest(addr, &base, &bytes))
        hearthi_warn("segmentation fault",
                     "address %p is in the heap, but nothing is allocated",
                     addr);
    else if (at < (const char *)base)
        hearthi_warn("segmentation fault",
                     "address %p lies %zu bytes before the allocation of %zu "
                     "bytes at %p: see the index or pointer that led there",
                     addr, (size_t)((const char *)base - at), bytes, base);
    else
        hearthi_warn("segmentation fault",
                     "address %p lies %zu bytes beyond the end of the "
                     "allocation of %zu bytes at %p: see the index or pointer "
                     "that led there",
                     addr, (size_t)(at - (const char *)base) - bytes, bytes,
                     base);
}
