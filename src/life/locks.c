/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rank after the one that is gone sends a record along what is left of the
 * ring.  Each rank adds what it knows, and it ends at the rank before the one
 * that is gone, which is the one that speaks, and has waited for it.
 */
#include "config.h"

#include "locks.h"

#include <pthread.h>

#include "claim.h"
#include "life.h"
#include "world.h"

static struct {
    pthread_mutex_t    mutex;
    hearthi_life_knows knows; /* with the mutex */
    bool               asked;
} l = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_locks_open(void)
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
hearthi_locks_know(int rank, struct hearthi_lost *lost)
{
    pthread_mutex_lock(&l.mutex);
    if (l.knows != NULL)
        l.knows(rank, lost);
    pthread_mutex_unlock(&l.mutex);
}

void
hearthi_locks_ask(int gone)
{
    struct hearthi_record r = { .said = HEARTHI_LOCKS,
                                .by = hearthi_world.rank,
                                .about = gone };

    if (l.asked || gone != hearthi_line[HEARTHI_PREV].rank ||
        gone == hearthi_line[HEARTHI_NEXT].rank)
        return;
    l.asked = true;
    hearthi_locks_know(gone, &r.lost);
    hearthi_line_pass(&hearthi_line[HEARTHI_NEXT], r);
}

void
hearthi_locks_heard(const struct hearthi_record *r)
{
    struct hearthi_record mine = *r;

    hearthi_locks_know(r->about, &mine.lost);
    hearthi_claim_locks(r->about, &mine.lost);
    if (r->about != hearthi_line[HEARTHI_NEXT].rank)
        hearthi_line_pass(&hearthi_line[HEARTHI_NEXT], mine);
}
