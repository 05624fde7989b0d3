/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Diffs, packed into messages, several of which are on their way; and what a
 * gateway brings to a home for ranks of other clusters, one message on its
 * way, beside all that its own rank does.
 *
 * A diff must not be done twice: one that comes late could overwrite newer
 * bytes.  The home knows which it has done (udp_home.c).
 */
#include "config.h"

#include <string.h>

#include "base/min.h"
#include "base/mutex.h"
#include "base/option.h"
#include "cluster.h"
#include "send_window.h"
#include "socket.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transport/patch.h"
#include "transport/word_split.h"
#include "udp.h"
#include "udp_job.h"
#include "wire.h"

enum { DEPTH = HEARTHI_DIFF_DEPTH_MAX };

/* By default: bytes in a message, and messages on their way.  Together they are
 * what the network has at a time, and so no pages: a longer diff is several
 * messages. */
enum { PACK = 16384, USUAL = 16 };

enum state { FREE, OPEN, SENT };

struct pack {
    struct hearthi_udp_in_flight flight; /* first */
    enum state                   state;
    size_t                       most; /* bytes of the body */
    uint8_t                     *body;
};

static struct pack pack[DEPTH];
static struct pack beside;    /* a gateway's */
static size_t      pack_most; /* bytes of a body */
static unsigned    n_sent;

void
hearthi_udp_diffs_open(void)
{
    pack_most =
        hearthi_min(hearthi_opt.diff_pack != 0 ? hearthi_opt.diff_pack : PACK,
                    hearthi_udp.fragment);
    n_sent = 0;
    for (int i = 0; i < DEPTH; i++)
        pack[i] = (struct pack){ .most = pack_most,
                                 .body = hearthi_sparse(pack_most +
                                                        HEARTHI_PATCH_SLACK) };
    beside = (struct pack){ .most = hearthi_min(PACK, hearthi_udp.fragment) };
    beside.body = hearthi_sparse(beside.most);
}

void
hearthi_udp_diffs_close(void)
{
    for (int i = 0; i < DEPTH; i++)
        hearthi_sparse_free(pack[i].body, pack_most + HEARTHI_PATCH_SLACK);
    hearthi_sparse_free(beside.body, beside.most);
}

/* ---- a message ---- */

/* The home has done it. */
static void
pack_take(struct hearthi_udp_in_flight *f, const struct hearthi_udp_message *m)
{
    struct pack *p = (struct pack *)f;

    HEARTHI_ASSERT(p->state == SENT);
    p->state = FREE;
    if (p != &beside)
        n_sent--;
    hearthi_udp_in_flight_came(f, f->way);
    hearthi_udp_in_flight_land(f, m->len);
    hearthi_udp_in_flight_heard(f, m->turn, true);
}

static void
pack_begin(struct pack *p, uint32_t home, const char *what)
{
    HEARTHI_ASSERT(p->state == FREE);
    p->state = OPEN;
    p->flight = (struct hearthi_udp_in_flight){
        .what = what, .answer = HEARTHI_UDP_DIFFGRANT, .take = pack_take
    };
    p->flight.ask = (struct hearthi_udp_message){
        .op = HEARTHI_UDP_DIFF,
        .reliable = hearthi_udp_acked(HEARTHI_UDP_DIFF),
        .from = (uint32_t)hearthi_cluster.rank,
        .to = home,
        .body = p->body,
    };
}

/* As much of a run as there is room for, or 0: then it is full. */
static size_t
pack_run(struct pack *p, size_t offset, const char *from, size_t len)
{
    size_t   used = p->flight.ask.body_len + HEARTHI_UDP_RUN;
    uint8_t *at = p->body + p->flight.ask.body_len;
    uint64_t where = offset;
    uint32_t some = (uint32_t)hearthi_word_split(
        offset, len, p->most - hearthi_min(used, p->most));

    if (some == 0)
        return 0;
    HEARTHI_ASSERT(some <= len && offset + some <= hearthi_segments.bytes);
    memcpy(at, &where, sizeof where);
    memcpy(at + sizeof where, &some, sizeof some);
    memcpy(at + HEARTHI_UDP_RUN, from, some);
    p->flight.ask.body_len = used + some;
    p->flight.ask.pos++;
    return some;
}

/* ---- sending ---- */

/* A page whose diff goes by itself is waited for by a flush, however many
 * datagrams it takes. */
static unsigned
depth(void)
{
    if (hearthi_udp_acked(HEARTHI_UDP_DIFF))
        return 1;
    if (hearthi_diffs_one_by_one())
        return DEPTH;
    return hearthi_opt.diff_depth != 0 ? (unsigned)hearthi_opt.diff_depth
                                       : USUAL;
}

static void
pack_send(struct pack *p)
{
    const struct hearthi_udp_message *m = &p->flight.ask;

    HEARTHI_ASSERT(p->state == OPEN && m->body_len <= pack_most);
    HEARTHI_ASSERT((m->body_len == 0) == (m->pos == 0));
    while (
        n_sent >= depth() ||
        !hearthi_udp_in_flight_may(&hearthi_udp_locked, m->to, m->body_len, 0))
        hearthi_udp_send_window_turn(&hearthi_udp_locked);
    p->state = SENT;
    n_sent++;
    hearthi_udp_in_flight_launch(&hearthi_udp_locked, &p->flight);
}

static struct pack *
pack_in(enum state state)
{
    for (struct pack *p = pack; p < pack + DEPTH; p++)
        if (p->state == state)
            return p;
    return NULL;
}

static struct pack *
pack_new(uint32_t home)
{
    struct pack *p = pack_in(FREE);

    if (p == NULL && n_sent == 0)
        pack_send(pack_in(OPEN));
    while ((p = pack_in(FREE)) == NULL)
        hearthi_udp_send_window_turn(&hearthi_udp_locked);
    pack_begin(p, home, "release");
    return p;
}

/* The open message to a home. */
static struct pack *
pack_for(uint32_t home)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT((int)home < hearthi_cluster.size);
    for (struct pack *p = pack; p < pack + DEPTH; p++)
        if (p->state == OPEN && p->flight.ask.to == home)
            return p;
    return pack_new(home);
}

void
hearthi_udp_diff(int home, size_t offset, const void *src, size_t len)
{
    const char *from = src;

    for (size_t some; len > 0; from += some, offset += some, len -= some) {
        struct pack *p = pack_for((uint32_t)home);

        some = pack_run(p, offset, from, len);
        if (some == 0)
            pack_send(p);
    }
}

/* ---- masks ---- */

struct stretch { /* of a page, from its first byte on */
    int         home;
    size_t      offset;
    const char *src;
};

static void
stretch_run(void *stretch, size_t at, size_t len)
{
    const struct stretch *s = stretch;

    hearthi_udp_diff(s->home, s->offset + at, s->src + at, len);
}

/* A message has room for any patch. */
static void
stretch_patch(void *stretch, size_t at, const struct hearthi_patch *patch)
{
    const struct stretch *s = stretch;
    struct pack          *p = pack_for((uint32_t)s->home);
    uint64_t              where = s->offset + at;
    uint32_t              says = HEARTHI_UDP_IS_PATCH | patch->shift;
    uint8_t              *to;

    if (p->flight.ask.body_len + HEARTHI_UDP_PATCH +
            hearthi_patch_bytes(patch->bits, patch->shift) >
        pack_most) {
        pack_send(p);
        p = pack_for((uint32_t)s->home);
    }
    to = p->body + p->flight.ask.body_len;
    memcpy(to, &where, sizeof where);
    memcpy(to + sizeof where, &says, sizeof says);
    memcpy(to + HEARTHI_UDP_RUN, &patch->bits, sizeof patch->bits);
    to = hearthi_patch_take(to + HEARTHI_UDP_PATCH, s->src + at, patch);
    p->flight.ask.body_len = (size_t)(to - p->body);
    p->flight.ask.pos++;
}

bool
hearthi_udp_patch(int home, size_t offset, const char *src,
                  const uint64_t *mask, size_t blocks, size_t runs)
{
    struct stretch              s = { home, offset, src };
    const struct hearthi_pieces pieces = { stretch_run, stretch_patch, &s };

    (void)runs;
    if (pack_most < HEARTHI_UDP_PATCH + HEARTHI_PATCH_MOST)
        return false;
    hearthi_pieces_make(&pieces, mask, blocks);
    return true;
}

/* A word is not cut.  (One that arrived in halves would be two values.) */
void
hearthi_udp_notify(int home)
{
    struct hearthi_told told = hearthi_told_next();

    hearthi_udp_diff(home, told.at, &told.value, sizeof told.value);
}

void
hearthi_udp_diffs_send(void)
{
    struct pack *p;

    while ((p = pack_in(OPEN)) != NULL)
        pack_send(p);
}

void
hearthi_udp_flush(void)
{
    hearthi_udp_diffs_send();
    while (n_sent > 0)
        hearthi_udp_send_window_turn(&hearthi_udp_locked);
    HEARTHI_ASSERT(pack_in(OPEN) == NULL && pack_in(SENT) == NULL);
}

/* ---- a gateway's ---- */

void
hearthi_udp_stored(void)
{
    struct hearthi_udp_send_window *fs;

    HEARTHI_ASSERT(beside.state != SENT);
    if (beside.state == FREE)
        return;
    fs = hearthi_udp_send_window_of(HEARTHI_WAY_BESIDE);
    while (!hearthi_udp_in_flight_may(fs, beside.flight.ask.to,
                                      beside.flight.ask.body_len, 0))
        hearthi_udp_send_window_turn(fs);
    beside.state = SENT;
    hearthi_udp_in_flight_launch(fs, &beside.flight);
    while (beside.state == SENT)
        hearthi_udp_send_window_turn(fs);
}

void
hearthi_udp_store(int home, size_t offset, const void *src, size_t len)
{
    const char *from = src;

    for (size_t some; len > 0; from += some, offset += some, len -= some) {
        if (beside.state == OPEN && beside.flight.ask.to != (uint32_t)home)
            hearthi_udp_stored();
        if (beside.state == FREE)
            pack_begin(&beside, (uint32_t)home, "gateway");
        some = pack_run(&beside, offset, from, len);
        if (some == 0)
            hearthi_udp_stored();
    }
}
