/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "rank_listener.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/option.h"
#include "base/report.h"
#include "cluster.h"

/* All ranks may come at once; the system has a bound of its own. */
enum { BACKLOG = 4096 };

/* Not all that the system would let this process have: some programs close all
 * numbers. */
static bool
files_allow(rlim_t want)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &most) != 0 || most.rlim_cur >= want ||
        most.rlim_cur >= most.rlim_max)
        return false;
    most.rlim_cur = want < most.rlim_max ? want : most.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &most) == 0;
}

bool
hearthi_listener_more_files(void)
{
    struct rlimit most;

    return getrlimit(RLIMIT_NOFILE, &most) == 0 &&
           files_allow(2 * most.rlim_cur);
}

int
hearthi_listener_listen(struct hearthi_listener *door)
{
    /* A rank has some connections, and more where its threads wait. */
    enum { OF_PROGRAM = 1024, OF_RANK = 16 };
    struct sockaddr_in any = { .sin_family = AF_INET };
    socklen_t          size = sizeof any;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    files_allow(OF_PROGRAM + (rlim_t)hearthi_cluster.size * OF_RANK);
    any.sin_addr.s_addr =
        htonl(hearthi_one_machine() ? INADDR_LOOPBACK : INADDR_ANY);
    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any) != 0 ||
        listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&any, &size) != 0)
        hearthi_fatal("hearth_init", "the gateway cannot listen: %s",
                      strerror(errno));
    door->at = hearthi_one_machine() ? hearthi_addresses_loopback()
                                     : hearthi_addresses_of_host(AF_INET);
    hearthi_addresses_port(&door->at, any.sin_port);
    if (getrandom(door->token, sizeof door->token, 0) !=
        (ssize_t)sizeof door->token)
        hearthi_fatal("hearth_init", "no random token: %s", strerror(errno));
    return fd;
}

/* The kernels look for each other while nothing else passes, also for a
 * process that is stopped. */
void
hearthi_listener_prepare(int fd)
{
    enum { LOOKS = 4, SECOND = 1000000000 };
    int one = 1, most = LOOKS - 1;
    int each = (int)(hearthi_opt.gateway_giveup / LOOKS / SECOND);

    each = each > 0 ? each : 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &each, sizeof each);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &each, sizeof each);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &most, sizeof most);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
}
