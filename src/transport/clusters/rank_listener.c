/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "rank_listener.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "rendezvous.h"

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
hearthi_listener_listen(struct hearthi_listener *listener)
{
    /* A rank has some connections, and more where its threads wait. */
    enum { OF_PROGRAM = 1024, OF_RANK = 16 };
    int fd;

    files_allow(OF_PROGRAM + (rlim_t)hearthi_cluster.size * OF_RANK);
    listener->at = hearthi_rendezvous_addresses(AF_UNSPEC);
    fd = hearthi_rendezvous_listen(&listener->at, BACKLOG);
    if (fd < 0)
        hearthi_fatal("hearth_init",
                      "the gateway cannot listen for ranks of other machines "
                      "at the addresses of HEARTH_NETWORK=%s: %s",
                      hearthi_opt.network.list, strerror(errno));
    hearthi_rendezvous_draw(listener->token, sizeof listener->token);
    return fd;
}

enum hearthi_rank_hello
hearthi_listener_hear(const struct hearthi_listener       *listener,
                      const struct hearthi_listener_words *words, size_t n)
{
    if (n < sizeof words->head)
        return HEARTHI_LISTENER_IN_PART;
    if (words->head.op != HEARTHI_WAN_HELLO ||
        words->head.len != sizeof words->token)
        return HEARTHI_LISTENER_STRANGER;
    if (n < sizeof *words)
        return HEARTHI_LISTENER_IN_PART;
    return memcmp(words->token, listener->token, sizeof words->token) == 0
               ? HEARTHI_LISTENER_GOOD
               : HEARTHI_LISTENER_STRANGER;
}

/* The kernels look for each other while nothing else passes, also for a
 * process that is stopped; what was sent and is not acknowledged they send
 * again instead, for a quarter of an hour unless they are told otherwise.
 * They begin after a second: so a rank that waits for an answer knows when its
 * connection was reset at the gateway's end alone (connection_replay.h). */
void
hearthi_listener_prepare(int fd)
{
    enum { LOOKS = 4, SECOND = 1000000000, MS = 1000000 };
    int      one = 1, most = LOOKS - 1; /* one: second, too */
    int      each = (int)(hearthi_opt.gateway_giveup / LOOKS / SECOND);
    unsigned all = (unsigned)(hearthi_opt.gateway_giveup / MS);

    each = each > 0 ? each : 1;
    all = all > 0 ? all : 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &each, sizeof each);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &most, sizeof most);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &all, sizeof all);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
}

bool
hearthi_listener_silent(int error)
{
    return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
}
