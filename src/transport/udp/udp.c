/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Start and end of the udp transport, and its tables.  MPI carries addresses
 * and the session's key at start, and a last barrier; nothing in between.
 *
 * On one node there is no rank to send a datagram to: locks, flags and the
 * barrier are those in the node's memory, which the mpi transport uses too.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/option.h"
#include "base/report.h"
#include "client.h"
#include "cluster.h"
#include "collective.h"
#include "flow_control.h"
#include "front/direct.h"
#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "peer_failure.h"
#include "rendezvous.h"
#include "send_window.h"
#include "server.h"
#include "shm_message.h"
#include "socket.h"
#include "space/segment.h"
#include "timer.h"
#include "transport/mpi/mpi.h"
#include "transport/one_node.h"
#include "udp.h"
#include "udp_hello.h"
#include "udp_job.h"
#include "wire.h"

/* ---- the session ---- */

/* Can all?  The first that cannot is named, once, where others can: a job that
 * its installation would have authenticated must not go unauthenticated
 * without a word. */
static bool
every_rank(int can)
{
    int  size = hearthi_cluster.size;
    int  first = hearthi_collective_first(!can, hearthi_cluster.comm);
    int  any = hearthi_collective_here(can, MPI_LOR);
    char host[64] = "";

    if (first == size || !any || hearthi_opt.udp_auth != HEARTHI_WHEN_AUTO)
        return first == size;
    gethostname(host, sizeof host - 1);
    hearthi_collective_bcast(host, sizeof host, first, hearthi_cluster.comm);
    if (hearthi_cluster.rank == 0)
        hearthi_warn("hearth_init",
                     "rank %d on %s has a library without libsodium, so the "
                     "datagrams of this job have no keyed hash: install it "
                     "there, or set HEARTH_UDP_AUTH=off in a trusted network",
                     first, host);
    return false;
}

static void
session_agree(void)
{
    struct {
        uint8_t  key[16], body_key[32];
        uint64_t word;
    } all;
    int can = hearthi_udp_can_mac(), every;

    hearthi_rendezvous_secret(&all, sizeof all);
    every = every_rank(can);
    memcpy(hearthi_udp.key, all.key, sizeof all.key);
    memcpy(hearthi_udp.body_key, all.body_key, sizeof all.body_key);
    hearthi_udp.session = all.word;
    hearthi_udp.auth = every && hearthi_opt.udp_auth != HEARTHI_WHEN_OFF;
    if (!every && hearthi_opt.udp_auth == HEARTHI_WHEN_ON)
        hearthi_fatal("hearth_init",
                      "HEARTH_UDP_AUTH=on needs a library that was built "
                      "with libsodium: install it and configure again, or "
                      "set HEARTH_UDP_AUTH=off in a trusted network");
}

static void
limits_set(void)
{
    hearthi_udp.limits = (struct hearthi_udp_limits){
        .rank = (uint32_t)hearthi_cluster.rank,
        .size = (uint32_t)hearthi_cluster.size,
        .locks = HEARTH_LOCKS,
        .rws = HEARTHI_RWS_AT,
        .more_locks = HEARTHI_NAMING_AT,
        .objects = (uint32_t)hearthi_syncs,
        .log = HEARTHI_LOG,
        .told_at = hearthi_segments.told_at,
        .names_at = hearthi_segments.names_at,
        .frames_at = hearthi_segments.frames_at,
        .bytes = hearthi_segments.bytes,
    };
}

/* A fragment is a multiple of 8 bytes, so that no word of a page that is read
 * while others write to it is cut. */
static void
sizes_set(void)
{
    size_t most = hearthi_opt.udp_datagram, small;

    if (most == 0)
        most = hearthi_udp_mtu();
    if (most > HEARTHI_UDP_DATAGRAM)
        most = HEARTHI_UDP_DATAGRAM;
    hearthi_udp.fragment = (most - HEARTHI_UDP_HEAD) & ~(size_t)7;
    small = hearthi_udp.fragment < HEARTHI_UDP_SMALL ? hearthi_udp.fragment
                                                     : HEARTHI_UDP_SMALL;
    hearthi_udp.notices = (uint32_t)(small / HEARTHI_UDP_NOTICE);
}

/* ---- start and end ---- */

static const struct hearthi_udp_services services = {
    .bulk = hearthi_udp_home_serve,
    .barrier = hearthi_udp_barrier_serve,
    .manager = hearthi_udp_manage,
    .step = hearthi_udp_home_step,
    .recall = hearthi_udp_recalled,
    .again = hearthi_udp_recall_again,
};

static void
nodes_open(void)
{
    int fd;

    session_agree();
    limits_set();
    hearthi_delegation_open();
    hearthi_udp_mac_open();
    hearthi_udp_trips_open();
    hearthi_udp_manager_open();
    hearthi_udp_barrier_open();
    fd = hearthi_udp_cards_exchange();
    sizes_set();
    hearthi_udp_flows_open();
    hearthi_udp_home_open(fd);
    hearthi_udp_server_open(fd, &services);
    hearthi_udp_clients_open();
    hearthi_udp_shm_channel_open(hearthi_udp_serve_local);
    hearthi_udp_hello();
    hearthi_udp_liveness_open();
    hearthi_udp_send_window_open();
    hearthi_udp_pages_open();
    hearthi_udp_diffs_open();
}

/* Servers stay until every rank has had its last answer. */
static void
nodes_close(void)
{
    hearthi_collective(hearthi_cluster.comm);
    hearthi_udp_liveness_close();
    hearthi_udp_shm_channel_close();
    hearthi_udp_server_close();
    hearthi_udp_home_close();
    hearthi_udp_flows_close();
    hearthi_udp_diffs_close();
    hearthi_udp_clients_close();
    hearthi_udp_barrier_close();
    hearthi_udp_manager_close();
    hearthi_udp_trips_close();
    hearthi_udp_mac_close();
    hearthi_udp_hello_close();
}

static void
one_node_open(void)
{
    hearthi_node_open();
}

static void
one_node_close(void)
{
    hearthi_node_close();
}

static void
transport_progress(void)
{
    /* the service thread does it */
}

/* A socket copies: no memory is registered, and all of it can be reached. */
static bool
transport_registers(void)
{
    return false;
}

static void
transport_reach(uint64_t frames)
{
    (void)frames;
}

const struct hearthi_transport_ops hearthi_transport_udp = {
    .name = "udp",
    .kind_name = hearthi_udp_kind_name,
    .reason_name = hearthi_udp_reason_name,
    .open = nodes_open,
    .close = nodes_close,
    .registers = transport_registers,
    .collective.expose = transport_reach,
    .data.fetch = hearthi_udp_fetch,
    .data.fetch_concurrent = hearthi_udp_fetch_concurrent,
    .data.fetch_begin = hearthi_udp_fetch_begin,
    .data.fetch_end = hearthi_udp_fetch_end,
    .data.diff = hearthi_udp_diff,
    .data.patch = hearthi_udp_patch,
    .data.store = hearthi_udp_store,
    .data.stored = hearthi_udp_stored,
    .data.notify = hearthi_udp_notify,
    .data.flush = hearthi_udp_flush,
    .sync.acquire = hearthi_udp_acquire,
    .sync.release = hearthi_udp_release,
    .sync.delegate = hearthi_udp_delegate,
    .collective.barrier = hearthi_udp_barrier,
    .sync.flag_set = hearthi_udp_flag_set,
    .sync.flag_wait = hearthi_udp_flag_wait,
    .sync.flag_reset = hearthi_udp_flag_reset,
    .sync.flag_is_set = hearthi_udp_flag_is_set,
    .sync.cond_enter = hearthi_udp_cond_enter,
    .sync.cond_wait = hearthi_udp_cond_wait,
    .sync.cond_wake = hearthi_udp_cond_wake,
    .sync.abandoned_locks = hearthi_udp_abandoned_locks,
    .sync.rw_acquire = hearthi_udp_rw_acquire,
    .sync.rw_release = hearthi_udp_rw_release,
    .data.atomic = hearthi_udp_atomic,
    .data.all_steps = true,
    .data.adds = hearthi_udp_adds,
    .progress = transport_progress,
};

/* The same to the user, where all pages are near. */
const struct hearthi_transport_ops hearthi_transport_udp_node = {
    .name = "udp",
    .kind_name = hearthi_udp_kind_name,
    .reason_name = hearthi_udp_reason_name,
    .open = one_node_open,
    .close = one_node_close,
    .registers = transport_registers,
    .collective.expose = transport_reach,
    .data.fetch = hearthi_udp_fetch,
    .data.fetch_concurrent = hearthi_udp_fetch_concurrent,
    .data.fetch_begin = hearthi_udp_fetch_begin,
    .data.fetch_end = hearthi_udp_fetch_end,
    .data.diff = hearthi_udp_diff,
    .data.store = hearthi_udp_store,
    .data.stored = hearthi_udp_stored,
    .data.notify = hearthi_udp_notify,
    .data.flush = hearthi_udp_flush,
    HEARTHI_ONE_NODE_OPS,
    .sync.rw_acquire = hearthi_mpi_rw_acquire,
    .sync.rw_release = hearthi_mpi_rw_release,
    .data.atomic = hearthi_udp_atomic,
    .data.all_steps = true,
    .data.adds = hearthi_udp_adds,
    .progress = transport_progress,
};
