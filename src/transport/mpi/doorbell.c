/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The doorbell: each rank's helper sleeps at a datagram socket.
 *
 * Nothing depends on a datagram: one that is lost is sent again, and one that
 * comes from elsewhere, or too often, costs a wake-up.  A random word tells
 * those of this job from others.
 *
 * A host may have several addresses, and another host may reach only some of
 * them; so the first rings go to all, and the helper answers the first that
 * arrives.  The answer says which address to use from then on.
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "am_mailbox.h"
#include "base/clock.h"
#include "base/network.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "mpi.h"
#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "progress.h"

enum { ALL = HEARTHI_ADDRESSES };

/* How long an announcement holds, and how long the bells are tried. */
enum { KEEP_NS = 25000, HEARD_NS = 320000000 };

enum { IPV4 = 1, IPV6 = 2 };

/* Where a rank's bell is; the card goes round at start. */
struct bell {
    struct hearthi_addresses card;
    atomic_int               use;  /* the address that answered, or ALL */
    _Atomic uint64_t         rung; /* when, by this rank */
};

/* What a datagram says; a ring may ask for an answer too. */
enum { RING = 1, STAY = 2, ASK = 4, ANSWER = 8, MAIL = 16, WANT = 32 };

struct datagram {
    uint64_t word;
    int32_t  says, from, to, address, lock;
};

static int          bell_socket = -1;
static struct bell *bells;
static uint64_t     word;

/* ---- addresses ---- */

/* The addresses of one family by which this host may be reached. */
static struct hearthi_addresses
card_make(int family)
{
    return hearthi_one_machine() ? hearthi_addresses_loopback()
                                 : hearthi_addresses_of_host(family);
}

/* Bind to any port and put it on the card. */
static bool
socket_bind(struct hearthi_addresses *c, int family)
{
    union hearthi_address own = { .v6 = { .sin6_family = AF_INET6 } };
    socklen_t             size;

    if (c->n == 0)
        return false;
    if (family == AF_INET)
        own.v4 = (struct sockaddr_in){
            .sin_family = AF_INET,
            .sin_addr.s_addr =
                htonl(hearthi_one_machine() ? INADDR_LOOPBACK : INADDR_ANY),
        };
    size = hearthi_address_size(&own);
    bell_socket = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (bell_socket < 0 || bind(bell_socket, &own.any, size) != 0 ||
        getsockname(bell_socket, &own.any, &size) != 0)
        return false;
    hearthi_addresses_port(c, own.v4.sin_port);
    return true;
}

/* ---- the ranks together ---- */

static int
all_agree(int mine)
{
    return hearthi_collective_here(mine, MPI_BAND);
}

static void
cards_exchange(struct hearthi_addresses *mine)
{
    size_t                    n = (size_t)hearthi_cluster.size;
    struct hearthi_addresses *all = calloc(n, sizeof *all);

    bells = calloc(n, sizeof *bells);
    if (all == NULL || bells == NULL)
        hearthi_fatal("hearth_init", "no memory");
    hearthi_collective_gather(mine, sizeof *mine, all, hearthi_cluster.comm);
    for (size_t r = 0; r < n; r++) {
        bells[r].card = all[r];
        atomic_init(&bells[r].use, all[r].n == 1 ? 0 : ALL);
    }
    free(all);
}

/* ---- ringing ---- */

static void
datagram_send(int says, int to, int i, int lock)
{
    const union hearthi_address *a = &bells[to].card.at[i];
    struct datagram d = { word, says, hearthi_cluster.rank, to, i, lock };

    hearthi_mpi_count(to, sizeof d);
    sendto(bell_socket, &d, sizeof d, MSG_DONTWAIT | MSG_NOSIGNAL, &a->any,
           hearthi_address_size(a));
}

/* errno may change: the fault handler keeps the program's. */
static void
ring_for(int rank, int says, int lock)
{
    struct bell *b = &bells[rank];
    int          use = atomic_load_explicit(&b->use, memory_order_relaxed);

    if (use != ALL) {
        datagram_send(says, rank, use, lock);
        return;
    }
    for (int i = 0; i < b->card.n; i++)
        datagram_send(says | ASK, rank, i, lock);
}

static void
ring(int rank, int says)
{
    ring_for(rank, says, 0);
}

void
hearthi_doorbell_ring(int rank)
{
    ring(rank, RING);
}

void
hearthi_doorbell_announce(int rank)
{
    uint64_t now = hearthi_now(), rung;

    if (!hearthi_help.bells)
        return;
    rung = atomic_load_explicit(&bells[rank].rung, memory_order_relaxed);
    if (now - rung < KEEP_NS)
        return;
    atomic_store_explicit(&bells[rank].rung, now, memory_order_relaxed);
    ring(rank, STAY);
}

void
hearthi_doorbell_mail(int rank)
{
    ring(rank, MAIL);
}

void
hearthi_doorbell_want(int rank, int lock)
{
    ring_for(rank, WANT, lock);
}

/* ---- listening ---- */

static bool
datagram_is_ours(const struct datagram *d, ssize_t len)
{
    return len == (ssize_t)sizeof *d && d->word == word &&
           d->to == hearthi_cluster.rank && d->from >= 0 &&
           d->from < hearthi_cluster.size && d->address >= 0 &&
           d->address < HEARTHI_ADDRESSES && d->lock >= 0 &&
           d->lock < hearthi_syncs;
}

static void
ask_answer(const struct datagram *d, const union hearthi_address *from)
{
    struct datagram a = { word,    ANSWER,     hearthi_cluster.rank,
                          d->from, d->address, 0 };

    sendto(bell_socket, &a, sizeof a, MSG_DONTWAIT | MSG_NOSIGNAL, &from->any,
           hearthi_address_size(from));
}

/* Where this rank's node has a lock, any rank of it may keep that. */
static void
lock_want(int lock)
{
    int keeper = atomic_load(&hearthi_mpi.lock[lock].keeper);

    if (keeper != 0)
        hearthi_delegation_want_of(keeper - 1, lock);
}

/* Take one datagram: what it says if it is a ring, 0 if not, -1 if there is
 * none. */
static int
datagram_take(void)
{
    union hearthi_address from;
    socklen_t             size = sizeof from;
    struct datagram       d;
    ssize_t               len;

    len = recvfrom(bell_socket, &d, sizeof d, MSG_DONTWAIT, &from.any, &size);
    if (len < 0)
        return -1;
    if (!datagram_is_ours(&d, len))
        return 0;
    if (d.says & ASK)
        ask_answer(&d, &from);
    if (d.says & MAIL)
        hearthi_am_mailbox_from(d.from);
    if (d.says & WANT)
        lock_want(d.lock);
    if (d.says & ANSWER)
        atomic_store_explicit(&bells[d.from].use, d.address,
                              memory_order_relaxed);
    return d.says & (RING | STAY | MAIL);
}

/* Those that have rung meanwhile are served together. */
enum hearthi_rung
hearthi_doorbell_look(void)
{
    int got, said = 0;

    while ((got = datagram_take()) >= 0)
        said |= got;
    return said & STAY   ? HEARTHI_ANNOUNCED
           : said & RING ? HEARTHI_RUNG
           : said & MAIL ? HEARTHI_AM_MAILED
                         : HEARTHI_SILENT;
}

enum hearthi_rung
hearthi_doorbell_wait(uint64_t ns)
{
    struct pollfd   p = { .fd = bell_socket, .events = POLLIN };
    struct timespec most = { .tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000) };

    ppoll(&p, 1, &most, NULL);
    return hearthi_doorbell_look();
}

/* ---- start and stop ---- */

/* A firewall may swallow what comes from other hosts: each rank rings at the
 * next one and must hear the one before. */
static bool
bells_heard(void)
{
    int      next = (hearthi_cluster.rank + 1) % hearthi_cluster.size;
    uint64_t start = hearthi_now();
    bool     heard = false;

    while (!heard && hearthi_now() - start < HEARD_NS) {
        ring(next, RING);
        heard = hearthi_doorbell_wait(HEARD_NS / 16) != HEARTHI_SILENT;
    }
    ring(next, RING); /* in case the first was lost */
    return heard;
}

bool
hearthi_doorbell_open(void)
{
    struct hearthi_addresses v4 = card_make(AF_INET), v6 = card_make(AF_INET6),
                             *mine;
    int  can = all_agree((v4.n > 0 ? IPV4 : 0) | (v6.n > 0 ? IPV6 : 0));
    bool good;

    mine = can & IPV4 ? &v4 : &v6;
    good = can != 0 && socket_bind(mine, can & IPV4 ? AF_INET : AF_INET6);
    if (!all_agree(good)) {
        hearthi_doorbell_close();
        return false;
    }
    word = hearthi_word_unlikely();
    hearthi_collective_bcast(&word, sizeof word, 0, hearthi_cluster.comm);
    cards_exchange(mine);
    if (!all_agree(bells_heard())) {
        hearthi_doorbell_close();
        return false;
    }
    return true;
}

void
hearthi_doorbell_close(void)
{
    if (bell_socket >= 0)
        close(bell_socket);
    bell_socket = -1;
    free(bells);
    bells = NULL;
}
