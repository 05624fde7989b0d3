/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the machine says of a fault.  One that is not here is refused by
 * configure, too (m4/hearth_machine.m4).
 */
#ifndef HEARTHI_FAULT_ARCH_H
#define HEARTHI_FAULT_ARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#if defined(__powerpc64__)
#include <asm/ptrace.h>
#endif

/* The machine's own word for "this was a store".  Where it has none a fault is
 * taken for a load first: that shows the page, so that a load is done.  If the
 * thread faults at the same address for the n-th time, with no other fault
 * between, it is a store: or a load of a page that was taken away meanwhile,
 * for which the page is opened in vain, and its diff is empty. */
static inline bool
hearthi_fault_writes(const void *context, unsigned n)
{
    const ucontext_t *u = context;

    (void)u;
    (void)n;

#if defined(__x86_64__)
    return (u->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#elif defined(__aarch64__)
    /* ESR_EL1 is in a record behind the registers: magic, size, value. */
    const char *at = (const char *)u->uc_mcontext.__reserved;

    for (;;) {
        struct {
            uint32_t magic, size;
            uint64_t esr;
        } record;

        memcpy(&record, at, sizeof record);
        if (record.magic == 0x45535201)
            return (record.esr >> 6 & 1) != 0;
        if (record.magic == 0)
            return true; /* opening for writing is always right */
        at += record.size;
    }
#elif defined(__powerpc64__)
    return (u->uc_mcontext.gp_regs[PT_DSISR] & 0x02000000) != 0;
#elif defined(__riscv)
    return n > 1;
#else
#error "this machine's fault code is not known to Hearth"
#endif
}

/* Where the stack ended that a signal came on. */
static inline char *
hearthi_fault_stack(const void *context)
{
    const ucontext_t *u = context;

#if defined(__x86_64__)
    return (char *)u->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (char *)u->uc_mcontext.sp;
#elif defined(__powerpc64__)
    return (char *)u->uc_mcontext.gp_regs[PT_R1];
#elif defined(__riscv)
    return (char *)u->uc_mcontext.__gregs[REG_SP];
#endif
}

/* The instruction that was interrupted. */
static inline uintptr_t
hearthi_fault_at(const void *context)
{
    const ucontext_t *u = context;

#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)u->uc_mcontext.pc;
#elif defined(__powerpc64__)
    return (uintptr_t)u->uc_mcontext.gp_regs[PT_NIP];
#elif defined(__riscv)
    return (uintptr_t)u->uc_mcontext.__gregs[REG_PC];
#endif
}

/* The instruction that was to be run is not there: a jump, not an access. */
static inline bool
hearthi_fault_jumps(const void *context, const void *addr)
{
    return hearthi_fault_at(context) == (uintptr_t)addr;
}

#endif
