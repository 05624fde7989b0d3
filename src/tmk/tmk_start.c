/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tmk_startup() and the ways to end.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TMK_ARGUMENTS int argc, char **argv

#include "api/api.h"
#include "api/compat_exit.h"
#include "base/cancel.h"
#include "base/report.h"
#include "collective.h"
#include "front/direct.h"
#include "hearth/Tmk.h"
#include "hearth/hearth.h"
#include "space/heap.h"
#include "tmk_sched.h"
#include "tmk_share.h"
#include "world.h"

#undef Tmk_exit /* the macro that adds a status */

static void
stop(void)
{
    hearth_finalize();
    hearthi_tmk.up = false;
    MPI_Comm_free(&hearthi_tmk.comm);
    if (hearthi_tmk.owns_mpi)
        MPI_Finalize();
}

/* A program that returns from main() leaves when all do, since others may need
 * the pages that are at home here. */
static void
leave(int status, void *unused)
{
    HEARTHI_UNCANCELLED;

    (void)unused;
    if (!hearthi_tmk.up || !hearthi_world.up) /* or in a child of fork(2) */
        return;
    hearthi_tmk_require("exit");
    hearthi_compat_exit_without(hearthi_tmk.comm, "Tmk_exit", status);
    stop();
}

static void
start(void)
{
    hearthi_start_moving();
    if (hearth_size() > TMK_NPROCS)
        hearthi_fatal("Tmk_startup",
                      "%d ranks were started, and TMK_NPROCS is %d: start "
                      "fewer",
                      hearth_size(), TMK_NPROCS);
}

void
Tmk_startup(int argc, char **argv)
{
    HEARTHI_UNCANCELLED;
    static bool watched;

    (void)argc, (void)argv;
    if (hearthi_tmk.up || hearth_initialized())
        hearthi_fatal("Tmk_startup", "called twice, or after hearth_init: "
                                     "call it once");
    hearthi_tmk.owns_mpi = hearthi_mpi_start("Tmk_startup", MPI_COMM_WORLD);
    start();
    hearthi_one_cluster("Tmk_startup");
    hearthi_tmk.comm = hearthi_collective_dup(hearthi_world.comm);
    Tmk_proc_id = (unsigned)hearth_rank();
    Tmk_nprocs = (unsigned)hearth_size();
    Tmk_page_size = (unsigned)hearthi_heap.page;
    hearthi_tmk_share_open();
    hearthi_tmk_sched_open();
    hearthi_compat_exit_watch(leave, &watched);
    hearthi_tmk.up = true;
}

void
Tmk_exit(int status)
{
    HEARTHI_UNCANCELLED;

    hearthi_tmk_require("Tmk_exit");
    hearthi_compat_exit(hearthi_tmk.comm, NULL);
    stop();
    exit(status);
}

void
Tmk_errexit(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    hearthi_error("Tmk_errexit", format, ap);
}

/* One write, so that those of several processes do not mix. */
void
Tmk_err(const char *format, ...)
{
    char    line[1024];
    va_list ap;

    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    fputs(line, stderr);
    fflush(stderr);
}
