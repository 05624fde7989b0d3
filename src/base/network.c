/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "network.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "descriptor.h"
#include "option.h"

enum { MTU_LEAST = 576 }; /* that every IPv4 network passes */

static uint32_t
mtu_of(const char *name)
{
    struct ifreq r = { .ifr_mtu = 0 };
    int fd = hearthi_descriptor(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
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
    uint32_t mtu;

    if (all->n == HEARTHI_ADDRESSES) {
        all->more++;
        return;
    }
    mtu = mtu_of(i->ifa_name);
    memcpy(&all->at[all->n], i->ifa_addr,
           hearthi_address_size((const void *)i->ifa_addr));
    all->n++;
    if (all->mtu == 0 || mtu < all->mtu)
        all->mtu = mtu;
}

/* ---- the choice ---- */

struct network {
    int      family;
    uint8_t  at[16];
    unsigned bits;
};

/* An address without bits is a network of its own. */
static bool
network_read(const char *item, size_t len, struct network *n)
{
    char          text[INET6_ADDRSTRLEN + 4], *slash, *end;
    unsigned long most, bits;

    if (len >= sizeof text)
        return false;
    memcpy(text, item, len);
    text[len] = '\0';
    slash = strchr(text, '/');
    if (slash != NULL)
        *slash = '\0';
    n->family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
    most = n->family == AF_INET ? 32 : 128;
    if (inet_pton(n->family, text, n->at) != 1)
        return false;
    n->bits = (unsigned)most;
    if (slash == NULL)
        return true;
    bits = strtoul(slash + 1, &end, 10);
    n->bits = (unsigned)bits;
    return isdigit((unsigned char)slash[1]) && *end == '\0' && bits <= most;
}

static bool
name_good(const char *item, size_t len)
{
    return len > 0 && len < IFNAMSIZ && memchr(item, '/', len) == NULL &&
           memchr(item, ' ', len) == NULL;
}

/* The next item of a list: its length; *list moves behind it. */
static size_t
item_next(const char **list)
{
    size_t len = strcspn(*list, ",");

    *list += len + ((*list)[len] == ',');
    return len;
}

bool
hearthi_network_good(const char *list)
{
    struct network n;

    do {
        const char *item = list;
        size_t      len = item_next(&list);

        if (!network_read(item, len, &n) && !name_good(item, len))
            return false;
    } while (*list != '\0');
    return list[-1] != ',';
}

static bool
network_has(const struct network *n, const struct sockaddr *a)
{
    const union hearthi_address *u = (const void *)a;
    const uint8_t               *at = a->sa_family == AF_INET
                                          ? (const void *)&u->v4.sin_addr
                                          : (const void *)&u->v6.sin6_addr;
    unsigned                     whole = n->bits / 8, rest = n->bits % 8;

    return n->family == a->sa_family && memcmp(n->at, at, whole) == 0 &&
           (rest == 0 || (n->at[whole] ^ at[whole]) >> (8 - rest) == 0);
}

bool
hearthi_network_takes(const char *list, const char *interface,
                      const struct sockaddr *a)
{
    struct network n;

    if (strcmp(list, "all") == 0)
        return true;
    while (*list != '\0') {
        const char *item = list;
        size_t      len = item_next(&list);

        if (network_read(item, len, &n)
                ? network_has(&n, a)
                : strlen(interface) == len &&
                      memcmp(item, interface, len) == 0)
            return true;
    }
    return false;
}

void
hearthi_network_text(char *out, size_t room)
{
    struct ifaddrs *list;
    size_t          at = 0;

    snprintf(out, room, "none");
    if (getifaddrs(&list) != 0)
        return;
    for (const struct ifaddrs *i = list; i != NULL; i = i->ifa_next) {
        const union hearthi_address *u = (const void *)i->ifa_addr;
        char                         text[INET6_ADDRSTRLEN];
        const void                  *from;

        if (!is_reachable(i) ||
            (u->any.sa_family != AF_INET && u->any.sa_family != AF_INET6))
            continue;
        from = u->any.sa_family == AF_INET ? (const void *)&u->v4.sin_addr
                                           : (const void *)&u->v6.sin6_addr;
        inet_ntop(u->any.sa_family, from, text, sizeof text);
        snprintf(out + at, room - at, "%s%s (%s)", at > 0 ? ", " : "", text,
                 i->ifa_name);
        at = strlen(out);
    }
    freeifaddrs(list);
}

struct hearthi_addresses
hearthi_addresses_of_host(int family)
{
    struct hearthi_addresses all = { .n = 0 };
    struct ifaddrs          *list;

    if (getifaddrs(&list) != 0)
        return all;
    for (const struct ifaddrs *i = list; i != NULL; i = i->ifa_next)
        if (is_reachable(i) && i->ifa_addr->sa_family == family &&
            hearthi_network_takes(hearthi_opt.network.list, i->ifa_name,
                                  i->ifa_addr))
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

/* ---- sockets ----
 *
 * A socket has one address, or all of its host.  Where HEARTH_NETWORK takes
 * some of several addresses, the socket has all of them, and the kernel drops
 * what was sent to another address, by a filter on the destination: before the
 * socket wakes a thread, and for connections before there is one.
 *
 * With HEARTH_NETWORK=all each address may be the one by which others reach
 * this host. */

/* Where a packet says to which address it goes, and in how many words. */
enum { TO_V4 = 16, TO_V6 = 24, WORDS_V4 = 1, WORDS_V6 = 4 };

static unsigned
words_of(const union hearthi_address *a, uint32_t word[WORDS_V6])
{
    bool v4 = a->any.sa_family == AF_INET;

    if (v4)
        memcpy(word, &a->v4.sin_addr, sizeof a->v4.sin_addr);
    else
        memcpy(word, &a->v6.sin6_addr, sizeof a->v6.sin6_addr);
    return v4 ? WORDS_V4 : WORDS_V6;
}

/* For each address: take what goes there, or look at the next one. */
static bool
filter_attach(int fd, const struct hearthi_addresses *told)
{
    enum { OF_ONE = 2 * WORDS_V6 + 1 };
    struct sock_filter code[HEARTHI_ADDRESSES * OF_ONE + 1];
    struct sock_fprog  all = { .filter = code };
    unsigned           n = 0;
    uint32_t           word[WORDS_V6];

    for (int i = 0; i < told->n; i++) {
        unsigned words = words_of(&told->at[i], word);
        int      at = SKF_NET_OFF + (words == WORDS_V4 ? TO_V4 : TO_V6);

        for (unsigned w = 0; w < words; w++) {
            code[n++] = (struct sock_filter)BPF_STMT(
                BPF_LD | BPF_W | BPF_ABS, (uint32_t)(at + (int)(4 * w)));
            code[n++] = (struct sock_filter)BPF_JUMP(
                BPF_JMP | BPF_JEQ | BPF_K, ntohl(word[w]), 0,
                (uint8_t)(2 * (words - 1 - w) + 1));
        }
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
    all.len = (unsigned short)n;
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all) == 0;
}

static union hearthi_address
any_of(int family)
{
    union hearthi_address any = { .v6 = { .sin6_family = AF_INET6 } };

    if (family == AF_INET)
        any.v4 = (struct sockaddr_in){ .sin_family = AF_INET };
    return any;
}

/* The filter is there before the socket hears anything. */
bool
hearthi_bind(int fd, struct hearthi_addresses *told, unsigned port)
{
    int                   family = told->at[0].any.sa_family, on = 1;
    union hearthi_address own = told->n == 1 ? told->at[0] : any_of(family);
    socklen_t             size = hearthi_address_size(&own);

    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (told->n > 1 && strcmp(hearthi_opt.network.list, "all") != 0 &&
        !filter_attach(fd, told))
        return false;
    own.v4.sin_port = htons((uint16_t)port);
    if (bind(fd, &own.any, size) != 0 || getsockname(fd, &own.any, &size) != 0)
        return false;
    hearthi_addresses_port(told, own.v4.sin_port);
    return true;
}

int
hearthi_connect_begin(const struct sockaddr *to, socklen_t size)
{
    int code,
        fd = hearthi_descriptor(socket(
            to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

    if (fd < 0 || connect(fd, to, size) == 0 || errno == EINPROGRESS)
        return fd;
    code = errno;
    close(fd);
    errno = code;
    return -1;
}
