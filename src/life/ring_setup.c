/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The ring is made at start: each rank tells the one before where it listens,
 * and calls the next one, at all its addresses at once.
 *
 * Hello, its answer, and a confirmation: one call is confirmed, and that is
 * the line.  Who is called may be late: then the caller has given up and
 * closed, but its hello lies in the connection still.  So a hello makes no
 * line, and the end of a call that nobody confirmed is nobody's death.
 */
#include "config.h"

#include "ring_setup.h"

#include <errno.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/network.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "liveness_line.h"
#include "world.h"

/* How often nothing comes of a call, each time in so many milliseconds: all of
 * it far more than a round trip takes, and no time for a job to begin even if
 * a firewall swallows what is sent.  Whoever takes the connection shall
 * answer, and may wait long for a core, where all ranks of a busy machine
 * begin.  A look counts as one however long it took: a rank that got no core
 * has not listened. */
enum { LOOKS = 20, LOOKS_CONNECTED = 100, LOOK_MS = 50 };

struct card { /* goes round at start */
    struct hearthi_addresses at;
    int32_t                  pid;
    char host[sizeof((struct hearthi_liveness_line *)0)->host];
};

static int         listener = -1;
static struct card there; /* the next rank's */

/* Calls that have come, of which one may become the line. */
static struct hearthi_liveness_line call[HEARTHI_RING_CALLS];
static unsigned                     calls; /* so far */
static atomic_bool                  taken; /* one has */

/* ---- where ---- */

static struct hearthi_addresses
own_addresses(void)
{
    struct hearthi_addresses all;

    if (hearthi_one_machine())
        return hearthi_addresses_loopback();
    all = hearthi_addresses_of_host(AF_INET);
    return all.n > 0 || hearthi_opt.transport == HEARTHI_TRANSPORT_UDP
               ? all
               : hearthi_addresses_of_host(AF_INET6);
}

static void
addresses_missed(void)
{
    bool udp = hearthi_opt.transport == HEARTHI_TRANSPORT_UDP;
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
                  hearthi_opt.network.list, udp ? "IPv4 " : "", all);
}

/* Every host must have an address that HEARTH_NETWORK takes, and udp one at
 * all.  The first rank without says so. */
static void
addresses_check(const struct hearthi_addresses *own)
{
    int size = hearthi_world.size, me = hearthi_world.rank, first;
    int without = own->n > 0 ? size : me;

    if (strcmp(hearthi_opt.network.list, "all") == 0 &&
        hearthi_opt.transport != HEARTHI_TRANSPORT_UDP)
        return;
    first = hearthi_collective_int(without, MPI_MIN);
    if (first == me)
        addresses_missed();
    if (first != size)
        hearthi_end_wait();
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
                htonl(hearthi_one_machine() ? INADDR_LOOPBACK : INADDR_ANY),
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
line_begin(enum hearthi_which which, const struct card *card)
{
    struct hearthi_liveness_line *line = &hearthi_liveness_line[which];

    line->pid = card->pid;
    snprintf(line->host, sizeof line->host, "%s", card->host);
}

static void
word_agree(void)
{
    if (hearthi_world.rank == 0 &&
        getrandom(&hearthi_liveness_lines_word,
                  sizeof hearthi_liveness_lines_word,
                  0) != (ssize_t)sizeof hearthi_liveness_lines_word)
        hearthi_fatal("hearth_init", "no random number: %s", strerror(errno));
    hearthi_collective_bcast(&hearthi_liveness_lines_word,
                             sizeof hearthi_liveness_lines_word, 0,
                             hearthi_world.comm);
}

static struct card mine;

void
hearthi_ring_setup_open(void)
{
    int size = hearthi_world.size, me = hearthi_world.rank;

    word_agree();
    mine = (struct card){ .pid = (int32_t)getpid(), .at = own_addresses() };
    addresses_check(&mine.at);
    gethostname(mine.host, sizeof mine.host - 1);
    listen_somewhere(&mine.at);
    hearthi_liveness_line[HEARTHI_LINE_PREV] = (struct hearthi_liveness_line){
        .fd = -1,
        .rank = (me + size - 1) % size,
    };
    hearthi_liveness_line[HEARTHI_LINE_NEXT] = (struct hearthi_liveness_line){
        .fd = -1,
        .rank = (me + 1) % size,
    };
    for (int i = 0; i < HEARTHI_RING_CALLS; i++)
        call[i].fd = -1;
    calls = 0;
    taken = false;
}

bool
hearthi_ring_setup_taken(void)
{
    return taken;
}

void
hearthi_cards_exchange(void)
{
    int         prev = hearthi_liveness_line[HEARTHI_LINE_PREV].rank;
    int         next = hearthi_liveness_line[HEARTHI_LINE_NEXT].rank;
    struct card before;

    hearthi_collective_swap(&mine, prev, &there, next, sizeof mine, 0);
    hearthi_collective_swap(&mine, next, &before, prev, sizeof mine, 1);
    line_begin(HEARTHI_LINE_PREV, &before);
    line_begin(HEARTHI_LINE_NEXT, &there);
}

/* ---- who calls ---- */

void
hearthi_ring_setup_settle(void)
{
    if (listener < 0)
        return;
    close(listener);
    listener = -1;
    for (int i = 0; i < HEARTHI_RING_CALLS; i++)
        if (!call[i].greeted)
            hearthi_liveness_line_close(&call[i]);
}

void
hearthi_ring_setup_close(void)
{
    hearthi_ring_setup_settle();
    for (int i = 0; i < HEARTHI_RING_CALLS; i++)
        hearthi_liveness_line_close(&call[i]);
}

void
hearthi_ring_setup_wait_for(struct pollfd *p)
{
    for (int i = 0; i < HEARTHI_RING_CALLS; i++)
        p[i] = (struct pollfd){ .fd = call[i].fd, .events = POLLIN };
    p[HEARTHI_RING_CALLS] =
        (struct pollfd){ .fd = listener, .events = POLLIN };
}

static void
hello_send(int fd, int rank)
{
    const int             on = 1;
    struct hearthi_record r = { .word = hearthi_liveness_lines_word,
                                .said = HEARTHI_SAID_HELLO,
                                .by = hearthi_world.rank,
                                .about = rank };

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    hearthi_record_send(fd, &r);
}

static bool
is_hello(const struct hearthi_record *r, int rank)
{
    return r->said == HEARTHI_SAID_HELLO && r->by == rank &&
           r->about == hearthi_world.rank;
}

/* A stranger, or a rank that took this host for another, is not answered. */
static void
call_judge(struct hearthi_liveness_line *c, const struct hearthi_record *r)
{
    struct hearthi_liveness_line *prev =
        &hearthi_liveness_line[HEARTHI_LINE_PREV];

    if (!c->greeted && is_hello(r, prev->rank)) {
        c->greeted = true;
        hello_send(c->fd, prev->rank);
    } else if (c->greeted && r->said == HEARTHI_SAID_BEAT && prev->fd < 0) {
        prev->fd = c->fd;
        c->fd = -1;
        taken = true;
    } else
        hearthi_liveness_line_close(c);
}

static void
call_read(struct hearthi_liveness_line *c)
{
    struct hearthi_record r;

    while (c->fd >= 0)
        switch (hearthi_liveness_line_take(c, &r)) {
        case HEARTHI_HEARD_RECORD: call_judge(c, &r); break;
        case HEARTHI_HEARD_NOTHING: return;
        default: hearthi_liveness_line_close(c);
        }
}

/* Strangers make way; the rank before has fewer addresses than there is room.
 */
static void
call_add(int fd)
{
    struct hearthi_liveness_line *c;

    do
        c = &call[calls++ % HEARTHI_RING_CALLS];
    while (c->fd >= 0 && c->greeted);
    hearthi_liveness_line_close(c);
    *c = (struct hearthi_liveness_line){ .fd = fd };
}

void
hearthi_ring_setup_answer(void)
{
    int fd = -1;

    if (listener >= 0)
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        call_add(fd);
    for (int i = 0; i < HEARTHI_RING_CALLS; i++)
        call_read(&call[i]);
}

/* ---- to call ---- */

/* Calls of this rank's to the next one. */
struct out {
    int                          n;
    struct hearthi_liveness_line to[HEARTHI_ADDRESSES];
};

static void
out_begin(struct out *o)
{
    o->n = there.at.n;
    for (int i = 0; i < o->n; i++) {
        const union hearthi_address *a = &there.at.at[i];
        int                          fd = socket(a->any.sa_family,
                                                 SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        o->to[i] = (struct hearthi_liveness_line){ .fd = fd };
        if (fd >= 0 && connect(fd, &a->any, hearthi_address_size(a)) != 0 &&
            errno != EINPROGRESS)
            hearthi_liveness_line_close(&o->to[i]);
    }
}

/* Until something is there or may be sent; false: no call is left, or there
 * have been looks enough. */
static bool
out_wait(const struct out *o, int *looks)
{
    struct pollfd p[HEARTHI_ADDRESSES];
    int           left = 0, most = LOOKS;

    for (int i = 0; i < o->n; i++) {
        const struct hearthi_liveness_line *c = &o->to[i];

        p[i] = (struct pollfd){ .fd = c->fd,
                                .events = c->greeted ? POLLIN : POLLOUT };
        left += c->fd >= 0;
        if (c->fd >= 0 && c->greeted)
            most = LOOKS_CONNECTED;
    }
    if (left > 0 && poll(p, (nfds_t)o->n, LOOK_MS) == 0)
        ++*looks;
    return left > 0 && *looks < most;
}

/* Say hello once the connection is there; is it answered? */
static bool
out_go_on(struct hearthi_liveness_line *c, int rank)
{
    struct pollfd         p = { .fd = c->fd, .events = POLLOUT };
    struct hearthi_record r;
    enum hearthi_heard    heard;

    if (c->fd < 0 || (!c->greeted && poll(&p, 1, 0) != 1))
        return false;
    if (!c->greeted)
        hello_send(c->fd, rank);
    c->greeted = true;
    heard = hearthi_liveness_line_take(c, &r);
    if (heard == HEARTHI_HEARD_RECORD && is_hello(&r, rank))
        return true;
    if (heard != HEARTHI_HEARD_NOTHING)
        hearthi_liveness_line_close(c);
    return false;
}

bool
hearthi_ring_setup_call(void)
{
    struct hearthi_liveness_line *next =
        &hearthi_liveness_line[HEARTHI_LINE_NEXT];
    struct out o;
    int        looks = 0;

    for (out_begin(&o); next->fd < 0 && out_wait(&o, &looks);)
        for (int i = 0; i < o.n && next->fd < 0; i++)
            if (out_go_on(&o.to[i], next->rank)) {
                next->fd = o.to[i].fd;
                o.to[i].fd = -1;
                hearthi_liveness_line_send(next, HEARTHI_SAID_BEAT,
                                           hearthi_world.rank, 0, 0);
            }
    for (int i = 0; i < o.n; i++)
        hearthi_liveness_line_close(&o.to[i]);
    return next->fd >= 0;
}
