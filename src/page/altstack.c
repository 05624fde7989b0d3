/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The handler has SA_ONSTACK, whatever the program's behind it has: a library
 * (UCX) may have put one without it in front of the program's.  From a stack
 * for signals with too little room the handler changes to one of Hearth's, and
 * back before it returns or calls the program's.  The one that UCX gives the
 * main thread has enough: each change takes four system calls.  From a stack
 * that is not for signals and has too little room it changes to one of
 * Hearth's, too, and that takes none: nothing else begins at the top of such a
 * stack.  A thread with room keeps its own: a collector that stops threads by
 * a signal scans each from where that found its stack pointer to the end of
 * the stack that it was started with.
 *
 * Meanwhile the stack for signals has the frame by which the kernel goes back
 * to the program.  For the kernel no thread is on it any more, so that the
 * next signal whose handler has SA_ONSTACK would begin at its top and
 * overwrite that frame.  Therefore the thread's stack for signals is Hearth's
 * as long as this one runs on it: such a handler goes on below, and has more
 * room than it would have had. sigaltstack() refuses to change the stack in
 * use, so all signals are blocked for the moments in which it is left and not
 * yet changed.
 */
#include "config.h"

#include "altstack.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/report.h"
#include "base/thread.h"
#include "fault_arch.h"

enum {
    ROOM = 256 << 10, /* for a page fault, with MPI in it */
    GUARD = 64 << 10, /* the largest page of a machine */
    MARK = 16,        /* at the top, for hearthi_fault_stack_mark */
    KEPT = 512        /* threads that fault at once, without new stacks */
};

/* ---- stacks ---- */

static _Atomic(char *) kept[KEPT];

/* Where this thread has found one, which is in its processor's cache.
 * Initial-exec: reading it in a signal handler must not allocate. */
static _Thread_local __attribute__((tls_model("initial-exec"))) unsigned place;

/* Past any function that may stand before mmap() and its kin, and use more of
 * a small stack.  NULL: there is no memory, or no mapping to be had. */
static char *
stack_new(void)
{
    const char *const mark = &hearthi_fault_stack_mark;
    char *low = (char *)syscall(
        SYS_mmap, NULL, (size_t)GUARD + ROOM, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, (off_t)0);

    if (low == MAP_FAILED)
        return NULL;
    if (syscall(SYS_mprotect, low, (size_t)GUARD, PROT_NONE) != 0) {
        syscall(SYS_munmap, low, (size_t)GUARD + ROOM);
        return NULL;
    }
    memcpy(low + GUARD + ROOM - MARK, &mark, sizeof mark);
    return low + GUARD;
}

static char *
stack_end(char *stack)
{
    return stack + ROOM - MARK;
}

static char *
stack_take(void)
{
    for (unsigned i = 0; i < KEPT; i++) {
        unsigned at = (place + i) % KEPT;
        char    *stack = NULL;

        if (kept[at] != NULL)
            stack = atomic_exchange(&kept[at], NULL);
        if (stack != NULL) {
            place = at;
            return stack;
        }
    }
    return stack_new();
}

static void
stack_give(char *stack)
{
    for (unsigned i = 0; i < KEPT; i++) {
        unsigned at = (place + i) % KEPT;
        char    *none = NULL;

        if (atomic_compare_exchange_strong(&kept[at], &none, stack)) {
            place = at;
            return;
        }
    }
    syscall(SYS_munmap, stack - GUARD, (size_t)GUARD + ROOM);
}

/* ---- the change ---- */

/* Call run(with) on the stack that ends at `top`, a multiple of 16. */
void hearthi_altstack_call(char *top, void (*run)(void *), void *with);

/* "@" begins a comment on some machines; "%" does nowhere. */
#define CHANGE(instructions)                                         \
    __asm__(".text\n"                                                \
            ".globl hearthi_altstack_call\n"                         \
            ".hidden hearthi_altstack_call\n"                        \
            ".type hearthi_altstack_call, %function\n"               \
            "hearthi_altstack_call:\n"                               \
            "    .cfi_startproc\n" instructions "    .cfi_endproc\n" \
            ".size hearthi_altstack_call, . - hearthi_altstack_call\n")

#if defined(__x86_64__)
CHANGE("    pushq %rbp\n"
       "    .cfi_def_cfa_offset 16\n"
       "    .cfi_offset %rbp, -16\n"
       "    movq %rsp, %rbp\n"
       "    .cfi_def_cfa_register %rbp\n"
       "    movq %rdi, %rsp\n"
       "    movq %rdx, %rdi\n"
       "    callq *%rsi\n"
       "    movq %rbp, %rsp\n"
       "    popq %rbp\n"
       "    .cfi_def_cfa %rsp, 8\n"
       "    ret\n");
#elif defined(__aarch64__)
CHANGE("    stp x29, x30, [sp, #-16]!\n"
       "    .cfi_def_cfa_offset 16\n"
       "    .cfi_offset 29, -16\n"
       "    .cfi_offset 30, -8\n"
       "    mov x29, sp\n"
       "    .cfi_def_cfa_register 29\n"
       "    mov sp, x0\n"
       "    mov x0, x2\n"
       "    blr x1\n"
       "    mov sp, x29\n"
       "    .cfi_def_cfa_register 31\n"
       "    ldp x29, x30, [sp], #16\n"
       "    .cfi_def_cfa_offset 0\n"
       "    .cfi_restore 29\n"
       "    .cfi_restore 30\n"
       "    ret\n");
#elif defined(__powerpc64__) && _CALL_ELF == 2
/* Above the new end is what a caller has ready for who it calls, the way back
 * to the old stack in its first word. */
CHANGE("    mflr 0\n"
       "    std 0, 16(1)\n"
       "    std 31, -8(1)\n"
       "    stdu 1, -48(1)\n"
       "    .cfi_def_cfa_offset 48\n"
       "    .cfi_offset 65, 16\n"
       "    .cfi_offset 31, -8\n"
       "    mr 31, 1\n"
       "    .cfi_def_cfa_register 31\n"
       "    std 2, 24(1)\n"
       "    std 1, -32(3)\n"
       "    addi 1, 3, -32\n"
       "    mr 3, 5\n"
       "    mr 12, 4\n"
       "    mtctr 12\n"
       "    bctrl\n"
       "    mr 1, 31\n"
       "    .cfi_def_cfa_register 1\n"
       "    ld 2, 24(1)\n"
       "    addi 1, 1, 48\n"
       "    .cfi_def_cfa_offset 0\n"
       "    ld 31, -8(1)\n"
       "    .cfi_restore 31\n"
       "    ld 0, 16(1)\n"
       "    mtlr 0\n"
       "    .cfi_restore 65\n"
       "    blr\n");
#elif defined(__riscv) && __riscv_xlen == 64
CHANGE("    addi sp, sp, -16\n"
       "    .cfi_def_cfa_offset 16\n"
       "    sd s0, 0(sp)\n"
       "    sd ra, 8(sp)\n"
       "    .cfi_offset 8, -16\n"
       "    .cfi_offset 1, -8\n"
       "    mv s0, sp\n"
       "    .cfi_def_cfa_register 8\n"
       "    mv sp, a0\n"
       "    mv a0, a2\n"
       "    jalr a1\n"
       "    mv sp, s0\n"
       "    .cfi_def_cfa_register 2\n"
       "    ld s0, 0(sp)\n"
       "    ld ra, 8(sp)\n"
       "    addi sp, sp, 16\n"
       "    .cfi_def_cfa_offset 0\n"
       "    .cfi_restore 8\n"
       "    .cfi_restore 1\n"
       "    ret\n");
#else
#error "how to change the stack of this machine is not known to Hearth"
#endif

_Thread_local
    __attribute__((tls_model("initial-exec"))) char *hearthi_altstack_mine;

struct task {
    bool (*run)(const siginfo_t *, const void *);
    const siginfo_t *info;
    const void      *context;
    char            *stack; /* of Hearth's, or NULL */
    uint64_t         mask;  /* as the kernel has it */
    bool             done;
};

/* The C library leaves out signals of its own, for which it has SA_ONSTACK. */
static void
mask_set(const uint64_t *set, uint64_t *before)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, set, before, sizeof *set);
}

static void
altstack_set(char *stack)
{
    stack_t s = { .ss_sp = stack,
                  .ss_size = ROOM,
                  .ss_flags = stack == NULL ? SS_DISABLE : 0 };

    sigaltstack(&s, NULL);
}

/* The kernel has one with this flag disabled while a handler runs on it. */
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

static void
altstack_restore(const stack_t *before)
{
    if ((unsigned)before->ss_flags & SS_AUTODISARM)
        altstack_set(NULL);
    else
        sigaltstack(before, NULL);
}

static void
task_run(void *with)
{
    struct task *t = with;

    altstack_set(t->stack);
    hearthi_altstack_mine = t->stack;
    mask_set(&t->mask, NULL);
    t->done = t->run(t->info, t->context);
}

/* What the thread's stack for signals was is so again when this returns: the
 * kernel would see to it at the end of the handler, but the program's may
 * leave by siglongjmp(), and the stack may be another thread's by then. */
static void
task_do(struct task *t, char *top)
{
    const ucontext_t *u = t->context;
    const uint64_t    all = UINT64_MAX;
    char             *outer = hearthi_altstack_mine;

    mask_set(&all, &t->mask);
    hearthi_altstack_call(top, task_run, t);
    hearthi_altstack_mine = outer;
    altstack_restore(&u->uc_stack);
}

/* A cancel is acted on where the handler began. */
bool
hearthi_altstack_change(bool (*run)(const siginfo_t *, const void *),
                        const siginfo_t *info, const void *context)
{
    HEARTHI_UNCANCELLED;
    struct task t = { .run = run, .info = info, .context = context };

    t.stack = stack_take();
    if (t.stack == NULL)
        hearthi_fatal("page fault",
                      "no memory for a stack of %d bytes, or no mapping: "
                      "raise vm.max_map_count, or free memory",
                      ROOM);
    task_do(&t, stack_end(t.stack));
    stack_give(t.stack);
    return t.done;
}

static void
borrowed_run(void *with)
{
    struct task *t = with;

    t->done = t->run(t->info, t->context);
}

/* The stack that this thread was started with: no bytes until it is known. */
struct own {
    char  *low;
    size_t bytes;
};

static _Thread_local __attribute__((tls_model("initial-exec"))) struct own own;

/* Takes more than a small stack has, and allocates memory: so a thread that
 * faults while it holds a lock of the C library's allocator would wait for
 * itself, but that touches no memory of the program's. */
static void
own_find(void *to)
{
    struct own     o = { NULL, 1 }; /* where nothing is */
    pthread_attr_t attr;
    void          *low;

    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        if (pthread_attr_getstack(&attr, &low, &o.bytes) == 0)
            o.low = low;
        pthread_attr_destroy(&attr);
    }
    *(struct own *)to = o;
}

void
hearthi_altstack_open(void)
{
    own_find(&own);
}

/* A stack that a library of user-level threads has made is none of that. */
static bool
own_has_room(const char *here)
{
    size_t left = (size_t)(here - own.low);

    return left < own.bytes && left >= HEARTHI_ALTSTACK_ENOUGH;
}

/* For a thread that was at `here`. */
static bool
stack_borrow(struct task *t, const char *here)
{
    HEARTHI_UNCANCELLED;

    t->stack = stack_take();
    if (t->stack == NULL)
        return t->run(t->info, t->context);
    if (own.bytes == 0)
        hearthi_altstack_call(stack_end(t->stack), own_find, &own);
    if (own_has_room(here)) {
        stack_give(t->stack);
        return t->run(t->info, t->context);
    }
    hearthi_altstack_call(stack_end(t->stack), borrowed_run, t);
    stack_give(t->stack);
    return t->done;
}

bool
hearthi_altstack_borrow(bool (*run)(const siginfo_t *, const void *),
                        const siginfo_t *info, const void *context)
{
    struct task t = { .run = run, .info = info, .context = context };
    const char *here = __builtin_frame_address(0);

    return own_has_room(here) ? run(info, context) : stack_borrow(&t, here);
}

/* What functions use below the end of their stack, at most: 512 bytes is what
 * Linux leaves alone on ppc64, 128 on x86-64. */
enum { BELOW = 512 };

bool
hearthi_altstack_leave(bool (*run)(const siginfo_t *, const void *),
                       const siginfo_t *info, const void *context)
{
    const stack_t *s = &((const ucontext_t *)context)->uc_stack;
    struct task    t = { .run = run, .info = info, .context = context };
    char          *end = hearthi_fault_stack(context);
    const char     here = 0;

    if (!hearthi_is_in_altstack(s, &here) || hearthi_is_in_altstack(s, end))
        return run(info, context);
    task_do(&t, end - BELOW - (uintptr_t)end % 16);
    return t.done;
}
