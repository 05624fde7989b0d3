/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A connection to a port of this machine, from outside of what is tested.
 */
#ifndef HEARTH_VISITOR_H
#define HEARTH_VISITOR_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct sockaddr_in
visited(int port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* -1: nobody listens there. */
static inline int
visitor_or_none(int port)
{
    struct sockaddr_in a = visited(port);
    int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    close(fd);
    return -1;
}

#endif
