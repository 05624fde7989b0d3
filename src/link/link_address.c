/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "link_address.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"

bool
hearthi_gateway_find(struct hearthi_gateway *g, const struct hearthi_member *c,
                     struct hearthi_link_error *wrong)
{
    struct addrinfo  want = { .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_NUMERICSERV };
    struct addrinfo *all;
    size_t           n = 0;
    int              r = getaddrinfo(c->host, c->port, &want, &all);

    if (r != 0)
        return hearthi_link_error(
            wrong,
            "gateway %s of cluster %s: %s: give an address "
            "or a name that this machine knows",
            c->host, c->name,
            r == EAI_SYSTEM ? strerror(errno) : gai_strerror(r));
    g->n = g->next = 0;
    for (const struct addrinfo *a = all; a != NULL; a = a->ai_next)
        n++;
    g->at = calloc(n, sizeof *g->at);
    for (struct addrinfo *a = all; g->at != NULL && a != NULL;
         a = a->ai_next) {
        memcpy(&g->at[g->n].to, a->ai_addr, a->ai_addrlen);
        g->at[g->n++].len = a->ai_addrlen;
    }
    freeaddrinfo(all);
    return g->at != NULL ||
           hearthi_link_error(wrong, "gateway %s of cluster %s: no memory",
                              c->host, c->name);
}

void
hearthi_gateway_forget(struct hearthi_gateway *g)
{
    free(g->at);
    g->at = NULL;
}

/* IPv6's stands for IPv4's, too, whatever the system's setting is. */
static int
listen_at(const struct sockaddr *at, socklen_t len)
{
    int one = 1, zero = 0, error,
        fd = hearthi_descriptor(socket(
            at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (at->sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    if (bind(fd, at, len) == 0 && listen(fd, 128) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int
listen_everywhere(const struct hearthi_gateway *g)
{
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                               .sin6_addr = in6addr_any };
    struct sockaddr_in  v4 = { .sin_family = AF_INET };
    in_port_t           port = 0;
    int                 fd = -1;

    for (int i = 0; i < g->n && fd < 0; i++) {
        bool is_v6 = g->at[i].to.ss_family == AF_INET6;

        port = is_v6 ? ((const struct sockaddr_in6 *)&g->at[i].to)->sin6_port
                     : ((const struct sockaddr_in *)&g->at[i].to)->sin_port;
        v6.sin6_port = port;
        if (is_v6)
            fd = listen_at((const struct sockaddr *)&v6, sizeof v6);
    }
    v4.sin_port = port;
    return fd >= 0 ? fd : listen_at((const struct sockaddr *)&v4, sizeof v4);
}

/* What this machine calls a name of its own may be an address that only it
 * can reach (Debian's 127.0.1.1). */
static bool
is_name(const char *host)
{
    struct addrinfo want = { .ai_flags = AI_NUMERICHOST }, *a;

    if (getaddrinfo(host, NULL, &want, &a) != 0)
        return true;
    freeaddrinfo(a);
    return false;
}

int
hearthi_gateway_listen(const struct hearthi_gateway *g,
                       const struct hearthi_member  *c,
                       struct hearthi_link_error    *wrong)
{
    int fd = -1;

    errno = EADDRNOTAVAIL;
    if (!is_name(c->host))
        fd = listen_at((const struct sockaddr *)&g->at[0].to, g->at[0].len);
    if (fd < 0 && errno == EADDRNOTAVAIL)
        fd = listen_everywhere(g);
    if (fd >= 0)
        return fd;
    hearthi_link_error(
        wrong, "port %s of gateway %s (cluster %s): %s: %s", c->port, c->host,
        c->name, strerror(errno),
        errno == EADDRINUSE
            ? "does another job of this cluster run? give another "
              "port in the clusters' files"
            : "give another address or port in the clusters' files");
    return -1;
}

void
hearthi_gateway_text(const struct sockaddr *a, socklen_t len,
                     char out[static HEARTHI_GATEWAY_TEXT])
{
    char host[64], port[8];
    bool v6 = a->sa_family == AF_INET6;

    if (getnameinfo(a, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        strcpy(host, "?"), strcpy(port, "?");
    snprintf(out, HEARTHI_GATEWAY_TEXT, "%s%s%s:%s", v6 ? "[" : "", host,
             v6 ? "]" : "", port);
}
