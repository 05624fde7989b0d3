/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Round trips and time-outs (RFC 6298): when a message without an answer is
 * sent again, and when its receiver counts as gone.
 *
 * The first wait is the mean and four times its variation, however long that
 * is.  What bounds the doubling is many times as long: a request that is sent
 * again before its answer can be there puts more on a link that is busy
 * already, and the answer to each of them is one more.
 *
 * A client that was told that it must wait, for a lock for instance, asks
 * again because the grant may be lost.  That its request is there has been
 * answered, so the link passes what it sends: then the wait may end its
 * doubling after two time-outs.
 *
 * Each answer says to which try of the request it is, so what was sent twice
 * can be measured, too; above all, an answer to an earlier try says that the
 * time-out was too short.  Without that a link whose round trip is longer than
 * the time-out would never be measured.
 */
#include "config.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/min.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "peer_failure.h"
#include "timer.h"

/* ---- round trips ---- */

/* FIRST is for a rank that was not measured yet.  USUAL and QUIET bound the
 * doubling where round trips are short: a client that waits for a lock asks
 * twenty times a second, which is little, and has a lost grant after that
 * time. */
enum {
    FLOOR = 1000000,
    FIRST = 20000000,
    QUIET = 50000000,
    USUAL = 100000000,
    TIMES = 16
};

void
hearthi_udp_trip_learn(struct hearthi_udp_trip *t, uint64_t took)
{
    uint64_t mean = t->mean, off;

    if (mean == 0) {
        t->mean = took > 0 ? took : 1;
        t->spread = took / 2;
        return;
    }
    off = took > mean ? took - mean : mean - took;
    t->spread = (3 * t->spread + off) / 4;
    t->mean = (7 * mean + took) / 8;
}

uint64_t
hearthi_udp_trip_wait(const struct hearthi_udp_trip *t)
{
    uint64_t mean = t->mean, wait = mean + 4 * t->spread;

    if (mean == 0)
        return FIRST;
    return wait > FLOOR ? wait : FLOOR;
}

uint64_t
hearthi_udp_trip_most(const struct hearthi_udp_trip *t, bool waits)
{
    uint64_t least = waits ? QUIET : USUAL;
    uint64_t most = hearthi_udp_trip_wait(t) * (waits ? 2 : TIMES);

    return most > least ? most : least;
}

/* ---- timers ---- */

/* Tries in the time after which a rank counts as silent, at least. */
enum { TRIES = 8 };

enum { BRIEF = 20000000, IN_A_ROW = 4 }; /* nanoseconds; times */

static struct hearthi_udp_trip *trips; /* of each rank */

uint64_t
hearthi_udp_takes(int rank)
{
    return trips[rank].mean;
}

void
hearthi_udp_took(int rank, uint64_t ns)
{
    hearthi_udp_trip_learn(&trips[rank], ns);
}

uint64_t
hearthi_udp_time_out(int rank)
{
    if (hearthi_opt.udp_timeout != 0)
        return hearthi_opt.udp_timeout;
    return hearthi_udp_trip_wait(&trips[rank]);
}

void
hearthi_udp_timer_start(struct hearthi_udp_timer *t, int rank)
{
    uint64_t now = hearthi_now();

    t->asked[0] = t->sent = now;
    t->wait = hearthi_udp_time_out(rank);
    t->silent = 0;
    t->tries = 0;
    t->waits = false;
}

/* The rank is there: the next wait need not be that of a silent one. */
void
hearthi_udp_timer_heard(struct hearthi_udp_timer *t, int rank, uint64_t now)
{
    if (t->tries > 0)
        t->wait = hearthi_udp_time_out(rank);
    t->silent = 0;
    t->sent = now;
}

void
hearthi_udp_timer_forget(struct hearthi_udp_timer *t, uint64_t now)
{
    for (int i = 0; i < HEARTHI_UDP_ASKED; i++)
        t->asked[i] = now;
}

static void
try_note(struct hearthi_udp_timer *t, uint64_t now)
{
    t->asked[++t->tries % HEARTHI_UDP_ASKED] = t->sent = now;
}

void
hearthi_udp_timer_again(struct hearthi_udp_timer *t)
{
    try_note(t, hearthi_now());
}

uint64_t
hearthi_udp_timer_asked(const struct hearthi_udp_timer *t)
{
    return t->asked[t->tries % HEARTHI_UDP_ASKED];
}

/* On a fast network an answer that is late for a moment says nothing of it:
 * the other rank had no core.  To wait longer for all that is lost from then
 * on would cost more there than to ask once too often, unless it happens
 * several times in a row. */
static bool
is_chance(const struct hearthi_udp_timer *t, int rank, unsigned try,
          uint64_t took)
{
    struct hearthi_udp_trip *trip = &trips[rank];

    if (t->tries == 0)
        trip->late = 0;
    if (t->tries == 0 || trip->mean >= BRIEF)
        return false;
    return try == t->tries || (took < BRIEF && ++trip->late < IN_A_ROW);
}

/* One that may have waited for other ranks took a round trip at least: it can
 * begin the estimate and lower it. */
void
hearthi_udp_timer_done(const struct hearthi_udp_timer *t, int rank,
                       unsigned try, bool waited)
{
    uint64_t mean = trips[rank].mean, took;

    if (try > t->tries || t->tries - try >= HEARTHI_UDP_ASKED)
        return;
    took = hearthi_now() - t->asked[try % HEARTHI_UDP_ASKED];
    if (waited && took > (mean != 0 ? mean : hearthi_udp_time_out(rank)))
        return;
    if (!is_chance(t, rank, try, took))
        hearthi_udp_trip_learn(&trips[rank], took);
}

/* However long a round trip takes, a rank that is silent is asked some times
 * before it counts as gone. */
static uint64_t
wait_most(const struct hearthi_udp_timer *t, int rank)
{
    uint64_t most = hearthi_udp_trip_most(&trips[rank], t->waits);
    uint64_t due = hearthi_udp_time_out(rank);

    most = hearthi_min(most, hearthi_opt.udp_giveup / TRIES);
    return most > due ? most : due;
}

/* Only time in which this rank was awake counts as silence: one that was
 * itself stopped for a minute has not listened. */
bool
hearthi_udp_timer_late(struct hearthi_udp_timer *t, int rank, const char *what)
{
    uint64_t now = hearthi_now(), passed = now - t->sent;

    if (passed < t->wait)
        return false;
    t->silent += hearthi_min(passed, 2 * t->wait);
    if (t->silent > hearthi_opt.udp_giveup)
        hearthi_udp_peer_failed(rank, what);
    try_note(t, now);
    t->wait = hearthi_min(2 * t->wait, wait_most(t, rank));
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
