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

#include "ack.h"
#include "base/min.h"
#include "base/stat.h"
#include "client.h"
#include "cluster.h"
#include "count.h"
#include "send_window.h"
#include "socket.h"
#include "space/heap.h"
#include "space/segment.h"
#include "udp_diff.h"
#include "udp_job.h"
#include "udp_page.h"
#include "wire.h"

enum { DEPTH = HEARTHI_UDP_PIECES, PIECE = 512 << 10 };

struct piece {
    struct hearthi_udp_in_flight flight; /* first */
    struct hearthi_udp_set       missing;
    unsigned                     last; /* fragment of its last request */
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

/* The set of fragments, which is the body, may have become smaller. */
static void
piece_prepare(struct hearthi_udp_in_flight *f)
{
    struct piece *p = (struct piece *)f;

    p->last = hearthi_udp_last(&p->missing);
}

static size_t
fragment_len(const struct piece *p, size_t i)
{
    const struct hearthi_udp_message *ask = &p->flight.ask;

    return hearthi_min(ask->pos, ask->len - i * ask->pos);
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
    if (hearthi_udp_count(&p->missing) == 0) {
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
        .body = (const uint8_t *)&p->missing,
        .body_len = sizeof p->missing,
    };
    for (unsigned i = 0; i < n; i++)
        hearthi_udp_put(&p->missing, i);
    f->n_busy++;
    f->on_the_way += len;
    hearthi_udp_in_flight_launch(fs, &p->flight);
}

static void
runs_ask(struct fetcher *f, struct hearthi_udp_send_window *fs,
         const struct hearthi_fetch *run, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)run[i].count << hearthi_heap.shift;

        for (size_t at = 0; at < len; at += piece_most) {
            size_t some = hearthi_min(piece_most, len - at);

            while (f->n_busy == DEPTH ||
                   !hearthi_udp_in_flight_may(fs, (uint32_t)run[i].home,
                                              sizeof f->piece->missing) ||
                   (f->n_busy > 0 && f->on_the_way + some > window))
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
