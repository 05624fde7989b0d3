/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "clock.h"

#include "descriptor.h"

uint64_t hearthi_clock_scale;

enum { SAMPLE_NS = 200000 };

/* The kernel's name of the counter that hearthi_clock_ticks() reads. */
#if defined(__aarch64__)
#define COUNTER "arch_sys_counter"
#else
#define COUNTER "tsc"
#endif

/* The kernel uses the counter only where it runs at one rate on all cores. */
static int
kernel_trusts_counter(void)
{
    char rest[HEARTHI_LINE];

    return hearthi_file_line("/sys/devices/system/clocksource/clocksource0/"
                             "current_clocksource",
                             COUNTER, rest);
}

void
hearthi_clock_open(void)
{
    uint64_t ns, ticks, now;

    if (hearthi_clock_scale != 0 || !kernel_trusts_counter())
        return;
    ticks = hearthi_clock_ticks();
    ns = hearthi_clock_kernel();
    do
        now = hearthi_clock_kernel();
    while (now - ns < SAMPLE_NS);
    ticks = hearthi_clock_ticks() - ticks;
    if (ticks > 0)
        hearthi_clock_scale =
            (uint64_t)(((unsigned __int128)(now - ns) << 32) / ticks);
}
