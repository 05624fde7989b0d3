/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages.  A fetch is cut into pieces, each a GETP that is answered by up to
 * 128 fragments; as many pieces are on their way as the receive buffer takes
 * in.  They are large, since each request may have to wake the home.  What was
 * lost is asked for again, and no more.
 *
 * The answers are not remembered by the home: a page read again is a page
 * read later, and the fetch has not ended, so what it brings is still what an
 * acquire before it must see.  A fragment of an earlier fetch has an earlier
 * number and is dropped.
 */
#include "config.h"

#include <string.h>

#include "base/assert.h"
#include "base/min.h"
#include "base/stat.h"
#include "client.h"
#include "cluster.h"
#include "flow_control.h"
#include "send_window.h"
#include "socket.h"
#include "space/heap.h"
#include "space/segment.h"
#include "udp.h"
#include "udp_job.h"
#include "wire.h"

enum { DEPTH = HEARTHI_UDP_PIECES, PIECE = 512 << 10 };

struct piece {
    struct hearthi_udp_in_flight flight;         /* first */
    struct hearthi_udp_set       missing, asked; /* by its last request */
    unsigned                     last;           /* fragment of that */
    char                        *to;
    struct fetcher              *of;
};

/* A fetch under the lock of the page table, or one beside it. */
struct fetcher {
    struct piece piece[DEPTH];
    unsigned     n_busy;
    size_t       on_the_way; /* bytes */
};

static struct fetcher locked, of_way[HEARTHI_WAYS];
static size_t         window, piece_most; /* bytes */

/* The kernel counts a datagram with its own overhead, up to as much again. */
void
hearthi_udp_pages_open(void)
{
    window = hearthi_udp_room(hearthi_udp_bulk(0)->in.fd) / 2;
    piece_most = hearthi_min(HEARTHI_UDP_FRAGMENTS * hearthi_udp.fragment,
                             hearthi_min(PIECE, window / 2));
    memset(&locked, 0, sizeof locked);
    memset(of_way, 0, sizeof of_way);
}

static size_t
fragment_len(const struct piece *p, size_t i)
{
    const struct hearthi_udp_message *ask = &p->flight.ask;

    return hearthi_min(ask->pos, ask->len - i * ask->pos);
}

/* Put into `asked` the first of the missing fragments that have room, one at
 * least; their bytes. */
static size_t
fragments_choose(struct piece *p, size_t room)
{
    size_t   bytes = 0, left = hearthi_udp_count(&p->missing);
    unsigned i = 0;

    for (; left > 0; i++) {
        size_t some = HEARTHI_UDP_HEAD + fragment_len(p, i);

        if (!hearthi_udp_has(&p->missing, i))
            continue;
        if (bytes > 0 && some > room - bytes)
            break;
        hearthi_udp_put(&p->asked, i);
        bytes += some;
        left--;
        if (bytes >= room)
            break;
    }
    HEARTHI_ASSERT(bytes > 0);
    return bytes;
}

/* The set of fragments is the body. */
static size_t
piece_prepare(struct hearthi_udp_in_flight *f)
{
    struct piece *p = (struct piece *)f;
    size_t        bytes;

    p->asked = (struct hearthi_udp_set){ .bit = { 0 } };
    bytes = fragments_choose(p, f->room);
    p->last = hearthi_udp_last(&p->asked);
    return bytes;
}

static void
piece_take(struct hearthi_udp_in_flight     *f,
           const struct hearthi_udp_message *m)
{
    struct piece *p = (struct piece *)f;
    unsigned      i = (unsigned)(m->at / m->pos);

    if (m->pos != f->ask.pos || m->at >= f->ask.len ||
        m->len != fragment_len(p, i)) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_SEQUENCE);
        return;
    }
    if (!hearthi_udp_has(&p->missing, i)) {
        hearthi_count(repeats, 1);
        return;
    }
    memcpy(p->to + m->at, m->body, m->len);
    hearthi_udp_take(&p->missing, i);
    hearthi_udp_in_flight_came(f, HEARTHI_UDP_HEAD + m->len);
    if (hearthi_udp_count(&p->missing) == 0) {
        HEARTHI_ASSERT(p->of->n_busy > 0);
        HEARTHI_ASSERT(p->of->on_the_way >= f->ask.len);
        hearthi_udp_in_flight_land(f, 0);
        p->of->n_busy--;
        p->of->on_the_way -= f->ask.len;
    }
    hearthi_udp_in_flight_heard(f, m->turn, i == p->last);
}

static void
piece_begin(struct fetcher *f, struct hearthi_udp_send_window *fs,
            const struct hearthi_fetch *r, size_t at, size_t len)
{
    unsigned      n = (unsigned)((len - 1) / hearthi_udp.fragment + 1);
    struct piece *p = f->piece;

    while (p->flight.busy)
        p++;
    HEARTHI_ASSERT(p < f->piece + DEPTH && len > 0);
    HEARTHI_ASSERT(n <= HEARTHI_UDP_FRAGMENTS);
    *p = (struct piece){ .to = r->to + at, .of = f };
    p->flight =
        (struct hearthi_udp_in_flight){ .what = "page fault",
                                        .prepare = piece_prepare,
                                        .answer = HEARTHI_UDP_GETPGRANT,
                                        .take = piece_take };
    p->flight.ask = (struct hearthi_udp_message){
        .op = HEARTHI_UDP_GETP,
        .kind = r->announce ? HEARTHI_UDP_ANNOUNCE : 0,
        .reliable = hearthi_udp_acked(HEARTHI_UDP_GETP),
        .from = (uint32_t)hearthi_cluster.rank,
        .to = (uint32_t)r->home,
        .at = hearthi_frame_at(r->frame, hearthi_heap.shift) + at,
        .len = (uint32_t)len,
        .pos = (uint32_t)hearthi_udp.fragment,
        .body = (const uint8_t *)&p->asked,
        .body_len = sizeof p->asked,
    };
    for (unsigned i = 0; i < n; i++)
        hearthi_udp_put(&p->missing, i);
    f->n_busy++;
    f->on_the_way += len;
    hearthi_udp_in_flight_launch(fs, &p->flight);
}

/* Half of what the network takes, so that another is on its way while one
 * comes. */
static size_t
piece_len(uint32_t home, size_t left)
{
    size_t each = hearthi_udp.fragment;
    size_t some = hearthi_udp_flow_window(home) / 2 / each * each;

    return hearthi_min(left, hearthi_min(piece_most, some > 0 ? some : each));
}

static bool
piece_may(const struct fetcher *f, const struct hearthi_udp_send_window *fs,
          uint32_t home, size_t some)
{
    return f->n_busy < DEPTH &&
           hearthi_udp_in_flight_may(fs, home, sizeof f->piece->asked, some) &&
           (f->n_busy == 0 || f->on_the_way + some <= window);
}

static void
runs_ask(struct fetcher *f, struct hearthi_udp_send_window *fs,
         const struct hearthi_fetch *run, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t home = (uint32_t)run[i].home;
        size_t   len = (size_t)run[i].count << hearthi_heap.shift, some;

        for (size_t at = 0; at < len; at += some) {
            while (!piece_may(f, fs, home, some = piece_len(home, len - at)))
                hearthi_udp_send_window_turn(fs);
            piece_begin(f, fs, &run[i], at, some);
        }
    }
}

static void
runs_wait(const struct fetcher *f, struct hearthi_udp_send_window *fs)
{
    while (f->n_busy > 0)
        hearthi_udp_send_window_turn(fs);
    HEARTHI_ASSERT(f->on_the_way == 0);
}

/* What was told before goes out with the requests, and has arrived when the
 * fetch returns: a later fetch relies on it. */
void
hearthi_udp_fetch(const struct hearthi_fetch *run, size_t n)
{
    hearthi_udp_diffs_send();
    runs_ask(&locked, &hearthi_udp_locked, run, n);
    runs_wait(&locked, &hearthi_udp_locked);
    hearthi_udp_flush();
}

void
hearthi_udp_fetch_concurrent(int way, const struct hearthi_fetch *run,
                             size_t n)
{
    runs_ask(&of_way[way], hearthi_udp_send_window_of(way), run, n);
    runs_wait(&of_way[way], hearthi_udp_send_window_of(way));
}

bool
hearthi_udp_fetch_begin(const struct hearthi_fetch *run, size_t n)
{
    runs_ask(&of_way[0], hearthi_udp_send_window_of(0), run, n);
    return true;
}

void
hearthi_udp_fetch_end(void)
{
    hearthi_udp_send_window_resume(hearthi_udp_send_window_of(0));
    runs_wait(&of_way[0], hearthi_udp_send_window_of(0));
}
