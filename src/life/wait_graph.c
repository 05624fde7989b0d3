/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Why no thread goes on where hearthi_waits_are_final() says so.  All threads
 * of all ranks waited at one moment (deadlock.c has that argument), each as it
 * is told here.  Let one of them be the first that goes on afterwards.
 *   - It waits for a lock: some thread has that lock, which it was told of as
 *     a thread that waits.  The lock is passed on by a thread that goes on
 *     first.  The same holds of a reader-writer lock; a reader waits for a
 *     writer that is inside, or behind a writer that waits for a reader.  A
 *     lock that no thread has is on its way to one: nothing is final then.
 *   - It is in a call that all ranks make: some rank has made fewer of them.
 *     A call ends when all ranks have made it, so a thread of that rank goes
 *     on first.  If no rank has made fewer, the call is about to end.
 *   - It waits for a flag, which was not set after that moment, as the rank
 *     says that manages the flag: who sets it goes on first.
 *   - It is in MPI, for a rank all of whose threads wait, at last in Hearth:
 *     that rank sends what is waited for when it goes on.  Ranks that wait for
 *     each other in MPI alone may be moving data, so they are not final.
 *
 * Three things only look so, each because what was done before that moment may
 * arrive after it: the signal of a condition, the value of a word
 * (hearth_wait_until) or the last one of a team, if the network has held it up
 * for HEARTH_DEADLOCK; a message of MPI's that was under way for as long; and
 * what no thread does that is there: a timer or signal that is yet to come, or
 * a process that is no rank of the job. */
#include "config.h"

#include "wait_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* ---- the list ---- */

bool
hearthi_waits_add(struct hearthi_waits *g, const struct hearthi_thread_wait *w)
{
    enum { FIRST = 64 };

    if (g->n == g->room) {
        size_t room = g->room == 0 ? FIRST : 2 * g->room;
        void  *more = realloc(g->wait, room * sizeof *g->wait);

        if (more == NULL)
            return false;
        g->wait = more;
        g->room = room;
    }
    g->wait[g->n++] = *w;
    return true;
}

void
hearthi_waits_free(struct hearthi_waits *g)
{
    free(g->wait);
    memset(g, 0, sizeof *g);
}

const struct hearthi_thread_wait *
hearthi_waits_find(const struct hearthi_waits *g, enum hearthi_wait_kind kind,
                   uint64_t what)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->wait[i].kind == (int32_t)kind && g->wait[i].what == what)
            return &g->wait[i];
    return NULL;
}

bool
hearthi_wait_is_missed(const struct hearthi_thread_wait *rank,
                       const struct hearthi_thread_wait *by)
{
    return rank->kind == HEARTHI_WAIT_RANK &&
           (by->kind == HEARTHI_WAIT_ALL ? rank->what < by->what
                                         : rank->mpi < by->mpi);
}

/* ---- waits in Hearth ---- */

static bool
is_waited_for(const struct hearthi_waits       *g,
              const struct hearthi_thread_wait *w)
{
    for (size_t i = 0; i < g->n; i++)
        if (hearthi_wait_is_missed(&g->wait[i], w))
            return true;
    return false;
}

static bool
has(const struct hearthi_waits *g, enum hearthi_wait_kind kind, uint64_t what)
{
    return hearthi_waits_find(g, kind, what) != NULL;
}

static bool
reader_is_final(const struct hearthi_waits *g, uint64_t rwlock)
{
    return has(g, HEARTHI_HAS_WRITE, rwlock) ||
           (has(g, HEARTHI_WAIT_WRITE, rwlock) &&
            has(g, HEARTHI_HAS_READ, rwlock));
}

/* Not those of MPI. */
static bool
wait_is_final(const struct hearthi_waits       *g,
              const struct hearthi_thread_wait *w)
{
    switch (w->kind) {
    case HEARTHI_WAIT_LOCK: return has(g, HEARTHI_HAS_LOCK, w->what);
    case HEARTHI_WAIT_READ: return reader_is_final(g, w->what);
    case HEARTHI_WAIT_WRITE:
        return has(g, HEARTHI_HAS_WRITE, w->what) ||
               has(g, HEARTHI_HAS_READ, w->what);
    case HEARTHI_WAIT_ALL: return is_waited_for(g, w);
    default: return true;
    }
}

static bool
all_here_are_final(const struct hearthi_waits *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (!wait_is_final(g, &g->wait[i]))
            return false;
    return true;
}

/* ---- waits in MPI ---- */

/* loose[r]: waits of rank r in MPI that are not known to be final. */
static bool
all_others_are_stuck(const int *loose, int ranks, int but)
{
    for (int r = 0; r < ranks; r++)
        if (r != but && loose[r] > 0)
            return false;
    return true;
}

static bool
one_of_all_is_stuck(const struct hearthi_waits *g, const int *loose,
                    const struct hearthi_thread_wait *w)
{
    for (size_t i = 0; i < g->n; i++)
        if (hearthi_wait_is_missed(&g->wait[i], w) &&
            loose[g->wait[i].rank] == 0)
            return true;
    return false;
}

static bool
mpi_is_final(const struct hearthi_waits *g, const int *loose, int ranks,
             const struct hearthi_thread_wait *w)
{
    switch (w->peer) {
    case HEARTHI_PEER_OUTSIDE: return false;
    case HEARTHI_PEER_ANY: return all_others_are_stuck(loose, ranks, w->rank);
    case HEARTHI_PEER_EACH: return one_of_all_is_stuck(g, loose, w);
    default: return w->peer != w->rank && loose[w->peer] == 0;
    }
}

/* One more that is final, if there is one: it counts no more. */
static bool
mpi_settle(const struct hearthi_waits *g, int *loose, int ranks, bool *settled)
{
    bool any = false;

    for (size_t i = 0; i < g->n; i++)
        if (g->wait[i].kind == HEARTHI_WAIT_MPI && !settled[i] &&
            mpi_is_final(g, loose, ranks, &g->wait[i])) {
            HEARTHI_ASSERT(loose[g->wait[i].rank] > 0);
            loose[g->wait[i].rank]--;
            settled[i] = any = true;
        }
    return any;
}

/* True if some rank waits in Hearth: what is in MPI alone is not Hearth's to
 * tell. */
static bool
loose_count(const struct hearthi_waits *g, int *loose)
{
    bool here = false;

    for (size_t i = 0; i < g->n; i++) {
        const struct hearthi_thread_wait *w = &g->wait[i];

        if (w->kind == HEARTHI_WAIT_MPI)
            loose[w->rank]++;
        else
            here = here || hearthi_wait_is(w);
    }
    return here;
}

static bool
all_in_mpi_are_final(const struct hearthi_waits *g, int ranks)
{
    int  *loose = calloc((size_t)ranks, sizeof *loose);
    bool *settled = calloc(g->n + 1, sizeof *settled);
    bool  final = loose != NULL && settled != NULL && loose_count(g, loose);

    while (final && mpi_settle(g, loose, ranks, settled))
        ;
    final = final && all_others_are_stuck(loose, ranks, -1);
    free(loose);
    free(settled);
    return final;
}

bool
hearthi_waits_are_final(const struct hearthi_waits *g, int ranks)
{
    return all_here_are_final(g) && all_in_mpi_are_final(g, ranks);
}
