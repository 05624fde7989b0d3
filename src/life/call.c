/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The ring is made at start: each rank tells the one before where it listens,
 * and calls the next one.
 */
#include "config.h"

#include "call.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/network.h"
#include "base/option.h"
#include "base/report.h"
#include "line.h"
#include "world.h"

/* Milliseconds for one address to answer, nanoseconds for all of them. */
enum { ANSWER_MS = 1000 };
static const uint64_t call_ns = 3000000000;

struct card { /* goes round at start */
    struct hearthi_addresses at;
    int32_t                  pid;
    char                     host[sizeof((struct hearthi_line *)0)->host];
};

static int         listener = -1;
static struct card there; /* the next rank's */

/* ---- where ---- */

static bool
one_machine(void)
{
    return hearthi_world.machine_ranks == hearthi_world.size;
}

static struct hearthi_addresses
own_addresses(void)
{
    struct hearthi_addresses all;

    if (one_machine())
        return hearthi_addresses_loopback();
    all = hearthi_addresses_of_host(AF_INET);
    return all.n > 0 ? all : hearthi_addresses_of_host(AF_INET6);
}

/* Every host must have an address that HEARTH_NETWORK takes.  The first rank
 * without says so. */
static void
addresses_check(const struct hearthi_addresses *own)
{
    int  size = hearthi_world.size, me = hearthi_world.rank, first;
    int  mine = own->n > 0 ? size : me;
    char all[512];

    if (strcmp(hearthi_opt.network.list, "all") == 0)
        return;
    HEARTHI_MPI(
        MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, hearthi_world.comm));
    if (first == size)
        return;
    if (first != me)
        hearthi_end_wait();
    hearthi_network_text(all, sizeof all);
    hearthi_fatal("hearth_init",
                  "HEARTH_NETWORK=%s takes none of this host's addresses, "
                  "which are: %s",
                  hearthi_opt.network.list, all);
}

static void
listen_somewhere(struct hearthi_addresses *all)
{
    union hearthi_address own = { .v6 = { .sin6_family = AF_INET6 } };
    socklen_t             size;

    if (all->n == 0)
        return;
    if (all->at[0].any.sa_family == AF_INET)
        own.v4 = (struct sockaddr_in){
            .sin_family = AF_INET,
            .sin_addr.s_addr =
                htonl(one_machine() ? INADDR_LOOPBACK : INADDR_ANY),
        };
    size = hearthi_address_size(&own);
    listener = socket(own.any.sa_family,
                      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener >= 0 && bind(listener, &own.any, size) == 0 &&
        listen(listener, HEARTHI_ADDRESSES) == 0 &&
        getsockname(listener, &own.any, &size) == 0)
        hearthi_addresses_port(all, own.v4.sin_port);
    else
        all->n = 0;
}

static void
line_begin(struct hearthi_line *line, int rank, const struct card *card)
{
    *line = (struct hearthi_line){ .fd = -1, .rank = rank, .pid = card->pid };
    snprintf(line->host, sizeof line->host, "%s", card->host);
}

static void
word_agree(void)
{
    if (hearthi_world.rank == 0 &&
        getrandom(&hearthi_lines_word, sizeof hearthi_lines_word, 0) !=
            (ssize_t)sizeof hearthi_lines_word)
        hearthi_fatal("hearth_init", "no random number: %s", strerror(errno));
    HEARTHI_MPI(MPI_Bcast(&hearthi_lines_word, sizeof hearthi_lines_word,
                          MPI_BYTE, 0, hearthi_world.comm));
}

void
hearthi_lines_prepare(struct hearthi_line *line)
{
    int         size = hearthi_world.size, me = hearthi_world.rank;
    int         prev = (me + size - 1) % size, next = (me + 1) % size;
    struct card mine = { .pid = (int32_t)getpid() }, before;

    word_agree();
    mine.at = own_addresses();
    addresses_check(&mine.at);
    gethostname(mine.host, sizeof mine.host - 1);
    listen_somewhere(&mine.at);
    HEARTHI_MPI(MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, prev, 0, &there,
                             sizeof there, MPI_BYTE, next, 0,
                             hearthi_world.comm, MPI_STATUS_IGNORE));
    HEARTHI_MPI(MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, next, 1, &before,
                             sizeof before, MPI_BYTE, prev, 1,
                             hearthi_world.comm, MPI_STATUS_IGNORE));
    line_begin(&line[HEARTHI_PREV], prev, &before);
    line_begin(&line[HEARTHI_NEXT], next, &there);
}

int
hearthi_lines_listen(void)
{
    return listener;
}

void
hearthi_lines_settle(void)
{
    if (listener >= 0)
        close(listener);
    listener = -1;
}

/* ---- calls ---- */

static bool
wait_for(int fd, short what)
{
    struct pollfd p = { .fd = fd, .events = what };

    return poll(&p, 1, ANSWER_MS) == 1;
}

/* The first record on a line: of whom it should be, and to us? */
static bool
hello_take(int fd, int rank)
{
    struct hearthi_record r;

    return wait_for(fd, POLLIN) &&
           recv(fd, &r, sizeof r, MSG_DONTWAIT) == (ssize_t)sizeof r &&
           r.word == hearthi_lines_word && r.said == HEARTHI_HELLO &&
           r.by == rank && r.about == hearthi_world.rank;
}

static void
hello_send(int fd, int rank)
{
    const int             on = 1;
    struct hearthi_record r = { hearthi_lines_word, HEARTHI_HELLO,
                                hearthi_world.rank, rank, 0 };

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    hearthi_record_send(fd, &r);
}

/* Whoever else calls, a stranger or a rank that took this host for another,
 * is not answered. */
void
hearthi_line_answer(struct hearthi_line *prev)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    if (prev->fd >= 0 || !hello_take(fd, prev->rank)) {
        close(fd);
        return;
    }
    hello_send(fd, prev->rank);
    prev->fd = fd;
}

static int
address_call(const union hearthi_address *a, int rank)
{
    int fd = socket(a->any.sa_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if ((connect(fd, &a->any, hearthi_address_size(a)) == 0 ||
         (errno == EINPROGRESS && wait_for(fd, POLLOUT)))) {
        hello_send(fd, rank);
        if (hello_take(fd, rank))
            return fd;
    }
    close(fd);
    return -1;
}

bool
hearthi_line_call(struct hearthi_line *next)
{
    uint64_t end = hearthi_now() + call_ns;
    int      fd = -1;

    for (int i = 0; i < there.at.n && fd < 0 && hearthi_now() < end; i++)
        fd = address_call(&there.at.at[i], next->rank);
    next->fd = fd;
    return fd >= 0;
}
