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
#include "base/descriptor.h"
#include "base/network.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "mcs_grant.h"
#include "mpi.h"
#include "node/node.h"
#include "progress.h"
#include "rendezvous.h"

enum { ALL = HEARTHI_ADDRESSES };

/* How long an announcement holds; an answer within SOON came from a rank that
 * is inside MPI, since one that has to be woken costs as much; how far apart
 * the operations of a row are, those of one that is tried, and announcements
 * in a row; and how long the doorbells are tried.  Nanoseconds. */
enum {
    KEEP_NS = 25000,
    SOON_NS = 30000,
    ROW_NS = 200000,
    TRY_NS = 1000000,
    BARE_NS = 5000000,
    HEARD_NS = 320000000
};

/* Announcements between two operations that are tried without one, at most. */
enum { TRY_MOST = 1024 };

/* Relaxed: times and counts that only decide how often a rank rings, and an
 * address of a card that does not change. */
struct doorbell {                 /* of a rank */
    atomic_int       use;         /* the address that answered, or ALL */
    _Atomic uint64_t rung;        /* when, by this rank */
    _Atomic uint64_t bare;        /* when a step began unannounced, or 0 */
    _Atomic uint64_t soon;        /* when such a one was answered, and soon */
    atomic_int       left, tries; /* announcements until a try */
};

/* What a datagram says; a ring may ask for an answer too. */
enum {
    RING = 1,
    STAY = 2,
    ASK = 4,
    ANSWER = 8,
    AM = 16,
    WANT = 32,
    GRANT = 64
};

struct datagram {
    uint64_t word;
    int32_t  says, from, to, address, lock;
};

static int                       own_socket = -1;
static struct hearthi_addresses *card; /* of each rank */
static struct doorbell          *doorbell;
static uint64_t                  word;

/* ---- the ranks together ---- */

static bool
all_agree(bool mine)
{
    return hearthi_collective_here(mine, MPI_LAND);
}

/* Bind to any port and put it on the card. */
static bool
socket_bind(struct hearthi_addresses *c)
{
    if (c->n == 0)
        return false;
    own_socket = hearthi_descriptor(
        socket(c->at[0].any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    return own_socket >= 0 && hearthi_bind(own_socket, c, 0);
}

static void
cards_exchange(const struct hearthi_addresses *mine)
{
    size_t n = (size_t)hearthi_cluster.size;

    doorbell = calloc(n, sizeof *doorbell);
    if (doorbell == NULL)
        hearthi_fatal("hearth_init", "no memory");
    card = hearthi_rendezvous_all(mine, sizeof *mine);
    for (size_t r = 0; r < n; r++)
        atomic_init(&doorbell[r].use, card[r].n == 1 ? 0 : ALL);
}

/* ---- ringing ---- */

static void
datagram_send(int says, int to, int i, int lock)
{
    const union hearthi_address *a = &card[to].at[i];
    struct datagram d = { word, says, hearthi_cluster.rank, to, i, lock };

    hearthi_mpi_count(to, sizeof d);
    sendto(own_socket, &d, sizeof d, MSG_DONTWAIT | MSG_NOSIGNAL, &a->any,
           hearthi_address_size(a));
}

/* Of a lock, or 0.  errno may change: the fault handler keeps the program's.
 */
static void
ring(int rank, int says, int lock)
{
    int use = atomic_load_explicit(&doorbell[rank].use, memory_order_relaxed);

    if (use != ALL) {
        datagram_send(says, rank, use, lock);
        return;
    }
    for (int i = 0; i < card[rank].n; i++)
        datagram_send(says | ASK, rank, i, lock);
}

void
hearthi_doorbell_ring(int rank)
{
    ring(rank, RING, 0);
}

void
hearthi_doorbell_stay(int rank)
{
    if (hearthi_help.doorbells)
        ring(rank, STAY, 0);
}

static void
announce(int rank, uint64_t now)
{
    atomic_store_explicit(&doorbell[rank].rung, now, memory_order_relaxed);
    ring(rank, STAY, 0);
}

static bool
is_announced(const struct doorbell *b, uint64_t now)
{
    return now - atomic_load_explicit(&b->rung, memory_order_relaxed) <
           KEEP_NS;
}

void
hearthi_doorbell_announce(int rank)
{
    uint64_t now = hearthi_now();

    if (hearthi_help.doorbells && !is_announced(&doorbell[rank], now))
        announce(rank, now);
}

/* A rank that is inside MPI answers by itself, and its helper would have to
 * take its core to hear of an announcement.  Whether it is inside shows in how
 * soon it answers what was not announced: in a row of steps one is tried so
 * now and then, less often each time that it fails, and while the answers come
 * soon one is announced each BARE_NS.  One that should have been, and was not,
 * waits for as long as the target's helper naps: 5 ms if its rank was inside
 * Hearth; or if it was in calls of its program's own, of which the helper does
 * not know, no longer than the last announcement is past.  Threads that do
 * this at one time may only announce too often or too seldom. */
static bool
step_is_bare(struct doorbell *b, uint64_t now)
{
    int      left = atomic_load_explicit(&b->left, memory_order_relaxed);
    uint64_t past = now - atomic_load_explicit(&b->rung, memory_order_relaxed);

    if (now - atomic_load_explicit(&b->soon, memory_order_relaxed) < ROW_NS)
        return past < BARE_NS;
    if (left > 0)
        atomic_store_explicit(&b->left, left - 1, memory_order_relaxed);
    return left <= 0 && past < TRY_NS;
}

void
hearthi_doorbell_step(int rank)
{
    uint64_t now = hearthi_now();

    if (!hearthi_help.doorbells || is_announced(&doorbell[rank], now))
        return;
    if (step_is_bare(&doorbell[rank], now))
        atomic_store_explicit(&doorbell[rank].bare, now, memory_order_relaxed);
    else
        announce(rank, now);
}

void
hearthi_doorbell_answered(int rank)
{
    struct doorbell *b;
    uint64_t         bare, now;
    int              tries;

    if (!hearthi_help.doorbells)
        return;
    b = &doorbell[rank];
    bare = atomic_load_explicit(&b->bare, memory_order_relaxed);
    if (bare == 0)
        return;
    now = hearthi_now();
    tries = atomic_load_explicit(&b->tries, memory_order_relaxed);
    if (now - bare < SOON_NS) {
        tries /= 2;
        atomic_store_explicit(&b->soon, now, memory_order_relaxed);
    } else {
        tries = tries < TRY_MOST ? 2 * tries + 1 : TRY_MOST;
        atomic_store_explicit(&b->soon, now - ROW_NS, memory_order_relaxed);
    }
    atomic_store_explicit(&b->tries, tries, memory_order_relaxed);
    atomic_store_explicit(&b->left, tries / 2, memory_order_relaxed);
    atomic_store_explicit(&b->bare, 0, memory_order_relaxed);
}

void
hearthi_doorbell_mail(int rank)
{
    ring(rank, AM, 0);
}

void
hearthi_doorbell_want(int rank, int lock)
{
    ring(rank, WANT, lock);
}

void
hearthi_doorbell_grant(int rank, int lock)
{
    ring(rank, GRANT, lock);
}

/* ---- listening ---- */

/* Grants are for turns of writers, too (node.h). */
static bool
datagram_is_ours(const struct datagram *d, ssize_t len)
{
    return len == (ssize_t)sizeof *d && d->word == word &&
           d->to == hearthi_cluster.rank && d->from >= 0 &&
           d->from < hearthi_cluster.size && d->address >= 0 &&
           d->address < HEARTHI_ADDRESSES && d->lock >= 0 &&
           d->lock < hearthi_turns();
}

static void
ask_answer(const struct datagram *d, const union hearthi_address *from)
{
    struct datagram a = { word,    ANSWER,     hearthi_cluster.rank,
                          d->from, d->address, 0 };

    sendto(own_socket, &a, sizeof a, MSG_DONTWAIT | MSG_NOSIGNAL, &from->any,
           hearthi_address_size(from));
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

    len = recvfrom(own_socket, &d, sizeof d, MSG_DONTWAIT, &from.any, &size);
    if (len < 0)
        return -1;
    if (!datagram_is_ours(&d, len))
        return 0;
    if (d.says & ASK)
        ask_answer(&d, &from);
    if (d.says & AM)
        hearthi_am_mailbox_from(d.from);
    if (d.says & WANT) /* any rank of the node may keep it */
        hearthi_node_lock_want(d.lock);
    if (d.says & GRANT)
        hearthi_mcs_granted();
    if (d.says & ANSWER)
        atomic_store_explicit(&doorbell[d.from].use, d.address,
                              memory_order_relaxed);
    return d.says & (RING | STAY | AM);
}

/* Those that have rung meanwhile are served together.  But a flood of
 * datagrams, from wherever, must not hold the helper here: what is left after
 * so many makes the next wait return at once. */
enum { LOOK_MOST = 256 };

enum hearthi_rung
hearthi_doorbell_look(void)
{
    int got, said = 0;

    for (int i = 0; i < LOOK_MOST && (got = datagram_take()) >= 0; i++)
        said |= got;
    return said & STAY   ? HEARTHI_ANNOUNCED
           : said & RING ? HEARTHI_RUNG
           : said & AM   ? HEARTHI_AM_MAILED
                         : HEARTHI_SILENT;
}

enum hearthi_rung
hearthi_doorbell_wait(uint64_t ns)
{
    struct pollfd   p = { .fd = own_socket, .events = POLLIN };
    struct timespec most = hearthi_timespec(ns);

    ppoll(&p, 1, &most, NULL);
    return hearthi_doorbell_look();
}

/* ---- start and stop ---- */

/* A firewall may swallow what comes from other hosts: each rank rings at the
 * next one and must hear the one before. */
static bool
doorbells_heard(void)
{
    int      next = (hearthi_cluster.rank + 1) % hearthi_cluster.size;
    uint64_t start = hearthi_now();
    bool     heard = false;

    while (!heard && hearthi_now() - start < HEARD_NS) {
        ring(next, RING, 0);
        heard = hearthi_doorbell_wait(HEARD_NS / 16) != HEARTHI_SILENT;
    }
    ring(next, RING, 0); /* in case the first was lost */
    return heard;
}

bool
hearthi_doorbell_open(void)
{
    struct hearthi_addresses mine = hearthi_rendezvous_addresses_alike();
    bool                     good = all_agree(socket_bind(&mine));

    if (good) {
        hearthi_rendezvous_secret(&word, sizeof word);
        cards_exchange(&mine);
        good = all_agree(doorbells_heard());
    }
    if (good)
        hearthi_help.crowds =
            hearthi_collective_here(hearthi_crowded(), MPI_LOR);
    else
        hearthi_doorbell_close();
    return good;
}

void
hearthi_doorbell_close(void)
{
    if (own_socket >= 0)
        close(own_socket);
    own_socket = -1;
    free(card);
    free(doorbell);
    card = NULL;
    doorbell = NULL;
}
