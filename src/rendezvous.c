/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "rendezvous.h"

#include <errno.h>
#include <mpi.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"

/* ---- addresses ---- */

struct hearthi_addresses
hearthi_rendezvous_addresses(int family)
{
    struct hearthi_addresses all;

    if (hearthi_one_machine())
        return hearthi_addresses_loopback();
    all = hearthi_addresses_of_host(family == AF_INET6 ? AF_INET6 : AF_INET);
    return all.n > 0 || family != AF_UNSPEC
               ? all
               : hearthi_addresses_of_host(AF_INET6);
}

struct hearthi_addresses
hearthi_rendezvous_addresses_alike(void)
{
    struct hearthi_addresses v4 = hearthi_rendezvous_addresses(AF_INET), v6;

    if (hearthi_collective_here(v4.n > 0, MPI_LAND))
        return v4;
    v6 = hearthi_rendezvous_addresses(AF_INET6);
    if (!hearthi_collective_here(v6.n > 0, MPI_LAND))
        v6.n = 0;
    return v6;
}

static bool
is_udp(void)
{
    return hearthi_opt.transport == HEARTHI_TRANSPORT_UDP;
}

static void
addresses_missed(void)
{
    char all[512];

    if (strcmp(hearthi_opt.network.list, "all") == 0)
        hearthi_fatal("hearth_init",
                      "this host has no IPv4 address but the loopback: the "
                      "udp transport needs one (HEARTH_TRANSPORT=mpi does "
                      "not)");
    hearthi_network_text(all, sizeof all);
    hearthi_fatal("hearth_init",
                  "HEARTH_NETWORK=%s takes none of this host's %saddresses; "
                  "it has: %s",
                  hearthi_opt.network.list, is_udp() ? "IPv4 " : "", all);
}

struct hearthi_addresses
hearthi_rendezvous_addresses_checked(void)
{
    const struct hearthi_cluster  *j = &hearthi_cluster;
    const bool                     udp = is_udp();
    const struct hearthi_addresses own =
        hearthi_rendezvous_addresses(udp ? AF_INET : AF_UNSPEC);
    int first = j->size;

    if (udp || strcmp(hearthi_opt.network.list, "all") != 0)
        first = hearthi_collective_first(own.n == 0, j->comm);
    if (first == j->rank)
        addresses_missed();
    if (first != j->size)
        hearthi_end_wait();
    if (j->machine_rank == 0 && own.more > 0)
        hearthi_warn("hearth_init",
                     "this host has %d addresses that HEARTH_NETWORK=%s "
                     "takes, of which the first %d are told to other hosts: "
                     "name in it the networks by which they reach this one",
                     own.n + own.more, hearthi_opt.network.list, own.n);
    return own;
}

/* Connections come once something was said over them; the kernel has those
 * that say nothing, and forgets them after a while. */
int
hearthi_rendezvous_listen(struct hearthi_addresses *at, int backlog)
{
    const int defer = 10; /* s */
    int       fd, code;

    if (at->n == 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    fd = hearthi_descriptor(socket(at->at[0].any.sa_family,
                                   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                   0));
    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof defer);
    if (hearthi_bind(fd, at, 0) && listen(fd, backlog) == 0)
        return fd;
    code = errno;
    close(fd);
    errno = code;
    return -1;
}

/* ---- secrets ---- */

void
hearthi_rendezvous_draw(void *secret, size_t bytes)
{
    if (getrandom(secret, bytes, 0) != (ssize_t)bytes)
        hearthi_fatal("hearth_init", "no random key: %s", strerror(errno));
}

void
hearthi_rendezvous_secret(void *secret, size_t bytes)
{
    if (hearthi_cluster.rank == 0)
        hearthi_rendezvous_draw(secret, bytes);
    hearthi_collective_bcast(secret, bytes, 0, hearthi_cluster.comm);
}

/* ---- cards ---- */

void *
hearthi_rendezvous_all(const void *card, size_t bytes)
{
    void *all = calloc((size_t)hearthi_cluster.size, bytes);

    if (all == NULL)
        hearthi_fatal("hearth_init", "no memory");
    hearthi_collective_gather(card, bytes, all, hearthi_cluster.comm);
    return all;
}

void
hearthi_rendezvous_ring(const void *card, void *prev, void *next, size_t bytes)
{
    enum { TAG_NEXT, TAG_PREV };
    int n = hearthi_cluster.size, me = hearthi_cluster.rank;
    int before = (me + n - 1) % n, behind = (me + 1) % n;

    hearthi_collective_swap(card, before, next, behind, bytes, TAG_NEXT);
    hearthi_collective_swap(card, behind, prev, before, bytes, TAG_PREV);
}
