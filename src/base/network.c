/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MTU_LEAST = 576 }; /* that every IPv4 network passes */

static uint32_t
mtu_of(const char *name)
{
    struct ifreq r = { .ifr_mtu = 0 };
    int          fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool         known;

    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    known = fd >= 0 && ioctl(fd, SIOCGIFMTU, &r) == 0;
    if (fd >= 0)
        close(fd);
    return known && r.ifr_mtu > MTU_LEAST ? (uint32_t)r.ifr_mtu : MTU_LEAST;
}

/* An address of the link only would need the reader's own interface. */
static bool
is_reachable(const struct ifaddrs *i)
{
    const unsigned             up = IFF_UP | IFF_RUNNING;
    const struct sockaddr_in6 *v6 = (const void *)i->ifa_addr;

    return i->ifa_addr != NULL && (i->ifa_flags & up) == up &&
           !(i->ifa_flags & IFF_LOOPBACK) &&
           (i->ifa_addr->sa_family != AF_INET6 ||
            !IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr));
}

static void
address_take(struct hearthi_addresses *all, const struct ifaddrs *i)
{
    uint32_t mtu = mtu_of(i->ifa_name);

    memcpy(&all->at[all->n], i->ifa_addr,
           hearthi_address_size((const void *)i->ifa_addr));
    all->n++;
    if (all->mtu == 0 || mtu < all->mtu)
        all->mtu = mtu;
}

struct hearthi_addresses
hearthi_addresses_of_host(int family)
{
    struct hearthi_addresses all = { .n = 0 };
    struct ifaddrs          *list;

    if (getifaddrs(&list) != 0)
        return all;
    for (const struct ifaddrs *i = list; i != NULL; i = i->ifa_next)
        if (all.n < HEARTHI_ADDRESSES && is_reachable(i) &&
            i->ifa_addr->sa_family == family)
            address_take(&all, i);
    freeifaddrs(list);
    return all;
}

struct hearthi_addresses
hearthi_addresses_loopback(void)
{
    struct hearthi_addresses all = { .n = 1 };

    all.at[0].v4 = (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    return all;
}

/* The ports lie at the same place in both families. */
void
hearthi_addresses_port(struct hearthi_addresses *all, in_port_t port)
{
    for (int i = 0; i < all->n; i++)
        all->at[i].v4.sin_port = port;
}

socklen_t
hearthi_address_size(const union hearthi_address *a)
{
    return a->any.sa_family == AF_INET ? sizeof a->v4 : sizeof a->v6;
}
