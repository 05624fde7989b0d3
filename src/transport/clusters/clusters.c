/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "clusters.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/min.h"
#include "base/option.h"
#include "base/report.h"
#include "base/test_limits.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "gateway_channel.h"
#include "gateway_server.h"
#include "gateway_thread.h"
#include "hear.h"
#include "hearth/version.h"
#include "hidden_rank.h"
#include "link/conf.h"
#include "link/link.h"
#include "rendezvous.h"
#include "world.h"

static struct {
    struct hearthi_conf *conf;
    int                  me, gateway; /* the rank with the handler */
    int                 *node_of, *node_rank_of;
    int                  first_of[HEARTHI_CLUSTERS_MAX + 1];
} c;

bool
hearthi_gateway_is_here(void)
{
    return hearthi_cluster.rank == c.gateway;
}

/* ---- the file ---- */

/* With a handler that is a rank it is one more than the file says. */
static bool
ranks_fit(int size, struct hearthi_link_error *wrong)
{
    bool more = hearthi_opt.gateway == HEARTHI_GATEWAY_RANK;
    int  want = c.conf->cluster[c.me].ranks;

    if (size == want + more)
        return true;
    return hearthi_link_error(
        wrong,
        "this job has %d ranks, but %s:%d says that cluster "
        "%s has %d%s: start as many, or correct the file on "
        "all clusters",
        size, hearthi_opt.clusters.text, c.conf->cluster[c.me].line,
        hearthi_opt.cluster.text, want,
        more ? ", and HEARTH_GATEWAY=rank wants one more" : "");
}

static bool
conf_find(int size, struct hearthi_link_error *wrong)
{
    const char *path = hearthi_opt.clusters.text;
    const char *name = hearthi_opt.cluster.text;

    if (*name == '\0')
        return hearthi_link_error(
            wrong,
            "HEARTH_CLUSTERS=%s needs HEARTH_CLUSTER, the "
            "name of the cluster that this job is",
            path);
    c.conf = hearthi_conf_read(path, wrong);
    if (c.conf == NULL)
        return false;
    c.me = hearthi_conf_find(c.conf, name, wrong);
    return c.me >= 0 && ranks_fit(size, wrong);
}

/* All ranks of a cluster read it by themselves, since the gateway's machine
 * may not be rank 0's.  What is wrong for several is said by one. */
static void
conf_read(MPI_Comm comm)
{
    struct hearthi_link_error wrong;
    int                       rank, size, first;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    first = hearthi_collective_first(!conf_find(size, &wrong), comm);
    if (first == rank)
        hearthi_fatal("hearth_init", "%s", wrong.text);
    if (first < size)
        hearthi_end_wait();
}

/* A page crosses the link in one message (link/gateway_connection.h). */
static void
page_check(void)
{
    enum { MOST = 128 << 20 };

    if (hearthi_opt.page_size > MOST && hearthi_report_rank == 0)
        hearthi_fatal("hearth_init",
                      "HEARTH_PAGE_SIZE=%zu is too large for several "
                      "clusters: %d MiB are the most",
                      hearthi_opt.page_size, MOST >> 20);
}

/* ---- whose gateway it is ---- */

static bool
is_same(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a == NULL || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return a->sa_family == AF_INET6 &&
           memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                  &((const struct sockaddr_in6 *)b)->sin6_addr,
                  sizeof(struct in6_addr)) == 0;
}

static bool
is_of_this_machine(const char *host)
{
    struct addrinfo *all = NULL;
    struct ifaddrs  *mine = NULL;
    bool             found = false;

    if (getaddrinfo(host, NULL, NULL, &all) == 0 && getifaddrs(&mine) == 0)
        for (const struct addrinfo *a = all; a != NULL; a = a->ai_next)
            for (const struct ifaddrs *m = mine; m != NULL; m = m->ifa_next)
                found |= is_same(m->ifa_addr, a->ai_addr);
    if (mine != NULL)
        freeifaddrs(mine);
    if (all != NULL)
        freeaddrinfo(all);
    return found;
}

/* The first rank on a machine that has the address; behind a translation of
 * addresses none has it, and then rank 0. */
static void
gateway_find(void)
{
    if (hearthi_cluster.hides) {
        c.gateway = hearthi_cluster_ranks();
        return;
    }
    c.gateway = hearthi_collective_first(
        is_of_this_machine(c.conf->cluster[c.me].host), hearthi_cluster.comm);
    if (c.gateway == hearthi_cluster.size)
        c.gateway = 0;
}

struct hearthi_job
hearthi_clusters_read(MPI_Comm comm)
{
    struct hearthi_job job = { comm, false };

    if (hearthi_opt.clusters.text[0] == '\0')
        return job;
    conf_read(comm);
    page_check();
    job.hides = hearthi_opt.gateway == HEARTHI_GATEWAY_RANK;
    if (job.hides)
        job.comm = hearthi_hidden_rank_last(
            comm, is_of_this_machine(c.conf->cluster[c.me].host));
    return job;
}

/* ---- the handler ---- */

static void
link_open(void)
{
    static struct hearthi_link_options options;
    struct hearthi_link_error          wrong;

    options = hearthi_link_defaults();
    options.giveup = (double)hearthi_opt.gateway_giveup * 1e-9;
    options.conns = (int)hearthi_opt.gateway_lanes;
    options.agree = hearthi_config_text();
    options.tell = "";
    options.version = HEARTH_VERSION;
    hearthi_gateway_server.link = hearthi_link_open(
        c.conf, c.me, &options, &hearthi_gateway_link_calls, NULL, &wrong);
    if (hearthi_gateway_server.link == NULL)
        hearthi_fatal("hearth_init", "%s", wrong.text);
}

static void
channels_open(void)
{
    struct hearthi_listener listener;

    hearthi_gateway_server = (struct hearthi_gateway_server){
        .conf = c.conf,
        .me = c.me,
        .first = c.conf->cluster[c.me].first,
        .ranks = hearthi_cluster_ranks(),
        .attended = hearthi_cluster.hides,
    };
    gateway_find();
    if (hearthi_cluster.rank == c.gateway) {
        hearthi_global_collectives_open();
        link_open();
        listener = hearthi_gateway_clients_listen();
        listener.gateway = c.gateway;
    }
    hearthi_collective_bcast(&listener, sizeof listener, c.gateway,
                             hearthi_cluster.comm);
    if (hearthi_cluster.rank == c.gateway)
        hearthi_gateway_thread_start();
    hearthi_gateway_channels_open(&listener);
}

/* What all ranks say at once, at most: a cluster's part is one message of the
 * link (link/gateway_connection.h), and its length stands in 32 bits
 * (wan_message.h). */
enum { GATHERED = HEARTHI_TEST_LIMIT(16 << 20, 256) };

static void
some_gather(const void *mine, size_t bytes, void *all)
{
    struct hearthi_gateway_channel  *ch = hearthi_gateway_channel_take();
    const struct hearthi_wan_message msg = { .op = HEARTHI_WAN_GATHER };
    char                             rest[8];
    struct hearthi_wan_message       answer =
        hearthi_gateway_channel_ask(ch, msg, mine, bytes, "hearth_init");

    if (answer.len != bytes * (size_t)hearthi_world.size)
        hearthi_fatal("gateway", "ranks are in different collective calls");
    hearthi_gateway_channel_read(ch, all, answer.len);
    hearthi_gateway_channel_read(ch, rest,
                                 hearthi_wan_round(answer.len) - answer.len);
    hearthi_gateway_channel_give(ch);
}

/* All ranks give as many bytes, and so as many pieces. */
static void
gather(const void *mine, size_t bytes, void *all)
{
    size_t size = (size_t)hearthi_world.size, most = GATHERED / size + 1;
    char  *some = bytes > most ? malloc(most * size) : NULL;

    if (bytes <= most) {
        some_gather(mine, bytes, all);
        return;
    }
    if (some == NULL)
        hearthi_fatal("gateway", "no memory for what %zu ranks tell", size);
    for (size_t at = 0, n; at < bytes; at += n) {
        n = hearthi_min(most, bytes - at);
        some_gather((const char *)mine + at, n, some);
        for (size_t r = 0; r < size; r++)
            memcpy((char *)all + r * bytes + at, some + r * n, n);
    }
    free(some);
}

/* ---- the world ---- */

struct place {
    int node, node_rank, threads;
};

/* A cluster's nodes follow those of the clusters before it.  Nothing is near a
 * rank that the program does not see.  Each cluster has an MPI of its own, and
 * may have been started with another level of threads. */
static void
nodes_number(void)
{
    struct hearthi_world *w = &hearthi_world;
    struct place  mine = { hearthi_cluster.node, hearthi_cluster.node_rank,
                           w->threads };
    struct place *all = calloc((size_t)w->size, sizeof *all);
    int           base = 0, most = 0;

    c.node_of = calloc((size_t)w->size, sizeof *c.node_of);
    c.node_rank_of = calloc((size_t)w->size, sizeof *c.node_rank_of);
    if (all == NULL || c.node_of == NULL || c.node_rank_of == NULL)
        hearthi_fatal("hearth_init", "no memory for %d ranks", w->size);
    w->gather(&mine, sizeof mine, all);
    for (int r = 0, cluster = 0; r < w->size; r++) {
        if (hearthi_cluster_of(r) != cluster) {
            cluster = hearthi_cluster_of(r);
            base += most;
            most = 0;
        }
        if (all[r].node >= most)
            most = all[r].node + 1;
        w->threads = w->threads || all[r].threads;
        c.node_of[r] = base + all[r].node;
        c.node_rank_of[r] = all[r].node_rank;
    }
    free(all);
    w->nodes = base + most;
    w->node = hearthi_cluster_hidden() ? -1 : c.node_of[w->rank];
    w->home_node = w->node; /* no races are looked for */
    w->node_of = c.node_of;
    w->node_rank_of = c.node_rank_of;
}

/* All ranks of this cluster, as any may be the gateway's.  What is wrong for
 * several is said by one. */
static void
threads_check(void)
{
    const struct hearthi_cluster *j = &hearthi_cluster;

    if (hearthi_opt.transport != HEARTHI_TRANSPORT_MPI || j->nodes == 1)
        return;
    if (j->unthreaded == j->rank)
        hearthi_fatal("hearth_init",
                      "over several clusters a gateway's thread calls MPI: "
                      "initialise MPI with MPI_THREAD_MULTIPLE, or set "
                      "HEARTH_TRANSPORT=udp");
    if (j->unthreaded < j->size)
        hearthi_end_wait();
}

void
hearthi_clusters_open(void)
{
    struct hearthi_world *w = &hearthi_world;

    if (hearthi_opt.clusters.text[0] == '\0')
        return;
    w->clusters = c.conf->n;
    w->cluster = c.me;
    for (int i = 0; i < c.conf->n; i++)
        c.first_of[i] = c.conf->cluster[i].first;
    c.first_of[c.conf->n] = c.conf->ranks;
    w->first_of = c.first_of;
    w->first = c.first_of[c.me];
    w->rank += w->first;
    w->size = c.conf->ranks;
    if (hearthi_cluster_hidden())
        w->rank = w->size + c.me;
    hearthi_report_rank = w->rank;
    threads_check();
    hearthi_rendezvous_addresses_checked();
    hearthi_opt.migrate = HEARTHI_WHEN_OFF;
    channels_open();
    w->gather = gather;
    hearthi_endings_open();
    hearthi_config_page_size(c.conf);
    nodes_number();
}

void
hearthi_clusters_close(void)
{
    const struct hearthi_wan_message bye = { .op = HEARTHI_WAN_BYE };

    if (hearthi_world.gather == NULL)
        return;
    hearthi_endings_close();
    if (!hearthi_cluster_hidden())
        hearthi_gateway_channel_call(bye, NULL, 0, "hearth_finalize");
    if (hearthi_cluster.rank == c.gateway) {
        hearthi_gateway_thread_join();
        hearthi_link_close(hearthi_gateway_server.link);
        hearthi_global_collectives_close();
    }
    hearthi_gateway_channels_close();
    hearthi_hear_end();
    hearthi_world.gather = NULL;
    free(c.conf);
    free(c.node_of);
    free(c.node_rank_of);
    c.conf = NULL;
}

void
hearthi_clusters_forked(void)
{
    if (hearthi_world.gather == NULL)
        return;
    hearthi_gateway_channels_close();
    hearthi_hear_forked();
    if (!hearthi_gateway_is_here())
        return;
    hearthi_gateway_clients_forked();
    hearthi_link_forked(hearthi_gateway_server.link);
}
