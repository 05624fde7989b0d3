/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "altstack.h"

#include "base/report.h"

enum { STACK_ROOM = 65536 }; /* that a page fault needs, with MPI in it */

bool
hearthi_altstack_wanted(const struct sigaction *other)
{
    stack_t s;

    return (other->sa_flags & SA_ONSTACK) && sigaltstack(NULL, &s) == 0 &&
           !(s.ss_flags & SS_DISABLE) && s.ss_size >= STACK_ROOM;
}

void
hearthi_altstack_check(const ucontext_t *u)
{
    const stack_t *s = &u->uc_stack;
    const char     here = 0, *at = &here;

    if (!(s->ss_flags & SS_DISABLE) && s->ss_size < STACK_ROOM &&
        at >= (const char *)s->ss_sp &&
        at < (const char *)s->ss_sp + s->ss_size)
        hearthi_fatal("page fault",
                      "a signal stack of %zu bytes is too small: give "
                      "sigaltstack() %d in threads that use the heap",
                      s->ss_size, STACK_ROOM);
}
