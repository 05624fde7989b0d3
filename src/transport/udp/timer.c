/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Time-outs: when a message without an answer is sent again, and when its
 * receiver counts as gone.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "peer_failure.h"
#include "timer.h"

/* In nanoseconds.  FIRST is for a rank that was not measured yet.  MOST
 * bounds the doubling: one who waits for a lock asks twenty times a second,
 * which is little, and has a lost grant after that time. */
enum { FLOOR = 1000000, FIRST = 20000000, MOST = 50000000 };

/* Smoothed round trip and its variation; threads may overwrite each other,
 * which loses one measurement. */
struct trip {
    _Atomic uint64_t mean, spread;
};

static struct trip *trips; /* of each rank */

static uint64_t
time_out(int rank)
{
    uint64_t mean, wait;

    if (hearthi_opt.udp_timeout != 0)
        return hearthi_opt.udp_timeout;
    if (trips == NULL || (mean = trips[rank].mean) == 0)
        return FIRST;
    wait = mean + 4 * trips[rank].spread;
    return wait < FLOOR ? FLOOR : wait < MOST ? wait : MOST;
}

void
hearthi_udp_timer_start(struct hearthi_udp_timer *t, int rank)
{
    uint64_t now = hearthi_now();

    *t = (struct hearthi_udp_timer){ .first = now,
                                     .sent = now,
                                     .wait = time_out(rank) };
}

void
hearthi_udp_timer_heard(struct hearthi_udp_timer *t, uint64_t now)
{
    t->silent = 0;
    t->sent = now;
}

/* Karn: the answer to a message that went twice measures nothing.  One that
 * may have waited for other ranks took a round trip at least: it can begin the
 * estimate and lower it. */
void
hearthi_udp_timer_done(struct hearthi_udp_timer *t, int rank, bool waited)
{
    uint64_t took = hearthi_now() - t->first, mean = trips[rank].mean, off;

    if (t->tries > 0 || (waited && took > (mean != 0 ? mean : FIRST)))
        return;
    if (mean == 0) {
        trips[rank].mean = took;
        trips[rank].spread = took / 2;
        return;
    }
    off = took > mean ? took - mean : mean - took;
    trips[rank].spread = (3 * trips[rank].spread + off) / 4;
    trips[rank].mean = (7 * mean + took) / 8;
}

/* Only time in which this rank was awake counts as silence: one that was
 * itself stopped for a minute has not listened. */
bool
hearthi_udp_timer_late(struct hearthi_udp_timer *t, int rank, const char *what)
{
    uint64_t now = hearthi_now(), passed = now - t->sent;

    if (passed < t->wait)
        return false;
    t->silent += passed < 2 * t->wait ? passed : 2 * t->wait;
    if (t->silent > hearthi_opt.udp_giveup)
        hearthi_udp_peer_failed(rank, what);
    t->sent = now;
    t->tries++;
    if (t->wait < MOST)
        t->wait = 2 * t->wait < MOST ? 2 * t->wait : MOST;
    return true;
}

void
hearthi_udp_trips_open(void)
{
    trips = calloc((size_t)hearthi_cluster.size, sizeof *trips);
    if (trips == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_udp_trips_close(void)
{
    free(trips);
    trips = NULL;
}
