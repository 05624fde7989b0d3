/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The ring is made at start: each rank tells the one before where it listens,
 * and calls the next one, at all its addresses at once.
 *
 * Hello, its answer, and a confirmation: one call is confirmed, and that is
 * the line.  The rank that is called may be late: then the caller has given up
 * and closed, but its hello lies in the connection still.  So a hello makes no
 * line, and the end of a call that was not confirmed is not the end of a rank.
 */
#include "config.h"

#include "ring_setup.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/network.h"
#include "base/option.h"
#include "liveness_line.h"
#include "rendezvous.h"
#include "world.h"

/* How often nothing comes of a call, each time in so many milliseconds: all of
 * it far more than a round trip takes, and no time for a job to begin even if
 * a firewall swallows what is sent.  The rank that takes the connection shall
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
static struct card there, before; /* of the next rank, and of that before */

/* Calls that have come, of which one may become the line. */
static struct hearthi_liveness_line call[HEARTHI_RING_CALLS];
static unsigned                     calls; /* so far */
static atomic_bool                  taken; /* one has */
static bool                         settled;
static uint64_t listen_next; /* when calls are taken again */

/* ---- where ---- */

static void
line_begin(enum hearthi_which which, const struct card *card)
{
    struct hearthi_liveness_line *line = &hearthi_liveness_line[which];

    line->pid = card->pid;
    snprintf(line->host, sizeof line->host, "%s", card->host);
}

static struct card mine;

void
hearthi_ring_setup_open(void)
{
    int size = hearthi_world.size, me = hearthi_world.rank;

    hearthi_rendezvous_secret(&hearthi_liveness_lines_word,
                              sizeof hearthi_liveness_lines_word);
    mine = (struct card){ .pid = (int32_t)getpid(),
                          .at = hearthi_rendezvous_addresses_checked() };
    gethostname(mine.host, sizeof mine.host - 1);
    listener = hearthi_rendezvous_listen(&mine.at, HEARTHI_ADDRESSES);
    if (listener < 0)
        mine.at.n = 0;
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
    taken = settled = false;
    listen_next = 0;
}

bool
hearthi_ring_setup_taken(void)
{
    return taken;
}

void
hearthi_cards_exchange(void)
{
    hearthi_rendezvous_ring(&mine, &before, &there, sizeof mine);
    line_begin(HEARTHI_LINE_PREV, &before);
    line_begin(HEARTHI_LINE_NEXT, &there);
}

union hearthi_address
hearthi_ring_setup_address(const struct hearthi_liveness_line *line)
{
    const struct card *card =
        line == &hearthi_liveness_line[HEARTHI_LINE_NEXT] ? &there : &before;
    union hearthi_address at = line->at;

    at.v4.sin_port = card->at.at[0].v4.sin_port;
    return at;
}

/* ---- the caller ---- */

void
hearthi_ring_setup_settle(void)
{
    settled = true;
}

void
hearthi_ring_setup_close(void)
{
    if (listener >= 0)
        close(listener);
    listener = -1;
    for (int i = 0; i < HEARTHI_RING_CALLS; i++)
        hearthi_liveness_line_close(&call[i]);
}

void
hearthi_ring_setup_wait_for(struct pollfd *p)
{
    for (int i = 0; i < HEARTHI_RING_CALLS; i++)
        p[i] = (struct pollfd){ .fd = call[i].fd, .events = POLLIN };
    p[HEARTHI_RING_CALLS] = (struct pollfd){
        .fd = hearthi_now() < listen_next ? -1 : listener,
        .events = POLLIN,
    };
}

void
hearthi_hello_send(int fd, int rank)
{
    const int             on = 1;
    struct hearthi_record r = { .word = hearthi_liveness_lines_word,
                                .said = HEARTHI_SAID_HELLO,
                                .by = hearthi_world.rank,
                                .about = rank };

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    hearthi_record_send(fd, &r);
}

bool
hearthi_is_hello(const struct hearthi_record *r, int rank)
{
    return r->said == HEARTHI_SAID_HELLO && r->by == rank &&
           r->about == hearthi_world.rank;
}

/* One that has lost its line makes it again; the old one has not ended here
 * yet, perhaps. */
static void
prev_take(struct hearthi_liveness_line *c)
{
    hearthi_liveness_line_renew(&hearthi_liveness_line[HEARTHI_LINE_PREV],
                                c->fd);
    c->fd = -1;
    taken = true;
}

/* A stranger, or a rank that took this host for another, is not answered.  The
 * rank after this one asks whether it lives, no more. */
static void
call_judge(struct hearthi_liveness_line *c, const struct hearthi_record *r)
{
    const struct hearthi_liveness_line *prev =
        &hearthi_liveness_line[HEARTHI_LINE_PREV];
    const struct hearthi_liveness_line *next =
        &hearthi_liveness_line[HEARTHI_LINE_NEXT];

    if (!c->greeted && (hearthi_is_hello(r, prev->rank) ||
                        (settled && hearthi_is_hello(r, next->rank)))) {
        c->greeted = true;
        c->rank = r->by;
        hearthi_hello_send(c->fd, c->rank);
    } else if (c->greeted && c->rank == prev->rank &&
               r->said == HEARTHI_SAID_BEAT && (prev->fd < 0 || settled)) {
        prev_take(c);
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

/* After the start there is no hurry, and strangers may call as often as they
 * like: some are taken, and then none for a while. */
static void
calls_take(void)
{
    enum { SOME = 16, WHILE = 20000000 /* ns */ };
    uint64_t now = hearthi_now();
    int      n = 0, fd;

    if (listener < 0 || now < listen_next)
        return;
    while (n < SOME &&
           (fd = hearthi_descriptor(accept4(
                listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK))) >= 0) {
        call_add(fd);
        n++;
    }
    if (settled && n > 0)
        listen_next = now + WHILE;
}

void
hearthi_ring_setup_answer(void)
{
    calls_take();
    for (int i = 0; i < HEARTHI_RING_CALLS; i++)
        call_read(&call[i]);
}

uint64_t
hearthi_ring_setup_due(void)
{
    return listener >= 0 && listen_next > hearthi_now() ? listen_next
                                                        : UINT64_MAX;
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

        o->to[i] = (struct hearthi_liveness_line){
            .fd = hearthi_connect_begin(&a->any, hearthi_address_size(a)),
        };
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
        hearthi_hello_send(c->fd, rank);
    c->greeted = true;
    heard = hearthi_liveness_line_take(c, &r);
    if (heard == HEARTHI_HEARD_RECORD && hearthi_is_hello(&r, rank))
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
                hearthi_liveness_line_renew(next, o.to[i].fd);
                o.to[i].fd = -1;
                hearthi_liveness_line_beat(next);
            }
    for (int i = 0; i < o.n; i++)
        hearthi_liveness_line_close(&o.to[i]);
    return next->fd >= 0;
}
