/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "crowd.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>

#include "report.h"

/* Nanoseconds: of its time each stranger spends so much, and of the time to
 * come a host may have spent so much. */
enum { EACH = 10000000, AHEAD = 1000000000 };

void
hearthi_crowd_open(struct hearthi_crowd *c)
{
    memset(c, 0, sizeof *c);
    if (getrandom(&c->seed, sizeof c->seed, 0) != (ssize_t)sizeof c->seed)
        hearthi_fatal("gateway", "no random number: %s", strerror(errno));
}

unsigned
hearthi_crowd_host(const struct hearthi_crowd *c, const struct sockaddr *from)
{
    uint64_t at = 0;

    if (from->sa_family == AF_INET)
        memcpy(&at, &((const struct sockaddr_in *)from)->sin_addr,
               sizeof(struct in_addr));
    else if (from->sa_family == AF_INET6)
        memcpy(&at, &((const struct sockaddr_in6 *)from)->sin6_addr,
               sizeof at);
    at = (at ^ c->seed) * UINT64_C(0x9e3779b97f4a7c15);
    at = (at ^ at >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (unsigned)(at >> 32) % HEARTHI_CROWD_HOSTS;
}

bool
hearthi_crowd_may(const struct hearthi_crowd *c, unsigned host, uint64_t now)
{
    return c->host[host].spent <= now + AHEAD;
}

void
hearthi_crowd_stranger(struct hearthi_crowd *c, unsigned host, uint64_t now)
{
    uint64_t *spent = &c->host[host].spent;

    *spent = (*spent > now ? *spent : now) + EACH;
}
