/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The stacks on which page faults are served.  A page fault with MPI in it
 * takes more than a thread may have: a goroutine has 2 KiB, and a stack for
 * signals (sigaltstack) of 32; in Rust that has 8.  User-level threads of
 * Argobots and Qthreads have 16 KiB.  There it runs on a stack of Hearth's.
 */
#ifndef HEARTHI_ALTSTACK_H
#define HEARTHI_ALTSTACK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Of another stack: MPICH with UCX takes 138 KiB. */
enum { HEARTHI_ALTSTACK_ENOUGH = 160 << 10 };

/* That of Hearth's which this thread is on.  Initial-exec: reading it in a
 * signal handler must not allocate. */
extern _Thread_local
    __attribute__((tls_model("initial-exec"))) char *hearthi_altstack_mine;

static inline bool
hearthi_is_in_altstack(const stack_t *s, const char *at)
{
    return !(s->ss_flags & SS_DISABLE) &&
           (uintptr_t)at - (uintptr_t)s->ss_sp < s->ss_size;
}

/* What a handler of a signal does: run it on a stack of Hearth's, and return
 * what it does. */
bool hearthi_altstack_change(bool (*run)(const siginfo_t *, const void *),
                             const siginfo_t *info, const void *context);

/* Find the stack of the thread that calls hearth_init(), before it faults. */
void hearthi_altstack_open(void);

/* The same for a thread that has no stack for signals, if its own has too
 * little room, or is one that a library of user-level threads has made: that
 * has the frame of the signal, and hardly more.  Without system calls but for
 * a thread's first.  Where there is no memory for a stack it runs where it is.
 */
bool hearthi_altstack_borrow(bool (*run)(const siginfo_t *, const void *),
                             const siginfo_t *info, const void *context);

/* One of the two, unless the handler is on a stack for signals that has room
 * enough: then run it where it is.  A fault in a handler that has interrupted
 * another is on Hearth's already. */
static inline bool
hearthi_altstack_run(bool (*run)(const siginfo_t *, const void *),
                     const siginfo_t *info, const void *context)
{
    const stack_t *s = &((const ucontext_t *)context)->uc_stack;
    const char    *here = __builtin_frame_address(0);

    if (!hearthi_is_in_altstack(s, here))
        return hearthi_altstack_borrow(run, info, context);
    if (s->ss_sp == (void *)hearthi_altstack_mine ||
        here - (char *)s->ss_sp >= HEARTHI_ALTSTACK_ENOUGH)
        return run(info, context);
    return hearthi_altstack_change(run, info, context);
}

/* Run it on the stack that the signal came on, as for a handler without
 * SA_ONSTACK.  Until it returns the thread has no stack for signals. */
bool hearthi_altstack_leave(bool (*run)(const siginfo_t *, const void *),
                            const siginfo_t *info, const void *context);

#endif
