/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "api.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "base/timing.h"
#include "coherence/coherence.h"
#include "collective.h"
#include "front/direct.h"
#include "front/mpi_next.h"
#include "front/request_pins.h"
#include "front/system.h"
#include "hearth/hearth.h"
#include "launch_check.h"
#include "layers.h"
#include "life/life.h"
#include "malloc/malloc.h"
#include "node/lock_delegation.h"
#include "page/fault_dispatch.h"
#include "page/node_cache.h"
#include "page/page.h"
#include "page/reuse_prefetch.h"
#include "page/uffd_pages.h"
#include "thread_state.h"
#include "world.h"

enum { ABORT_SECONDS = 3 };

static MPI_Comm    abort_comm = MPI_COMM_NULL;
static int         keyval = MPI_KEYVAL_INVALID;
static const char *was_stopped; /* why the library is not up */

static const char over[] = "hearth_finalize was called already";

bool
hearthi_is_over(void)
{
    return !hearthi_world.up && was_stopped == over;
}

void
hearthi_require_up(const char *call)
{
    if (!hearthi_world.up)
        hearthi_fatal(call,
                      "%s: call it between hearth_init and "
                      "hearth_finalize",
                      was_stopped != NULL ? was_stopped
                                          : "hearth_init was not called yet");
}

void
hearthi_require_thread(const char *call)
{
    hearthi_require_up(call);
    if (!hearthi_world.multiple &&
        hearthi_thread() != hearthi_world.main_thread)
        hearthi_fatal(call, "called by a thread other than the one that "
                            "called hearth_init: initialise MPI with "
                            "MPI_THREAD_MULTIPLE");
}

/* MPICH 4.0.2 on one machine: MPI_Abort waits until the other ranks call MPI,
 * and one that computes may not do so for hours.  A rank that is ended by a
 * signal ends the job as well, and at once. */
static void
abort_in_time(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    signal(SIGALRM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    alarm(ABORT_SECONDS);
}

static void
job_abort(void)
{
    int up = 0, down = 1;

    hearthi_world.up = false; /* exit handlers have nothing to say now */
    MPI_Initialized(&up);
    MPI_Finalized(&down);
    abort_in_time();
    if (up && !down)
        MPI_Abort(abort_comm == MPI_COMM_NULL ? MPI_COMM_WORLD : abort_comm,
                  HEARTHI_EXIT);
    _exit(HEARTHI_EXIT);
}

/* A rank that leaves quietly would let the others wait for ever.  MPICH leaves
 * by exit(3) when another rank has aborted. */
static void
exit_check(void)
{
    bool up = hearthi_world.up;
    char text[64];

    if (up && hearthi_doubt_hook != NULL && hearthi_doubt_hook())
        return;
    if (up && hearthi_held_text(text, sizeof text, NULL))
        hearthi_fatal("exit",
                      "the program ended without hearth_finalize, and %s held "
                      "by it: unlock, and call hearth_finalize on every rank",
                      text);
    if (up)
        hearthi_fatal("exit", "the program ended without hearth_finalize: "
                              "call it on every rank");
}

static int
finalize_check(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    if (hearthi_world.up)
        hearthi_fatal("MPI_Finalize", "called before hearth_finalize: call "
                                      "hearth_finalize first");
    return MPI_SUCCESS;
}

/* A child that fork(2) has made is no rank: it has no threads and may not call
 * MPI, its end is not the job's, and the lines that it would keep open must
 * end with its parent. */
static void
child_leave(void)
{
    bool up = hearthi_world.up;

    hearthi_world.up = false;
    was_stopped = "a child of fork() is no rank";
    hearthi_abort_hook = NULL;
    hearthi_doubt_hook = NULL;
    hearthi_ending_hook = NULL;
    hearthi_life_forked();
    hearthi_thread_states_forked();
    hearthi_node_cache_forked();
    hearthi_delegation =
        NULL; /* what its parent keeps lies in shared memory */
    hearthi_malloc_forked();
    if (up) {
        hearthi_fault_dispatch_forked();
        hearthi_uffd_pages_forked();
    }
}

static void
watch_the_end(void)
{
    static int registered;

    if (!registered) {
        atexit(exit_check);
        pthread_atfork(NULL, NULL, child_leave);
    }
    registered = 1;
    /* MPI_Finalize first deletes the attributes of MPI_COMM_SELF. */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_check, &keyval,
                           NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}

bool
hearthi_mpi_start(const char *call, MPI_Comm comm)
{
    int up = 0, down = 0, level;

    hearthi_abort_hook = job_abort;
    MPI_Finalized(&down);
    if (down)
        hearthi_fatal(call, "MPI was finalized already: call it before "
                            "MPI_Finalize");
    MPI_Initialized(&up);
    if (up)
        return false;
    if (comm != MPI_COMM_WORLD)
        hearthi_fatal(call, "MPI is not initialised: pass MPI_COMM_WORLD, or "
                            "call MPI_Init first");
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    return true;
}

/* Rank 0 reads the environment for everybody: ranks cannot disagree. */
static void
options_agree(MPI_Comm comm)
{
    if (hearthi_report_rank == 0)
        hearthi_options_from_env();
    hearthi_collective_bcast(&hearthi_opt, sizeof hearthi_opt, 0, comm);
}

void
hearth_init(MPI_Comm comm)
{
    HEARTHI_UNCANCELLED;
    struct hearthi_job job;

    if (hearthi_world.up)
        hearthi_fatal("hearth_init", "called twice: call hearth_finalize in "
                                     "between");
    if (hearthi_opt.clusters.text[0] != '\0' &&
        hearthi_opt.gateway == HEARTHI_GATEWAY_RANK)
        hearthi_fatal("hearth_init", "called again, but with "
                                     "HEARTH_GATEWAY=rank the handler's rank "
                                     "has ended with the first world: use "
                                     "HEARTH_GATEWAY=thread");
    hearthi_world.owns_mpi = hearthi_mpi_start("hearth_init", comm);
    if (comm == MPI_COMM_NULL)
        hearthi_fatal("hearth_init", "the communicator is MPI_COMM_NULL: pass "
                                     "one that this rank belongs to");
    hearthi_intercommunicator_check(comm);
    abort_comm = hearthi_collective_dup(comm);
    MPI_Comm_set_errhandler(abort_comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(abort_comm, &hearthi_report_rank);
    hearthi_launcher_check();
    options_agree(abort_comm);
    job = hearthi_clusters_read(abort_comm);
    abort_comm = job.comm;
    MPI_Comm_rank(abort_comm, &hearthi_report_rank);
    hearthi_clock_open();
    hearthi_rwlocks_reset();
    hearthi_layers_open(&job);
    if (hearthi_world.rank == 0)
        hearthi_stats_prepare();
    watch_the_end();
    hearthi_system_open();
    hearthi_front_check();
    hearthi_all_barrier(hearthi_collective_wait);
    hearthi_section_begin();
    hearthi_world.up = true;
}

void
hearth_init_f(MPI_Fint comm)
{
    int up = 0;

    MPI_Initialized(&up);
    if (!up)
        hearthi_fatal("hearth_init_f", "MPI is not initialised, so there is "
                                       "no communicator: call MPI_Init first");
    hearth_init(MPI_Comm_f2c(comm));
}

void
hearth_finalize(void)
{
    HEARTHI_UNCANCELLED;
    bool     owns = hearthi_world.owns_mpi;
    uint64_t start;

    hearthi_require_thread("hearth_finalize");
    hearthi_thread_states_check("hearth_finalize");
    start = hearthi_time_begin();
    hearthi_table_lock();
    hearthi_reuse_prefetch_close();
    hearthi_table_unlock();
    hearthi_malloc_settle();
    hearthi_barrier(false);
    hearthi_malloc_check();
    hearthi_time_end(barrier_ns, start);
    hearthi_stats_report();
    hearthi_request_pins_close();
    hearthi_world.up = false;
    was_stopped = over;
    abort_comm = MPI_COMM_NULL;
    MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
    MPI_Comm_free_keyval(&keyval);
    hearthi_layers_close();
    if (owns)
        MPI_Finalize();
}

bool
hearth_initialized(void)
{
    return hearthi_world.up;
}

int
hearth_rank(void)
{
    hearthi_require_up("hearth_rank");
    return hearthi_world.rank;
}

int
hearth_size(void)
{
    hearthi_require_up("hearth_size");
    return hearthi_world.size;
}

int
hearth_node(void)
{
    hearthi_require_up("hearth_node");
    return hearthi_world.node;
}

int
hearth_nodes(void)
{
    hearthi_require_up("hearth_nodes");
    return hearthi_world.nodes;
}

int
hearth_node_of(int rank)
{
    hearthi_require_up("hearth_node_of");
    if (rank < 0 || rank >= hearthi_world.size)
        hearthi_fatal("hearth_node_of",
                      "rank %d does not exist: ranks are 0 "
                      "to %d",
                      rank, hearthi_world.size - 1);
    return hearthi_world.node_of[rank];
}

const char *
hearth_option(const char *name)
{
    hearthi_require_up("hearth_option");
    return hearthi_option_text(name);
}
