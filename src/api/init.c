/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "api.h"
#include "base/assert.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/mpi_call.h"
#include "base/option.h"
#include "base/report.h"
#include "base/timing.h"
#include "coherence/coherence.h"
#include "collective.h"
#include "front/direct.h"
#include "front/mpi_next.h"
#include "front/request_pins.h"
#include "front/session.h"
#include "front/system.h"
#include "hearth/hearth.h"
#include "init.h"
#include "life/collective_watch.h"
#include "life/life.h"
#include "malloc/malloc.h"
#include "node/lock_delegation.h"
#include "page/fault.h"
#include "page/fork_child.h"
#include "page/node_cache.h"
#include "page/page.h"
#include "page/page_in_flight.h"
#include "page/pin_count.h"
#include "page/reuse_prefetch.h"
#include "space/foreign.h"
#include "stats.h"
#include "team.h"
#include "thread_state.h"
#include "transport/clusters/clusters.h"
#include "transport/transport.h"
#include "world.h"

static MPI_Comm    abort_comm = MPI_COMM_NULL;
static bool        all_of_world; /* has all ranks of MPI_COMM_WORLD */
static int         keyval = MPI_KEYVAL_INVALID;
static bool        of_session;  /* no MPI_COMM_WORLD */
static const char *was_stopped; /* why the library is not up */

static const char over[] = "hearth_finalize was called already";

bool
hearthi_is_over(void)
{
    return !hearthi_world.up && was_stopped == over;
}

void
hearthi_refuse_down(const char *call)
{
    hearthi_fatal(call,
                  "%s: call it between hearth_init and "
                  "hearth_finalize",
                  was_stopped != NULL ? was_stopped
                                      : "hearth_init was not called yet");
}

void
hearthi_refuse_thread(const char *call)
{
    hearthi_fatal(call, "called by a thread other than the one that "
                        "called hearth_init: initialise MPI with "
                        "MPI_THREAD_MULTIPLE");
}

/* MPI_Abort of another communicator than MPI_COMM_WORLD: MPICH (4.0.2)
 * does not ask the launcher for it, but sends each rank a message and waits
 * until all have taken it.  A rank that is gone never does, and one that
 * computes may not for hours.  So the job is ended by MPI_COMM_WORLD where
 * that has the same ranks; elsewhere a rank that is ended by a signal ends the
 * job as well. */
static MPI_Comm
whom_to_abort(void)
{
    return abort_comm == MPI_COMM_NULL || all_of_world ? MPI_COMM_WORLD
                                                       : abort_comm;
}

static bool
has_all_of_world(MPI_Comm comm)
{
    int same = MPI_UNEQUAL;

    MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
    return same != MPI_UNEQUAL;
}

static void
abort_in_time(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    signal(SIGALRM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    alarm(HEARTHI_ABORT_SECONDS);
}

static void
job_abort(void)
{
    hearthi_world.up = false; /* exit handlers have nothing to say now */
    abort_in_time();
    if (hearthi_mpi_has_world() || (of_session && abort_comm != MPI_COMM_NULL))
        MPI_Abort(whom_to_abort(), HEARTHI_EXIT);
    _exit(HEARTHI_EXIT);
}

/* A rank that leaves quietly would let the others wait for ever.  MPICH leaves
 * by exit(3) when another rank has aborted; a rank that says that all is well
 * meanwhile would be believed by its launcher. */
static void
exit_check(int status, void *unused)
{
    bool up = hearthi_world.up;
    char text[64];

    (void)unused;
    if (up && hearthi_doubt_hook != NULL && hearthi_doubt_hook()) {
        if (status == EXIT_SUCCESS)
            hearthi_end_wait();
        return;
    }
    if (up && hearthi_mpi_call != NULL)
        hearthi_fatal(
            hearthi_mpi_call,
            "the MPI library has ended the program inside this call, "
            "with status %d: see what it says of it",
            status);
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

static void
sessions_end(void)
{
    if (hearthi_world.up)
        hearthi_fatal("MPI_Session_finalize",
                      "called before hearth_finalize: call hearth_finalize "
                      "first");
    hearthi_ending_begins();
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
    hearthi_ended_hook = NULL;
    hearthi_life_forked();
    hearthi_clusters_forked();
    hearthi_thread_states_forked();
    hearthi_node_cache_forked();
    hearthi_delegation =
        NULL; /* what its parent keeps lies in shared memory */
    hearthi_malloc_forked();
    if (up) {
        hearthi_fault_dispatch_forked();
        hearthi_fork_child();
    }
}

static void
child_comes(void)
{
    if (hearthi_world.up)
        hearthi_fork_before();
}

static void
child_is_there(void)
{
    if (hearthi_world.up)
        hearthi_fork_parent();
}

static void
watch_the_end(void)
{
    static int registered;

    if (!registered) {
        on_exit(exit_check, NULL);
        pthread_atfork(child_comes, child_is_there, child_leave);
    }
    registered = 1;
    hearthi_leave_watch();
    hearthi_ending_watch();
    hearthi_sessions_end_hook = sessions_end;
    if (!hearthi_mpi_has_world())
        return;
    /* MPI_Finalize first deletes the attributes of MPI_COMM_SELF. */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_check, &keyval,
                           NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}

/* What is none of MPI's own can only come from a group of a session.  Where
 * MPI's calls do not come through libhearth, none has been counted. */
static bool
is_of_session(MPI_Comm comm)
{
    return HAVE_DECL_MPI_SESSION_INIT && comm != MPI_COMM_WORLD &&
           comm != MPI_COMM_SELF && comm != MPI_COMM_NULL &&
           (hearthi_sessions_are_open() || hearthi_front_is_behind());
}

static void
mpi_init(void)
{
    int level;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    of_session = false;
}

bool
hearthi_mpi_start(const char *call, MPI_Comm comm)
{
    int down = 0;

    hearthi_abort_hook = job_abort;
    of_session = !hearthi_mpi_has_world();
    if (!of_session || is_of_session(comm))
        return false;
    MPI_Finalized(&down);
    if (down)
        hearthi_fatal(call, "MPI was finalized already: call it before "
                            "MPI_Finalize");
    if (comm != MPI_COMM_WORLD)
        hearthi_fatal(call, "MPI is not initialised: pass MPI_COMM_WORLD or a "
                            "communicator of a session, or call MPI_Init "
                            "first");
    mpi_init();
    return true;
}

/* Rank 0 reads the environment for all ranks: ranks cannot disagree. */
static void
options_agree(MPI_Comm comm)
{
    if (hearthi_report_rank == 0) {
        hearthi_options_from_env();
        hearthi_races_options();
    }
    hearthi_collective_bcast(&hearthi_opt, sizeof hearthi_opt, 0, comm);
}

#undef hearth_init

void
hearth_init(MPI_Comm comm)
{
    HEARTHI_UNCANCELLED;
    struct hearthi_job job;

    hearthi_loaded_check("hearth_init");
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
    hearthi_version_check();
    hearthi_kind_check(abort_comm);
    options_agree(abort_comm);
    job = hearthi_clusters_read(abort_comm);
    abort_comm = job.comm;
    all_of_world = !of_session && has_all_of_world(abort_comm);
    MPI_Comm_rank(abort_comm, &hearthi_report_rank);
    hearthi_clock_open();
    hearthi_rwlocks_reset();
    hearthi_layers_open(&job);
    if (hearthi_world.rank == 0)
        hearthi_stats_prepare();
    watch_the_end();
    hearthi_system_open();
    hearthi_sigmask_check();
    hearthi_front_check();
    hearthi_all_barrier(hearthi_collective_wait);
    hearthi_section_begin();
    hearthi_world.up = true;
    hearthi_races_begin();
}

/* MPI's ABI has these calls for all languages, and those of Fortran only where
 * a Fortran compiler was there. */
MPI_Comm
hearthi_comm_of_integer(int comm)
{
#ifdef MPI_ABI_VERSION
    return MPI_Comm_fromint(comm);
#else
    return MPI_Comm_f2c(comm);
#endif
}

void
hearth_init_f(int comm)
{
    MPI_Comm same;

    hearthi_integer_check(comm);
    hearthi_loaded_check("hearth_init_f");
    same = hearthi_comm_of_integer(comm);
    if (!hearthi_mpi_has_world() && !is_of_session(same))
        hearthi_fatal("hearth_init_f", "MPI is not initialised, so there is "
                                       "no communicator: call MPI_Init first");
    hearth_init(same);
}

void
hearth_finalize(void)
{
    HEARTHI_UNCANCELLED;
    bool     owns = hearthi_world.owns_mpi;
    uint64_t start;

    hearthi_require_thread("hearth_finalize");
    hearthi_thread_states_check("hearth_finalize");
    hearthi_collective_watch_begin("hearth_finalize", 0, 0, 0);
    start = hearthi_time_begin();
    hearthi_table_lock();
    hearthi_reuse_prefetch_close();
    hearthi_foreign_check("hearth_finalize");
    hearthi_table_unlock();
    hearthi_malloc_settle();
    hearthi_barrier(false);
    hearthi_races_end();
    hearthi_malloc_check();
    hearthi_time_end(barrier_ns, start);
    hearthi_stats_report();
    hearthi_request_pins_close();
    hearthi_teams_close();
    HEARTHI_ASSERT(hearthi_epochs.release == hearthi_epochs.acquire);
    HEARTHI_ASSERT(hearthi_in_flight_is_none());
    HEARTHI_ASSERT(hearthi_written.n == 0 || hearthi_pin_count.pages > 0);
    HEARTHI_ASSERT(hearthi_stale.n == 0 && hearthi_pin_count.wanted == 0);
    hearthi_world.up = false;
    was_stopped = over;
    abort_comm = MPI_COMM_NULL;
    if (keyval != MPI_KEYVAL_INVALID) {
        MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
        MPI_Comm_free_keyval(&keyval);
    }
    hearthi_layers_close();
    if (owns)
        MPI_Finalize();
}
