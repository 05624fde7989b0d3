/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes that a gateway brings to a home for ranks of other clusters, beside
 * all that its own rank does: packed like diffs (udp_diff.c), one message on
 * its way.
 */
#include "config.h"

#include "gateway_store.h"

#include <string.h>

#include "ack.h"
#include "base/min.h"
#include "cluster.h"
#include "send_window.h"
#include "space/heap.h"
#include "transport/transport.h"
#include "transport/word_split.h"
#include "udp_job.h"

enum { MOST = 16384 };

static struct {
    struct hearthi_udp_in_flight flight; /* first */
    bool                         open, sent;
    uint8_t                      body[MOST];
} p;

static void
pack_take(struct hearthi_udp_in_flight *f, const struct hearthi_udp_message *m)
{
    p.sent = false;
    hearthi_udp_in_flight_land(f, m->len);
    hearthi_udp_in_flight_heard(f, m->turn, true);
}

static void
pack_open(int home)
{
    p.flight = (struct hearthi_udp_in_flight){ .what = "gateway",
                                               .answer = HEARTHI_UDP_DIFFGRANT,
                                               .take = pack_take };
    p.flight.ask = (struct hearthi_udp_message){
        .op = HEARTHI_UDP_DIFF,
        .reliable = hearthi_udp_acked(HEARTHI_UDP_DIFF),
        .from = (uint32_t)hearthi_cluster.rank,
        .to = (uint32_t)home,
        .body = p.body,
    };
    p.open = true;
}

void
hearthi_udp_stored(void)
{
    struct hearthi_udp_send_window *fs;

    if (!p.open)
        return;
    fs = hearthi_udp_send_window_of(HEARTHI_WAY_BESIDE);
    while (
        !hearthi_udp_in_flight_may(fs, p.flight.ask.to, p.flight.ask.body_len))
        hearthi_udp_send_window_turn(fs);
    p.open = false;
    p.sent = true;
    hearthi_udp_in_flight_launch(fs, &p.flight);
    while (p.sent)
        hearthi_udp_send_window_turn(fs);
}

void
hearthi_udp_store(int home, size_t offset, const void *src, size_t len)
{
    const size_t most = hearthi_min(MOST, hearthi_udp.fragment);
    const char  *from = src;

    for (size_t some; len > 0; from += some, offset += some, len -= some) {
        uint8_t *at;
        uint64_t where = offset;
        uint32_t says;
        size_t   used;

        if (p.open && p.flight.ask.to != (uint32_t)home)
            hearthi_udp_stored();
        if (!p.open)
            pack_open(home);
        used = hearthi_min(p.flight.ask.body_len + HEARTHI_UDP_RUN, most);
        some = hearthi_word_split(offset, len, most - used);
        if (some == 0) {
            hearthi_udp_stored();
            continue;
        }
        says = (uint32_t)some;
        at = p.body + p.flight.ask.body_len;
        memcpy(at, &where, sizeof where);
        memcpy(at + sizeof where, &says, sizeof says);
        memcpy(at + HEARTHI_UDP_RUN, from, some);
        p.flight.ask.body_len += HEARTHI_UDP_RUN + some;
        p.flight.ask.pos++;
    }
}
