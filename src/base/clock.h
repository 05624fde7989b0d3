/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Nanoseconds for the counters.  Every fault and every lock reads the clock
 * twice, so where the processor's counter is what the kernel itself tells the
 * time by, it is read directly (10 ns instead of 25 to 80 in a virtual
 * machine); elsewhere this is clock_gettime(2).
 */
#ifndef HEARTHI_CLOCK_H
#define HEARTHI_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds in 2^32 ticks; 0: read the kernel's clock. */
extern uint64_t hearthi_clock_scale;

/* Compare the counter with the kernel's clock, for about 0.2 ms. */
void hearthi_clock_open(void);

/* Nanoseconds on one of the kernel's clocks. */
static inline uint64_t
hearthi_clock_of(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t
hearthi_clock_kernel(void)
{
    return hearthi_clock_of(CLOCK_MONOTONIC);
}

static inline uint64_t
hearthi_clock_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

/* Nanoseconds, as system calls take them. */
static inline struct timespec
hearthi_timespec(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u),
                              .tv_nsec = (long)(ns % 1000000000u) };
}

/* For differences only: the zero is anywhere. */
static inline uint64_t
hearthi_now(void)
{
    if (hearthi_clock_scale == 0)
        return hearthi_clock_kernel();
    return (uint64_t)((unsigned __int128)hearthi_clock_ticks() *
                          hearthi_clock_scale >>
                      32);
}

#endif
