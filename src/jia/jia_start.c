/* SPDX-License-Identifier: BSD-2-Clause
 *
 * jia_init() and jia_exit(): the hosts among the ranks, and the options that
 * JIAJIA's programs expect.
 */
#include "config.h"

#include "jia_start.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "api/compat_exit.h"
#include "base/cancel.h"
#include "base/report.h"
#include "cluster.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "hearth/jia.h"
#include "jia_hosts.h"
#include "transport/transport.h"
#include "world.h"

/* Rank 0 reads for all, as it does the environment. */
static struct hearthi_jia_wish
wish_agree(int argc, char **argv, int started)
{
    struct hearthi_jia_wish wish = { 0, 0 };

    if (hearthi_report_rank == 0)
        wish = hearthi_jia_arguments(argc, argv);
    if (wish.hosts > started)
        hearthi_fatal("jia_init",
                      "option -Q %d asks for more hosts than the %d rank%s "
                      "that %s started: start more, or lower it",
                      wish.hosts, started, started == 1 ? "" : "s",
                      started == 1 ? "was" : "were");
    HEARTHI_MPI(MPI_Bcast(&wish, sizeof wish, MPI_BYTE, 0, hearthi_jia.all));
    if (wish.hosts == 0)
        wish.hosts = started;
    return wish;
}

/* A rank beyond -Q: asleep until the hosts are done, then gone.  It does not
 * come back to a main() that would go on as a host. */
static _Noreturn void
bystander(void)
{
    const struct timespec nap = { 0, 2000000 };
    MPI_Request           end;
    int                   done = 0;

    HEARTHI_MPI(MPI_Ibarrier(hearthi_jia.all, &end));
    while (!done) {
        nanosleep(&nap, NULL);
        HEARTHI_MPI(MPI_Test(&end, &done, MPI_STATUS_IGNORE));
    }
    MPI_Comm_free(&hearthi_jia.all);
    MPI_Finalize();
    exit(EXIT_SUCCESS);
}

/* hearth_init() with defaults of JIAJIA, which leave no trace in the
 * environment. */
static void
start_with_defaults(bool omit)
{
    const char *transport = getenv("HEARTH_TRANSPORT");
    bool        udp = transport != NULL && strcmp(transport, "udp") == 0;
    bool scope = hearthi_variable_default("HEARTH_CONSISTENCY", "scope");
    bool ack =
        udp && !omit && hearthi_variable_default("HEARTH_UDP_ACK", "all");

    hearth_init(hearthi_jia.comm);
    if (scope)
        unsetenv("HEARTH_CONSISTENCY");
    if (ack)
        unsetenv("HEARTH_UDP_ACK");
}

static void
stop(void)
{
    MPI_Request end;

    hearthi_jia_messages_close();
    hearthi_jia_tune_close();
    hearth_finalize();
    hearthi_jia.up = false;
    HEARTHI_MPI(MPI_Ibarrier(hearthi_jia.all, &end));
    HEARTHI_MPI(MPI_Wait(&end, MPI_STATUS_IGNORE));
    MPI_Comm_free(&hearthi_jia.comm);
    MPI_Comm_free(&hearthi_jia.all);
    if (hearthi_jia.owns_mpi)
        MPI_Finalize();
}

/* JIAJIA's own programs do not all call jia_exit(): one that ends well leaves
 * when all do, since others may need the pages that are at home here. */
static void
leave(int status, void *unused)
{
    HEARTHI_UNCANCELLED;

    (void)unused;
    if (!hearthi_jia.up || !hearthi_world.up) /* or in a child of fork(2) */
        return;
    hearthi_jia_require("exit");
    hearthi_compat_exit_without(hearthi_jia.comm, "jia_exit", status);
    stop();
}

void
jia_init(int argc, char **argv)
{
    HEARTHI_UNCANCELLED;
    static bool             watched;
    struct hearthi_jia_wish wish;
    int                     started;

    if (hearthi_jia.up || hearth_initialized())
        hearthi_fatal("jia_init", "called twice, or after hearth_init: call "
                                  "it once");
    hearthi_jia.owns_mpi = hearthi_mpi_start("jia_init", MPI_COMM_WORLD);
    HEARTHI_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &hearthi_jia.all));
    MPI_Comm_set_errhandler(hearthi_jia.all, MPI_ERRORS_RETURN);
    MPI_Comm_rank(hearthi_jia.all, &hearthi_report_rank);
    MPI_Comm_size(hearthi_jia.all, &started);
    wish = wish_agree(argc, argv, started);
    HEARTHI_MPI(MPI_Comm_split(
        hearthi_jia.all, hearthi_report_rank < wish.hosts ? 0 : MPI_UNDEFINED,
        hearthi_report_rank, &hearthi_jia.comm));
    if (hearthi_jia.comm == MPI_COMM_NULL)
        bystander();
    start_with_defaults(wish.omit);
    hearthi_one_cluster("jia_init");
    jia_pid = hearth_rank();
    jia_hosts = hearth_size();
    jia_lock_index = 0;
    hearthi_jia_alloc_open();
    hearthi_jia_sync_open();
    hearthi_jia_tune_open();
    hearthi_compat_exit_watch(leave, &watched);
    hearthi_jia.up = true;
}

void
jia_exit(void)
{
    HEARTHI_UNCANCELLED;

    hearthi_jia_require("jia_exit");
    hearthi_compat_exit(hearthi_jia.comm, NULL);
    stop();
}
