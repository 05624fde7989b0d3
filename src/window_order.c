/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Open MPI 4.1.4 names the file behind a window's shared state after the host
 * and the communicator's context number, which disjoint communicators share:
 * two groups of one job that make windows at the same moment fail with
 * MPI_ERR_WIN (in every second start of two halves of 4 ranks).  So groups
 * that are not the whole job take turns on each machine.  Harmless elsewhere.
 */
#include "config.h"

#include "window_order.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "world.h"

static int file = -1;
static int tries_before; /* of MPICH, while windows are made */

/* Clusters are jobs of their own, and wait for each other meanwhile.  (Those
 * of a test are groups of one job: they share no windows, split.h.) */
static bool
alone_in_the_job(void)
{
    int all;

    if (hearthi_world.gather != NULL)
        return true;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    return all == hearthi_cluster.size;
}

static void
turn_open(void)
{
    char path[64];

    snprintf(path, sizeof path, "/tmp/hearth-windows.%u", (unsigned)geteuid());
    file = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* MPICH 4.0.2 looks for an address where every rank can map the whole window,
 * by an msync of each of its pages: seconds for a few gigabytes.  Nobody here
 * needs equal addresses, and it does without when it is not to try.  For all
 * windows of all ranks, or MPI_Win_allocate fails where only some did so.
 * Gives the number of tries before, or -1 if this MPI has no such variable:
 * Open MPI has none, and loads each module that it has to tell (0.2 s). */
static int
symmetric_tries(int tries)
{
#ifdef OPEN_MPI
    (void)tries;
    return -1;
#else
    MPI_T_cvar_handle variable;
    int               level, index, count, before = -1;

    MPI_Query_thread(&level);
    if (MPI_T_init_thread(level, &level) != MPI_SUCCESS)
        return -1;
    if (MPI_T_cvar_get_index("MPIR_CVAR_SHM_SYMHEAP_RETRY", &index) ==
            MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &variable, &count) ==
            MPI_SUCCESS) {
        MPI_T_cvar_read(variable, &before);
        MPI_T_cvar_write(variable, &tries);
        MPI_T_cvar_handle_free(&variable);
    }
    MPI_T_finalize();
    return before;
#endif
}

/* The first rank of each machine tries, and all give up together if one
 * machine is taken: so groups that meet on several machines cannot wait for
 * each other in a circle. */
static void
turn_take(void)
{
    bool try = hearthi_cluster.machine_rank == 0;
    int  mine, all;

    if (alone_in_the_job())
        return;
    if (try)
        turn_open();
    for (;;) {
        struct timespec nap = { 0, 1000000 + (long)(hearthi_now() % 4000000) };

        mine = !try || file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0;
        hearthi_collective_reduce(&mine, &all, 1, MPI_INT, MPI_LAND,
                                  hearthi_cluster.comm);
        if (all)
            return;
        if (try && file >= 0 && mine)
            flock(file, LOCK_UN);
        nanosleep(&nap, NULL);
    }
}

static void
turn_give(void)
{
    if (alone_in_the_job())
        return;
    hearthi_collective(hearthi_cluster.comm);
    if (file >= 0)
        close(file);
    file = -1;
}

void
hearthi_window_order_begin(void)
{
    turn_take();
    tries_before = symmetric_tries(0);
}

void
hearthi_window_order_end(void)
{
    if (tries_before >= 0)
        symmetric_tries(tries_before);
    turn_give();
}
