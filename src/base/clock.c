/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>

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
    char  name[32] = "";
    FILE *f =
        hearthi_file_to_read("/sys/devices/system/clocksource/clocksource0/"
                             "current_clocksource");

    if (f == NULL)
        return 0;
    if (fgets(name, sizeof name, f) == NULL)
        name[0] = '\0';
    fclose(f);
    return strncmp(name, COUNTER, strlen(COUNTER)) == 0;
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
