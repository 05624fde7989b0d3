/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread sleeps at the two lines of this rank, and passes on what is said
 * over one to the other.
 */
#include "config.h"

#include "life.h"

#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/min.h"
#include "base/option.h"
#include "base/report.h"
#include "base/thread.h"
#include "collective.h"
#include "collective_watch.h"
#include "deadlock.h"
#include "line_reconnect.h"
#include "liveness_line.h"
#include "report_election.h"
#include "ring_setup.h"
#include "space/segment.h"
#include "stalled.h"
#include "world.h"

/* Nanoseconds.  DOUBT: how long an MPI call that fails waits for a rank that
 * knows better.  PATIENCE: a line that broke just after it was made. */
enum {
    DOUBT = 500000000,
    PATIENCE = 2000000000,
    BEAT_LEAST = 10000000,
    BEAT_MOST = 1000000000
};

static struct {
    struct hearthi_poller thread;
    uint64_t              beat;
    atomic_bool           open, settled;
} l;

/* ---- the thread ---- */

/* A beat counts as one, however long it took: a rank that was itself stopped
 * has not listened.  After goodbye, too, until the line ends: a rank may stop
 * in between.  `silent` is relaxed: hearthi_life_is_told() reads the time
 * alone. */
static void
beat(void)
{
    hearthi_segments_look();
    for (int i = 0; i < HEARTHI_LINES; i++) {
        struct hearthi_liveness_line *line = &hearthi_liveness_line[i];

        if (line->fd < 0 && !line->lost)
            continue;
        hearthi_liveness_line_beat(line);
        if (line->fd < 0)
            hearthi_line_reconnect_begin(line);
        __atomic_store_n(&line->silent,
                         line->heard ? 0 : line->silent + l.beat,
                         __ATOMIC_RELAXED);
        line->heard = false;
        if (line->silent > hearthi_opt.udp_giveup)
            hearthi_liveness_line_silent(line);
    }
}

/* Until something comes or is due. */
static void
sleep_until(uint64_t due)
{
    enum {
        AGAIN = HEARTHI_LINES,
        CALLS = AGAIN + HEARTHI_LINES,
        WAKE = CALLS + HEARTHI_RING_CALLS + 1
    };
    struct pollfd p[WAKE + 1];

    /* Until it is settled another thread owns the line to the next rank. */
    for (int i = 0; i < HEARTHI_LINES; i++)
        p[i] = (struct pollfd){ .fd = l.settled ? hearthi_liveness_line[i].fd
                                                : -1,
                                .events = POLLIN };
    hearthi_line_reconnect_wait_for(p + AGAIN);
    hearthi_ring_setup_wait_for(p + CALLS);
    hearthi_poller_wait(&l.thread, p, WAKE + 1, due);
    hearthi_ring_setup_answer();
}

static void *
watch(void *none)
{
    uint64_t next = hearthi_now() + l.beat;

    while (!l.thread.stop) {
        uint64_t due = hearthi_min(hearthi_line_reconnect_due(),
                                   hearthi_ring_setup_due());

        due = hearthi_min(due, hearthi_election_due());
        sleep_until(hearthi_min(due, next));
        if (!l.settled)
            continue;
        hearthi_ring_setup_settle();
        for (int i = 0; i < HEARTHI_LINES; i++)
            hearthi_liveness_line_read(&hearthi_liveness_line[i]);
        if (hearthi_now() >= next) {
            beat();
            hearthi_collective_watch_look(l.beat);
            hearthi_stalled_look(l.beat);
            hearthi_deadlock_look();
            next = hearthi_now() + l.beat;
        }
        hearthi_election_judge();
    }
    return none;
}

/* ---- ranks that would speak ---- */

void
hearthi_life_gone(int rank, const char *call, const char *fmt, ...)
{
    const uint64_t                moment = hearthi_liveness_moment();
    const struct hearthi_election claim = {
        rank, hearthi_world.rank, moment,
        moment + hearthi_liveness_moment_locks(), call
    };
    char                          text[512];
    va_list                       ap;

    va_start(ap, fmt);
    if (l.open)
        hearthi_election_make(&claim, fmt, ap);
    else
        hearthi_format(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!l.open)
        hearthi_fatal(call, "%s", text);
    hearthi_poller_wake(&l.thread);
    hearthi_end_wait();
}

/* A call of MPI has failed: because a rank is gone, which others know better?
 */
static bool
doubt(void)
{
    const struct timespec nap = { .tv_nsec = 5000000 };
    uint64_t              end = hearthi_now() + DOUBT;

    while (l.open && !hearthi_elections_known() && hearthi_now() < end)
        nanosleep(&nap, NULL);
    return hearthi_elections_known();
}

static bool
ending(const char *call, const char *text)
{
    (void)call, (void)text;
    hearthi_liveness_lines_tell(-1, HEARTHI_SAID_ENDING, hearthi_world.rank, 0,
                                0);
    return true;
}

bool
hearthi_life_is_told(int rank)
{
    const struct hearthi_liveness_line *next =
        &hearthi_liveness_line[HEARTHI_LINE_NEXT];

    if (hearthi_elections_known())
        return true;
    return l.open && next->rank == rank &&
           __atomic_load_n(&next->silent, __ATOMIC_RELAXED) >
               hearthi_opt.udp_giveup / 2;
}

/* ---- start and end ---- */

/* Wait for all; the first rank that could not call says so. */
static void
lines_report(bool have)
{
    const struct hearthi_liveness_line *next =
        &hearthi_liveness_line[HEARTHI_LINE_NEXT];
    int first = hearthi_collective_first(!have, hearthi_world.comm);

    if (first == hearthi_world.rank)
        hearthi_warn("hearth_init",
                     "no TCP connection to rank %d on %s: the job goes on, "
                     "but if a rank dies others may know only from the "
                     "launcher or by HEARTH_UDP_GIVEUP; let a firewall pass "
                     "TCP between hosts, or choose their network by "
                     "HEARTH_NETWORK",
                     next->rank, next->host);
}

/* The call of the rank before is made once it is confirmed there, but a line
 * only when the thread has taken that.  Wait for it: a rank whose thread is so
 * late that hearth_finalize comes first would say no goodbye over that line,
 * and be taken for gone. */
static void
line_await(bool have)
{
    const struct timespec nap = { .tv_nsec = 100000 };
    const uint64_t        end = hearthi_now() + PATIENCE;
    int                   mine = have, comes;

    hearthi_collective_swap(
        &mine, hearthi_liveness_line[HEARTHI_LINE_NEXT].rank, &comes,
        hearthi_liveness_line[HEARTHI_LINE_PREV].rank, sizeof mine, 2);
    while (comes && !hearthi_ring_setup_taken() && hearthi_now() < end)
        nanosleep(&nap, NULL);
}

uint64_t
hearthi_life_beat(void)
{
    uint64_t share = hearthi_opt.udp_giveup / 40;

    return share < BEAT_LEAST  ? BEAT_LEAST
           : share < BEAT_MOST ? share
                               : BEAT_MOST;
}

void
hearthi_life_open(void)
{
    bool have;

    if (hearthi_world.size == 1 || hearthi_world.gather != NULL)
        return;
    hearthi_elections_open();
    hearthi_abandoned_gather_open();
    l.beat = hearthi_life_beat();
    l.settled = false;
    hearthi_ring_setup_open();
    hearthi_poller_start(&l.thread, watch, "thread to watch others");
    hearthi_cards_exchange();
    have = hearthi_ring_setup_call();
    lines_report(have);
    line_await(have);
    l.settled = true;
    l.open = true;
    hearthi_poller_wake(&l.thread);
    hearthi_doubt_hook = doubt;
    hearthi_ending_hook = ending;
}

/* A line that ends after the goodbye has ended well, and all goodbyes are on
 * their way before the first line ends. */
void
hearthi_life_close(void)
{
    if (!l.open)
        return;
    hearthi_liveness_lines_tell(-1, HEARTHI_SAID_BYE, hearthi_world.rank, 0,
                                0);
    hearthi_collective(hearthi_world.comm);
    hearthi_doubt_hook = NULL;
    hearthi_ending_hook = NULL;
    l.open = false;
    hearthi_poller_end(&l.thread);
    for (int i = 0; i < HEARTHI_LINES; i++) {
        hearthi_line_reconnect_end(&hearthi_liveness_line[i]);
        hearthi_liveness_line_close(&hearthi_liveness_line[i]);
    }
    hearthi_ring_setup_close();
}

void
hearthi_life_forked(void)
{
    if (!l.open)
        return;
    l.open = false;
    for (int i = 0; i < HEARTHI_LINES; i++) {
        hearthi_line_reconnect_end(&hearthi_liveness_line[i]);
        hearthi_liveness_line_close(&hearthi_liveness_line[i]);
    }
    hearthi_ring_setup_close();
    hearthi_poller_forked(&l.thread);
}
