/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Why one rank speaks.  A claim goes round the ring, or along what is left of
 * it, before its maker's moment has passed; so all ranks that claim within
 * that moment know of each other, and compare weights, which are different.  A
 * claim that comes later finds that a rank has spoken.  Both neighbours see a
 * rank die: the one before it has the lighter claim and the shorter moment; if
 * that is gone, too, the one before it sees that.  So the one after it waits
 * for as long as a claim may take on a busy machine, and speaks only if there
 * is no line by which the one before could know.  No rank waits for ever: one
 * that has held its tongue for HOLD speaks all the same, or ends without a
 * word if another has spoken and no launcher has ended this rank.
 */
#include "config.h"

#include "report_election.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/mutex.h"
#include "base/report.h"
#include "life.h"
#include "world.h"

static struct {
    pthread_mutex_t mutex; /* of the next six */
    int             about, weight;
    uint64_t        least, due; /* when to speak; 0: no claim of this rank's */
    char            call[32], text[512];
    struct hearthi_abandoned_locks lost; /* as others have said */
    int         lost_with;               /* ... with this rank; -1: not yet */
    int         lightest;                /* claim of others */
    atomic_bool known, ending;
    uint64_t    ended; /* since when */
} c = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_elections_open(void)
{
    c.due = 0;
    c.lost_with = -1;
    c.lightest = INT32_MAX;
    c.known = c.ending = false;
}

bool
hearthi_elections_known(void)
{
    return c.known;
}

bool
hearthi_elections_ending(void)
{
    return c.ending;
}

void
hearthi_election_make(const struct hearthi_election *claim, const char *fmt,
                      va_list ap)
{
    hearthi_mutex_lock(&c.mutex, HEARTHI_MUTEX_ELECTION);
    if (c.due == 0) {
        HEARTHI_ASSERT(claim->about != hearthi_world.rank);
        HEARTHI_ASSERT(claim->least <= claim->moment);
        c.about = claim->about;
        c.weight = claim->weight;
        snprintf(c.call, sizeof c.call, "%s", claim->call);
        hearthi_format(c.text, sizeof c.text, fmt, ap);
        c.least = hearthi_now() + claim->least;
        c.due = hearthi_now() + claim->moment;
        c.known = true;
        hearthi_liveness_lines_tell(-1, HEARTHI_SAID_CLAIM, hearthi_world.rank,
                                    claim->about, claim->weight);
    }
    hearthi_mutex_unlock(&c.mutex, HEARTHI_MUTEX_ELECTION);
}

void
hearthi_election_heard(const struct hearthi_record *r)
{
    c.known = true;
    if (r->said == HEARTHI_SAID_ENDING && !c.ending) {
        c.ended = hearthi_now();
        c.ending = true;
    } else if (r->weight < c.lightest)
        c.lightest = r->weight;
}

/* With the mutex. */
static uint64_t
own_due(void)
{
    HEARTHI_ASSERT_HAS(ELECTION);
    HEARTHI_ASSERT(c.least <= c.due);
    if (c.weight >= c.lightest)
        return c.due + HEARTHI_ELECTION_SILENCE;
    return c.lost_with == c.about ? c.least : c.due;
}

uint64_t
hearthi_election_due(void)
{
    uint64_t due;

    hearthi_mutex_lock(&c.mutex, HEARTHI_MUTEX_ELECTION);
    due = c.ending     ? c.ended + HEARTHI_ELECTION_SILENCE
          : c.due == 0 ? UINT64_MAX
                       : own_due();
    hearthi_mutex_unlock(&c.mutex, HEARTHI_MUTEX_ELECTION);
    return due;
}

/* ---- abandoned locks ----
 *
 * The rank after the one that is gone sends a record along what is left of the
 * ring.  Each rank adds what it knows, and it ends at the rank before the one
 * that is gone, which is the one that speaks, and has waited for it. */

static struct {
    pthread_mutex_t    mutex;
    hearthi_life_knows knows; /* with the mutex */
    bool               asked;
} l = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_abandoned_gather_open(void)
{
    l.asked = false;
}

void
hearthi_life_ask(hearthi_life_knows knows)
{
    hearthi_mutex_lock(&l.mutex, HEARTHI_MUTEX_ABANDONED);
    l.knows = knows;
    hearthi_mutex_unlock(&l.mutex, HEARTHI_MUTEX_ABANDONED);
}

/* Add what this rank knows.  May not wait long. */
static void
locks_add(int rank, struct hearthi_abandoned_locks *lost)
{
    hearthi_mutex_lock(&l.mutex, HEARTHI_MUTEX_ABANDONED);
    if (l.knows != NULL)
        l.knows(rank, lost);
    hearthi_mutex_unlock(&l.mutex, HEARTHI_MUTEX_ABANDONED);
}

/* The others have said which locks are lost with a rank. */
static void
locks_heard(int about, const struct hearthi_abandoned_locks *lost)
{
    c.lost = *lost;
    c.lost_with = about;
}

void
hearthi_abandoned_gather_ask(int gone)
{
    struct hearthi_record r = { .said = HEARTHI_SAID_LOCKS,
                                .by = hearthi_world.rank,
                                .about = gone };

    if (l.asked || gone != hearthi_liveness_line[HEARTHI_LINE_PREV].rank ||
        gone == hearthi_liveness_line[HEARTHI_LINE_NEXT].rank)
        return;
    HEARTHI_ASSERT(gone != hearthi_world.rank);
    l.asked = true;
    locks_add(gone, &r.lost);
    hearthi_liveness_line_pass(&hearthi_liveness_line[HEARTHI_LINE_NEXT], r);
}

void
hearthi_abandoned_gather_heard(const struct hearthi_record *r)
{
    struct hearthi_record mine = *r;

    locks_add(r->about, &mine.lost);
    locks_heard(r->about, &mine.lost);
    if (r->about != hearthi_liveness_line[HEARTHI_LINE_NEXT].rank)
        hearthi_liveness_line_pass(&hearthi_liveness_line[HEARTHI_LINE_NEXT],
                                   mine);
}

/* ---- the line ---- */

static void
speak(void)
{
    struct hearthi_abandoned_locks lost = { 0 };
    char                           text[128];

    if (c.lost_with == c.about)
        lost = c.lost;
    locks_add(c.about, &lost);
    hearthi_abandoned_locks_text(&lost, text, sizeof text);
    hearthi_fatal(c.call, "%s%s", c.text, text);
}

void
hearthi_election_judge(void)
{
    uint64_t now = hearthi_now();

    if (c.ending && now - c.ended > HEARTHI_ELECTION_SILENCE)
        hearthi_end_now();
    if (!c.ending && now >= hearthi_election_due())
        speak();
}
