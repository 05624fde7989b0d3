/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "compat_exit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/report.h"
#include "cluster.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "node/relax.h"
#include "transport/transport.h"

enum { WARN_SECONDS = 10, LEAVE_SECONDS = 600, TEXT_MAX = 900 };

bool
hearthi_variable_default(const char *name, const char *value)
{
    if (getenv(name) != NULL)
        return false;
    setenv(name, value, 1);
    return true;
}

void
hearthi_start_moving(void)
{
    bool moves = hearthi_variable_default("HEARTH_MIGRATE", "on");

    hearth_init(MPI_COMM_WORLD);
    if (moves)
        unsetenv("HEARTH_MIGRATE");
}

void
hearthi_compat_exit_watch(void (*leave)(int status, void *unused),
                          bool *watched)
{
    if (!*watched)
        on_exit(leave, NULL);
    *watched = true;
}

/* This rank has ended and others have not: waits are long, but not for ever,
 * as one of them may be in a barrier. */
static void
patience(const char *missing, uint64_t start, bool *warned)
{
    uint64_t seconds = (hearthi_clock_kernel() - start) / 1000000000u;

    if (seconds >= LEAVE_SECONDS)
        hearthi_fatal("exit",
                      "the program ended without %s, and other ranks have "
                      "not ended: call it on every one",
                      missing);
    if (seconds >= WARN_SECONDS && !*warned) {
        hearthi_warn("exit",
                     "the program ended without %s here: waiting for the "
                     "other ranks",
                     missing);
        *warned = true;
    }
}

void
hearthi_compat_exit(MPI_Comm comm, const char *missing)
{
    uint64_t    start = hearthi_clock_kernel();
    unsigned    turn = 0;
    bool        warned = false;
    MPI_Request all;
    int         done = 0;

    HEARTHI_MPI(MPI_Ibarrier(comm, &all));
    for (;;) {
        HEARTHI_MPI(MPI_Test(&all, &done, MPI_STATUS_IGNORE));
        if (done)
            return;
        hearthi_relax(&turn);
        if (missing != NULL)
            patience(missing, start, &warned);
    }
}

void
hearthi_compat_exit_without(MPI_Comm comm, const char *missing, int status)
{
    if (status != EXIT_SUCCESS)
        hearthi_fatal("exit",
                      "the program ended with status %d and without %s",
                      status, missing);
    hearthi_compat_exit(comm, missing);
}

void
hearthi_error(const char *call, const char *format, va_list ap)
{
    char text[TEXT_MAX];

    if (vsnprintf(text, sizeof text, format, ap) < 0)
        text[0] = '\0';
    hearthi_fatal(call, "%s", text);
}
