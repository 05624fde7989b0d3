/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rank after the one that is gone sends a record along what is left of the
 * ring.  Each rank adds what it knows, and it ends at the rank before the one
 * that is gone, which is the one that speaks, and has waited for it.
 */
#include "config.h"

#include "abandoned_gather.h"

#include <pthread.h>

#include "life.h"
#include "report_election.h"
#include "world.h"

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
    pthread_mutex_lock(&l.mutex);
    l.knows = knows;
    pthread_mutex_unlock(&l.mutex);
}

void
hearthi_abandoned_gather_add(int rank, struct hearthi_abandoned_locks *lost)
{
    pthread_mutex_lock(&l.mutex);
    if (l.knows != NULL)
        l.knows(rank, lost);
    pthread_mutex_unlock(&l.mutex);
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
    l.asked = true;
    hearthi_abandoned_gather_add(gone, &r.lost);
    hearthi_liveness_line_pass(&hearthi_liveness_line[HEARTHI_LINE_NEXT], r);
}

void
hearthi_abandoned_gather_heard(const struct hearthi_record *r)
{
    struct hearthi_record mine = *r;

    hearthi_abandoned_gather_add(r->about, &mine.lost);
    hearthi_election_locks(r->about, &mine.lost);
    if (r->about != hearthi_liveness_line[HEARTHI_LINE_NEXT].rank)
        hearthi_liveness_line_pass(&hearthi_liveness_line[HEARTHI_LINE_NEXT],
                                   mine);
}
