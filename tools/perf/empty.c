/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The empty fault: what a protected page costs before any protocol starts,
 * that is one signal, one mprotect of a page, and its first touch.
 *
 * Hearth owns SIGSEGV while it runs, and a fault that is not its own would
 * pass through its handler first and so flatter the ratio.  So the kernel's
 * handler is exchanged by the bare system call, unseen by anybody, and put
 * back right after.  The kernel's own structure is copied without being
 * looked into: it is taken from a handler that the C library installed for a
 * signal nobody uses, which also brings the C library's signal return.
 *
 * The memory is private and anonymous, and the touch is a store, so that the
 * first touch brings a real page of the cheapest kind; or it was touched
 * before, which leaves the signal and the mprotect.
 */
#define _GNU_SOURCE
#include "perf.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    KERNEL_ACTION = 256, /* more than any kernel's struct sigaction */
    KERNEL_SET = 8       /* bytes of the kernel's signal set */
};

static size_t page_bytes;

static void
page_open(int signal, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr & ~(uintptr_t)(page_bytes - 1);

    (void)signal;
    (void)context;
    if (mprotect((void *)at, page_bytes, PROT_READ | PROT_WRITE) != 0)
        _exit(70);
}

static long
kernel_action(int signal, const void *action, void *old)
{
    return syscall(SYS_rt_sigaction, signal, action, old, KERNEL_SET);
}

/* The kernel's form of a handler that calls page_open. */
static void
handler_make(char *action)
{
    struct sigaction sa = { 0 };

    sa.sa_sigaction = page_open;
    sa.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, NULL, NULL); /* resolve the symbol beforehand */
    sigaction(SIGWINCH, &sa, NULL);
    if (kernel_action(SIGWINCH, NULL, action) != 0)
        abort();
    signal(SIGWINCH, SIG_DFL);
}

double
perf_empty_faults(const struct perf *p, const size_t *order,
                  enum perf_touch touch)
{
    char   mine[KERNEL_ACTION] = { 0 };
    char   theirs[KERNEL_ACTION] = { 0 };
    size_t bytes = p->fault_pages * p->page;
    double start;
    char  *memory;

    page_bytes = p->page;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    if (touch == PERF_AGAIN)
        memset(memory, 1, bytes);
    mprotect(memory, bytes, PROT_NONE);
    handler_make(mine);
    if (kernel_action(SIGSEGV, mine, theirs) != 0)
        abort();
    start = perf_now();
    for (size_t i = 0; i < p->fault_pages; i++)
        *(volatile char *)(memory + (order ? order[i] : i) * p->page) = 1;
    start = perf_now() - start;
    kernel_action(SIGSEGV, theirs, NULL);
    munmap(memory, bytes);
    return start;
}
