/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The order in which layers open and close.
 */
#include "config.h"

#include <stdlib.h>

#include "base/option.h"
#include "checkpoint/checkpoint.h"
#include "coherence/coherence.h"
#include "coherence/lock_recall.h"
#include "collective.h"
#include "front/direct.h"
#include "front/mpi_next.h"
#include "home/home.h"
#include "init.h"
#include "life/collective_watch.h"
#include "life/deadlock.h"
#include "life/life.h"
#include "life/stalled.h"
#include "malloc/malloc.h"
#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "page/copies.h"
#include "page/fault.h"
#include "page/fetch.h"
#include "page/node_cache.h"
#include "page/page.h"
#include "page/pin.h"
#include "profile/allocations.h"
#include "profile/profile.h"
#include "races/race_history.h"
#include "report/job_report.h"
#include "space/foreign.h"
#include "space/heap.h"
#include "space/segment.h"
#include "thread_state.h"
#include "transport/clusters/clusters.h"
#include "transport/clusters/hear.h"
#include "transport/clusters/hidden_rank.h"
#include "transport/lock_directory.h"
#include "transport/log.h"
#include "transport/transport.h"
#include "world.h"

static void
locks_lost(int rank, struct hearthi_abandoned_locks *lost)
{
    hearthi_transport->sync.abandoned_locks(rank, lost);
    hearthi_thread_states_lost(rank, lost);
}

/* Which names what was allocated, as a report does. */
static void
races_open(void)
{
    if (hearthi_opt.races == HEARTHI_RACES_OFF)
        return;
    hearthi_races_open(hearthi_opt.races_memory);
    if (!hearthi_job_report_is_wanted())
        hearthi_allocations_open();
}

/* The heap takes its addresses before any window takes some. */
static void
ground_open(const struct hearthi_job *job)
{
    hearthi_world_open(job->comm, job->hides);
    hearthi_clusters_open();
    hearthi_restart_open();
    hearthi_heap_open();
    if (hearthi_job_report_is_wanted()) {
        hearthi_allocations_open();
        hearthi_profile_open();
    }
    races_open();
    hearthi_lock_names_open();
    hearthi_log_open(hearthi_world.size);
    hearthi_thread_states_open();
    hearthi_window_order_begin();
    hearthi_segments_open(hearthi_delegation_bytes(),
                          hearthi_lock_directory_bytes());
    hearthi_foreign_open();
}

static void
ground_close(void)
{
    hearthi_foreign_close();
    hearthi_segments_close();
    hearthi_thread_states_close();
    hearthi_lock_names_close();
    hearthi_races_close();
    hearthi_profile_close();
    hearthi_allocations_close();
    hearthi_heap_close();
    hearthi_clusters_close();
    hearthi_world_close();
}

/* What a handler that is a rank does instead of the program: all that the
 * others of its job do together (clusters/hidden_rank.h). */
_Noreturn static void
attend(void)
{
    hearthi_transport_open();
    hearthi_window_order_end();
    hearthi_all_barrier(hearthi_collective_wait);
    hearthi_hidden_rank_serve();
    hearthi_transport->close();
    ground_close();
    MPI_Finalize();
    exit(0);
}

void
hearthi_layers_open(const struct hearthi_job *job)
{
    ground_open(job);
    if (hearthi_cluster_hidden())
        attend();
    hearthi_table_open();
    hearthi_node_cache_open();
    hearthi_copies_open();
    hearthi_pins_open();
    hearthi_home_open();
    hearthi_coherence_open();
    hearthi_fetch_open();
    hearthi_signal_open();
    hearthi_sigbus_open();
    hearthi_collective_watch_open(hearthi_thread_states_wait);
    hearthi_stalled_open(hearthi_thread_states_stalled);
    hearthi_deadlock_open(&hearthi_thread_waits);
    hearthi_life_open();
    hearthi_hear_open();
    hearthi_transport_open();
    hearthi_life_ask(locks_lost);
    hearthi_window_order_end();
    hearthi_malloc_open();
    hearthi_checkpoint_open();
    hearthi_restart_fill();
    hearthi_mpi_waits_open();
}

void
hearthi_layers_close(void)
{
    hearthi_mpi_waits_close();
    hearthi_lock_recall_close();
    hearthi_restart_close();
    hearthi_checkpoint_close();
    hearthi_malloc_close();
    hearthi_life_ask(NULL);
    hearthi_transport->close();
    hearthi_life_close();
    hearthi_hear_close();
    hearthi_deadlock_close();
    hearthi_signal_close();
    hearthi_fetch_close();
    hearthi_coherence_close();
    hearthi_home_close();
    hearthi_pins_close();
    hearthi_copies_close();
    hearthi_node_cache_close();
    hearthi_table_close();
    ground_close();
}
