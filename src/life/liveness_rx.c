/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A line that ends, is silent, or says something.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/option.h"
#include "base/report.h"
#include "collective_watch.h"
#include "deadlock.h"
#include "line_reconnect.h"
#include "liveness_line.h"
#include "report_election.h"
#include "stalled.h"
#include "world.h"

/* Nanoseconds.  MOMENT_END: a claim takes some 0.1 ms to go round, and a
 * launcher that ends all ranks one after the other takes as long; MPICH's
 * takes three milliseconds to end the job after a rank.  MOMENT_LOCKS: for
 * longer no rank waits to hear which locks are lost, which takes as long as a
 * claim; Open MPI's launcher takes a second.  MOMENT: ranks that find another
 * silent do so up to a beat apart, and MOMENT_RANK more for each rank of a
 * long ring.  MOMENT_SILENT: for so much longer no rank waits to hear which
 * locks are lost with a silent one; the rank after that may be late to find it
 * silent, on a busy machine. */
enum {
    MOMENT_END = 1000000,
    MOMENT_LOCKS = 100000000,
    MOMENT = 250000000,
    MOMENT_SILENT = 2000000000,
    MOMENT_RANK = 1000000
};

uint64_t
hearthi_liveness_moment(void)
{
    return MOMENT + (uint64_t)hearthi_world.size * MOMENT_RANK;
}

uint64_t
hearthi_liveness_moment_locks(void)
{
    return hearthi_world.size > 2 ? MOMENT_SILENT : 0;
}

__attribute__((format(printf, 5, 6))) static void
line_claim(const struct hearthi_liveness_line *line, int weight,
           uint64_t least, uint64_t moment, const char *fmt, ...)
{
    const struct hearthi_election claim = { line->rank, weight, least, moment,
                                            "job" };
    va_list                       ap;

    va_start(ap, fmt);
    hearthi_election_make(&claim, fmt, ap);
    va_end(ap);
    hearthi_abandoned_gather_ask(line->rank);
}

static bool
is_next(const struct hearthi_liveness_line *line)
{
    return line == &hearthi_liveness_line[HEARTHI_LINE_NEXT];
}

/* Is this rank before the one at the other end?  Of two each is. */
static bool
is_before(const struct hearthi_liveness_line *line)
{
    return line->rank == hearthi_liveness_line[HEARTHI_LINE_NEXT].rank;
}

/* The rank after one that is gone weighs as much more as all others. */
static int
weight_of(const struct hearthi_liveness_line *line)
{
    return hearthi_world.rank + (is_next(line) ? 0 : hearthi_world.size);
}

/* Its silence goes on, as far as any rank can tell. */
static void
line_lost(struct hearthi_liveness_line *line)
{
    hearthi_liveness_line_close(line);
    line->lost = !line->shut && line->have == 0;
}

static void
line_gone(struct hearthi_liveness_line *line)
{
    bool others = hearthi_world.size > 2; /* who may know of locks */

    line_claim(line, weight_of(line),
               is_before(line) ? MOMENT_END : HEARTHI_ELECTION_SILENCE,
               !is_before(line) ? HEARTHI_ELECTION_SILENCE
               : others         ? MOMENT_LOCKS
                                : MOMENT_END,
               "rank %d (process %d on %s) is gone: it was killed or left "
               "without hearth_finalize; the launcher or the system's log may "
               "know why",
               line->rank, line->pid, line->host);
}

/* A process that ended, or a stranger that wrote a segment of TCP that says
 * so. */
static void
line_ended(struct hearthi_liveness_line *line)
{
    hearthi_liveness_line_close(line);
    if (line->bye || hearthi_elections_ending())
        return;
    line->lost = true;
    hearthi_line_reconnect_begin(line);
}

/* Nothing from either side, of two: rather this host is cut off, and ranks
 * that can be heard shall speak first. */
static bool
is_cut_off(const struct hearthi_liveness_line *line)
{
    const struct hearthi_liveness_line *other =
        &hearthi_liveness_line[is_next(line) ? HEARTHI_LINE_PREV
                                             : HEARTHI_LINE_NEXT];

    return other->rank != line->rank &&
           other->silent > hearthi_opt.udp_giveup / 2;
}

/* Over mpi a rank may be stopped in a debugger, and the network of the lines
 * away while the fabric works, so the job goes on.  The rank before says it,
 * once; one that is rather cut off itself waits as long again. */
static void
silence_warn(struct hearthi_liveness_line *line)
{
    uint64_t most = hearthi_opt.udp_giveup * (is_cut_off(line) ? 2 : 1);

    if (!is_next(line) || line->warned || line->silent <= most)
        return;
    line->warned = true;
    hearthi_warn("job",
                 "rank %d (process %d on %s) has been silent for %" PRIu64
                 " s: it is stopped, or its host or the network is down; the "
                 "job goes on",
                 line->rank, line->pid, line->host, line->silent / 1000000000);
}

void
hearthi_liveness_line_silent(struct hearthi_liveness_line *line)
{
    bool     cut = is_cut_off(line);
    uint64_t most = cut ? hearthi_opt.udp_giveup / 2 + HEARTHI_ELECTION_SILENCE
                        : hearthi_liveness_moment();

    if (hearthi_opt.transport == HEARTHI_TRANSPORT_MPI) {
        silence_warn(line);
        return;
    }
    line_claim(line,
               cut ? 2 * hearthi_world.size + hearthi_world.rank
                   : weight_of(line),
               most, most + hearthi_liveness_moment_locks(),
               "rank %d (process %d on %s) has been silent for %zu s: it was "
               "stopped, or its host or the network is down; "
               "HEARTH_UDP_GIVEUP is how long to wait",
               line->rank, line->pid, line->host,
               hearthi_opt.udp_giveup / 1000000000);
}

/* What another rank claims or has said goes on. */
static void
claim_heard(const struct hearthi_liveness_line *line,
            const struct hearthi_record        *r)
{
    int from = is_next(line) ? HEARTHI_LINE_NEXT : HEARTHI_LINE_PREV;

    if (r->by == hearthi_world.rank)
        return;
    hearthi_liveness_lines_tell(from, (enum hearthi_said)r->said, r->by,
                                r->about, r->weight);
    hearthi_election_heard(r);
}

static void
record_heard(struct hearthi_liveness_line *line, struct hearthi_record *r)
{
    switch (r->said) {
    case HEARTHI_SAID_WHERE: hearthi_collective_watch_heard(r); break;
    case HEARTHI_SAID_STALLED: hearthi_stalled_heard(r); break;
    case HEARTHI_SAID_DEADLOCK: hearthi_deadlock_heard(r); break;
    case HEARTHI_SAID_WAITS: hearthi_deadlock_told(r); break;
    case HEARTHI_SAID_BYE: line->bye = true; break;
    case HEARTHI_SAID_LOCKS:
        if (r->about != hearthi_world.rank)
            hearthi_abandoned_gather_heard(r);
        break;
    case HEARTHI_SAID_CLAIM:
        hearthi_abandoned_gather_ask(r->about);
        /* fall through */
    case HEARTHI_SAID_ENDING: claim_heard(line, r); break;
    }
}

static void
line_again(struct hearthi_liveness_line *line)
{
    if (line->fd >= 0)
        hearthi_line_reconnect_end(line); /* its rank has made it */
    else if (hearthi_line_reconnect_look(line) == HEARTHI_HEARD_END) {
        line->lost = false;
        if (!hearthi_elections_ending())
            line_gone(line);
    }
}

void
hearthi_liveness_line_read(struct hearthi_liveness_line *line)
{
    struct hearthi_record r;
    enum hearthi_heard    heard;

    line_again(line);
    while (line->fd >= 0) {
        heard = hearthi_liveness_line_take(line, &r);
        if (heard == HEARTHI_HEARD_RECORD)
            record_heard(line, &r);
        else if (heard == HEARTHI_HEARD_END)
            line_ended(line);
        else if (heard == HEARTHI_HEARD_LOST)
            line_lost(line);
        else
            return;
    }
}
