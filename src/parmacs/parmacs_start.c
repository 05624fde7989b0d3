/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MAIN_ENV, MAIN_INITENV and the end.  Programs read their input before
 * MAIN_INITENV as well, and ranks other than 0 have none: so all that matters
 * begins before main().
 */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "api/api.h"
#include "api/compat_exit.h"
#include "base/cancel.h"
#include "base/report.h"
#include "collective.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "hearth/parmacs.h"
#include "parmacs_main.h"
#include "parmacs_part.h"
#include "parmacs_private.h"
#include "space/segment.h"
#include "world.h"

/* However the program ends: by MAIN_END, exit(3) or a return from main(). */
static void
leave(int status, void *unused)
{
    HEARTHI_UNCANCELLED;
    struct hearthi_parmacs *p = &hearthi_parmacs;

    (void)unused;
    if (p->part == HEARTHI_OUTSIDE || !hearthi_world.up)
        return; /* or in a child of fork(2) */
    hearthi_require_thread("exit");
    if (status != EXIT_SUCCESS) {
        hearthi_parmacs_after_you();
        hearthi_fatal("exit", "the program ended with status %d", status);
    }
    hearthi_parmacs_processes_end();
    hearthi_compat_exit(p->comm, NULL);
    hearthi_parmacs_memory_close();
    hearthi_parmacs_globals_close();
    p->part = HEARTHI_OUTSIDE;
    MPI_Comm_free(&p->comm);
    hearth_finalize();
    if (p->owns_mpi)
        MPI_Finalize();
}

void
parmacs_start(void)
{
    HEARTHI_UNCANCELLED;
    struct hearthi_parmacs *p = &hearthi_parmacs;

    if (p->part != HEARTHI_OUTSIDE || hearth_initialized())
        hearthi_fatal("MAIN_ENV", "in two files of the program: say "
                                  "EXTERN_ENV in all but one");
    p->owns_mpi = hearthi_mpi_start("MAIN_ENV", MPI_COMM_WORLD);
    hearthi_segments_sparse = true; /* arrays as large as they may get */
    hearthi_start_moving();
    hearthi_one_cluster("MAIN_ENV");
    p->rank = hearth_rank();
    p->size = hearth_size();
    p->comm = hearthi_collective_dup(hearthi_world.comm);
    p->part = HEARTHI_ALONE;
    hearthi_parmacs_numbers_open();
    hearthi_parmacs_input_open();
    on_exit(leave, NULL);
}

void
parmacs_initenv(void)
{
    hearthi_parmacs.initenv = true;
    hearthi_parmacs_require("MAIN_INITENV");
}

long
parmacs_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
