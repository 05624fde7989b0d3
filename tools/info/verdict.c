/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the probe found, in words.
 */
#include "info.h"

static const char *const operation_name[INFO_OPERATIONS] = {
    [INFO_GET] = "MPI_Get of 4 KiB",
    [INFO_ATOMIC] = "MPI_Fetch_and_op",
};

static bool
any_waits(const struct info_probe *p)
{
    return info_probe_waits(p, INFO_GET) || info_probe_waits(p, INFO_ATOMIC);
}

/* A helper helps if operations no longer take the time of a computation. */
static bool
helper_helps(const struct info_probe *p)
{
    const double limit_us = 50e3;

    return p->multiple && p->helped_us[INFO_GET] < limit_us &&
           p->helped_us[INFO_ATOMIC] < limit_us;
}

static const char *
helper_verdict(const struct info_probe *p)
{
    if (!any_waits(p))
        return "no helper thread is needed";
    if (!p->multiple)
        return "a helper thread is needed, and takes MPI_THREAD_MULTIPLE, "
               "which is not there";
    if (!helper_helps(p))
        return "a helper thread is needed, and does not help";
    return "a helper thread is needed, and helps";
}

void
info_probe_line(const struct info_probe *p)
{
    if (!p->works) {
        printf("probe: fails: %s: %s\n", p->failed, p->why);
        return;
    }
    printf("probe: works; Get %.1f us, Fetch_and_op %.1f us; ",
           p->inside_us[INFO_GET], p->inside_us[INFO_ATOMIC]);
    if (any_waits(p))
        printf("computing target: %.0f and %.0f us; ",
               p->computing_us[INFO_GET], p->computing_us[INFO_ATOMIC]);
    if (any_waits(p) && p->multiple)
        printf("with helper %.1f and %.1f us; ", p->helped_us[INFO_GET],
               p->helped_us[INFO_ATOMIC]);
    printf("%s%s\n", helper_verdict(p),
           p->unified ? ""
                      : "; but the memory model is separate, which "
                        "Hearth cannot use");
}

void
info_probe_print(const struct info_probe *p)
{
    printf("\nOne-sided communication, rank %d to rank %d (%s machine)\n",
           p->origin, p->target, p->same_machine ? "same" : "another");
    if (!p->works) {
        printf("  does not work: %s: %s\n", p->failed, p->why);
        return;
    }
    printf("  memory model         %s\n",
           p->unified ? "unified" : "separate: Hearth cannot use it");
    printf("  %-20s %12s %12s %12s\n", "microseconds; target:", "inside MPI",
           "computing", "with helper");
    for (int op = 0; op < INFO_OPERATIONS; op++) {
        printf("  %-20s  %12.1f %12.1f", operation_name[op], p->inside_us[op],
               p->computing_us[op]);
        if (p->multiple)
            printf(" %12.1f", p->helped_us[op]);
        printf("%s\n", info_probe_waits(p, op) ? "  waits for the target"
                                               : "  goes on alone");
    }
    printf("  so: works, and %s\n", helper_verdict(p));
}
