/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages.  A fetch is cut into pieces, each a GETP that is answered by up to
 * 64 fragments, sent by one call; as many pieces are on their way as the receive buffer takes
 * in.  A time-out asks for the missing fragments only.
 *
 * The answers are not remembered by the home: a page read again is a page
 * read later, and the fetch has not ended, so what it brings is still what an
 * acquire before it must see.  A fragment of an earlier fetch has an earlier
 * number and is dropped.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/report.h"
#include "base/stat.h"
#include "space/heap.h"
#include "space/segment.h"
#include "udp.h"
#include "world.h"

enum { DEPTH = 16 };

struct piece {
    bool                       busy;
    struct hearthi_udp_message ask;
    struct hearthi_udp_set     missing;
    char                      *to;
    struct hearthi_udp_timer   timer;
};

static struct piece piece[DEPTH];
static unsigned     n_busy;
static size_t       on_the_way, window; /* bytes */
static size_t       piece_most;

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The kernel counts a datagram with its own overhead, up to as much again. */
void
hearthi_udp_pages_open(void)
{
    window = hearthi_udp_room(hearthi_udp_bulk()->in.fd) / 2;
    piece_most = HEARTHI_UDP_CALL / (HEARTHI_UDP_HEAD + hearthi_udp.fragment);
    if (piece_most > HEARTHI_UDP_BATCH)
        piece_most = HEARTHI_UDP_BATCH;
    piece_most *= hearthi_udp.fragment;
    if (piece_most > window)
        piece_most = window;
    memset(piece, 0, sizeof piece);
    n_busy = 0;
    on_the_way = 0;
}

/* The set of fragments lies where the body is. */
static void
piece_send(struct piece *p)
{
    struct hearthi_udp_client *c = hearthi_udp_bulk();

    p->ask.body = (const uint8_t *)&p->missing;
    p->ask.body_len = sizeof p->missing;
    hearthi_udp_send(c->in.fd, &hearthi_udp.server[p->ask.to], &p->ask, NULL);
}

static void
piece_begin(const struct hearthi_fetch *f, size_t at, size_t len)
{
    struct hearthi_udp_client *c = hearthi_udp_bulk();
    unsigned      n = (unsigned)((len - 1) / hearthi_udp.fragment + 1);
    struct piece *p = piece;

    while (p->busy)
        p++;
    *p = (struct piece){ .busy = true, .to = hearthi_cached(f->page) + at };
    p->ask = (struct hearthi_udp_message){
        .op = HEARTHI_UDP_GETP,
        .kind = f->announce ? HEARTHI_UDP_ANNOUNCE : 0,
        .reliable = hearthi_udp_acked(HEARTHI_UDP_GETP),
        .from = (uint32_t)hearthi_world.rank,
        .to = (uint32_t)f->home,
        .seq = ++c->seq[f->home],
        .at = hearthi_frame_at(f->frame, hearthi_heap.shift) + at,
        .len = (uint32_t)len,
        .pos = (uint32_t)hearthi_udp.fragment,
    };
    for (unsigned i = 0; i < n; i++)
        hearthi_udp_put(&p->missing, i);
    n_busy++;
    on_the_way += len;
    hearthi_udp_timer_start(&p->timer, f->home);
    hearthi_udp_pace_sent(p->ask.to, sizeof p->missing);
    piece_send(p);
}

/* What was told before goes out with the requests, and has arrived when the
 * fetch returns: a later fetch relies on it. */
void
hearthi_udp_fetch(const struct hearthi_fetch *run, size_t n)
{
    hearthi_udp_diffs_send();
    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)run[i].count << hearthi_heap.shift;

        for (size_t at = 0; at < len; at += piece_most) {
            size_t some = least(piece_most, len - at);

            while (n_busy == DEPTH ||
                   !hearthi_udp_may_send((uint32_t)run[i].home,
                                         sizeof piece->missing) ||
                   (n_busy > 0 && on_the_way + some > window))
                hearthi_udp_bulk_turn();
            piece_begin(&run[i], at, some);
        }
    }
    while (n_busy > 0)
        hearthi_udp_bulk_turn();
    hearthi_udp_flush();
}

/* ---- answers ---- */

static struct piece *
piece_of(const struct hearthi_udp_message *m)
{
    for (struct piece *p = piece; p < piece + DEPTH; p++)
        if (p->busy && p->ask.seq == m->seq && p->ask.to == m->from)
            return p;
    return NULL;
}

/* How far a number is ahead of the oldest piece of that home. */
uint32_t
hearthi_udp_page_ahead(uint32_t home, uint32_t next)
{
    uint32_t most = 0;

    for (const struct piece *p = piece; p < piece + DEPTH && n_busy > 0; p++)
        if (p->busy && p->ask.to == home && next - p->ask.seq > most)
            most = next - p->ask.seq;
    return most;
}

static size_t
fragment_len(const struct piece *p, size_t i)
{
    return least(p->ask.pos, p->ask.len - i * p->ask.pos);
}

/* The pieces in the order in which they were asked for. */
static const struct piece *
piece_after(const struct piece *last)
{
    const struct piece *next = NULL;

    for (const struct piece *p = piece; p < piece + DEPTH; p++)
        if (p->busy &&
            (last == NULL || p->timer.first > last->timer.first) &&
            (next == NULL || p->timer.first < next->timer.first))
            next = p;
    return next;
}

/* Where the next fragments go if all is in order: that may be written to,
 * since nothing valid is there yet. */
void
hearthi_udp_page_places(struct hearthi_udp_places *places)
{
    places->n = 0;
    for (const struct piece *p = piece_after(NULL); p != NULL;
         p = piece_after(p)) {
        unsigned n = (p->ask.len - 1) / p->ask.pos + 1;

        for (unsigned i = 0; i < n && places->n < HEARTHI_UDP_BATCH; i++)
            if (hearthi_udp_has(&p->missing, i))
                places->place[places->n++] = (struct hearthi_udp_place){
                    .at = p->to + (size_t)i * p->ask.pos,
                    .len = fragment_len(p, i),
                    .offset = (uint64_t)i * p->ask.pos,
                    .from = p->ask.to,
                    .seq = p->ask.seq
                };
        if (places->n > 0)
            return;
    }
}

/* A home answers in order.  What was asked of it before the piece that is
 * now complete, and is not, was lost. */
static void
overtaken_ask(const struct piece *done)
{
    for (struct piece *p = piece; p < piece + DEPTH; p++) {
        if (!p->busy || p->ask.to != done->ask.to ||
            p->timer.first > done->timer.first || p->timer.tries > 0)
            continue;
        p->timer.tries++;
        p->timer.sent = hearthi_now();
        hearthi_count(resends, 1);
        piece_send(p);
    }
}

/* As long as a home answers, what it owes besides is not late. */
static void
home_heard(uint32_t home)
{
    for (struct piece *p = piece; p < piece + DEPTH; p++)
        if (p->busy && p->ask.to == home)
            hearthi_udp_timer_heard(&p->timer);
}

void
hearthi_udp_page_take(const struct hearthi_udp_message *m)
{
    struct piece *p = piece_of(m);
    size_t        i = m->at / m->pos;

    if (p == NULL || m->pos != p->ask.pos || m->at >= p->ask.len ||
        m->len != fragment_len(p, i)) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_SEQUENCE);
        return;
    }
    if (!hearthi_udp_has(&p->missing, (unsigned)i)) {
        hearthi_count(repeats, 1);
        return;
    }
    if (m->body != (const uint8_t *)p->to + m->at)
        memcpy(p->to + m->at, m->body, m->len);
    hearthi_udp_take(&p->missing, (unsigned)i);
    home_heard(m->from);
    if (hearthi_udp_count(&p->missing) > 0)
        return;
    hearthi_udp_timer_done(&p->timer, (int)m->from);
    hearthi_udp_pace_done(p->ask.to, sizeof p->missing, 0);
    p->busy = false;
    n_busy--;
    on_the_way -= p->ask.len;
    if (n_busy > 0)
        overtaken_ask(p);
}

uint64_t
hearthi_udp_page_due(void)
{
    uint64_t due = UINT64_MAX;

    if (n_busy == 0)
        return due;
    for (const struct piece *p = piece; p < piece + DEPTH; p++)
        if (p->busy && p->timer.sent + p->timer.wait < due)
            due = p->timer.sent + p->timer.wait;
    return due;
}

void
hearthi_udp_page_late(void)
{
    if (n_busy == 0)
        return;
    for (struct piece *p = piece; p < piece + DEPTH; p++)
        if (p->busy && hearthi_udp_timer_late(&p->timer, (int)p->ask.to,
                                              "page fault"))
            piece_send(p);
}
