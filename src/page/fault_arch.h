/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the machine says of a fault.
 */
#ifndef HEARTHI_FAULT_ARCH_H
#define HEARTHI_FAULT_ARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

/* The machine's own word for "this was a store". */
static inline bool
hearthi_fault_writes(const void *context)
{
    const ucontext_t *u = context;

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
#else
#error "this machine's fault code is not known to Hearth"
#endif
}

/* The instruction that was to be run is not there: a jump, not an access. */
static inline bool
hearthi_fault_jumps(const void *context, const void *addr)
{
    const ucontext_t *u = context;

#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP] == (uintptr_t)addr;
#elif defined(__aarch64__)
    return (uintptr_t)u->uc_mcontext.pc == (uintptr_t)addr;
#endif
}

#endif
