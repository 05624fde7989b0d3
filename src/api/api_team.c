/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Teams: some of the ranks, which meet and allocate without the others.
 *
 * The barrier of a team is three things that there were before, one behind the
 * other: each member sets a flag, in whose log is then what it has written or
 * seen; the members meet, by messages of the team's own communicator; and each
 * waits for the flag, which is set, and so reads the log.  What a member did
 * before the barrier happens before its set, which happens before each
 * departure from the meeting, and so before each wait, which is an acquire of
 * all sets before it.  So it is release consistency among the members, under
 * both consistencies, as with flags (coherence/lock_sync.c).
 *
 * The flag stays set.  There are some for all teams, which a member chooses:
 * one that another team has, too, brings notices of that team as well, and
 * those are of writes that its ranks may be told of in any case.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/cancel.h"
#include "base/mutex.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "cluster.h"
#include "coherence/coherence.h"
#include "coherence/race_sync.h"
#include "collective.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "init.h"
#include "malloc/malloc.h"
#include "races/race_history.h"
#include "team.h"
#include "thread_state.h"
#include "transport/log.h"
#include "transport/transport.h"
#include "world.h"

struct hearth_team {
    struct hearth_team *next;
    MPI_Comm            comm;
    int                 rank, size; /* in the team */
    int                 sync;       /* its flag */
    int                 turn;       /* the rank that allocates next */
};

/* Threads of a rank may be in different teams at the same time. */
static pthread_mutex_t     mutex = PTHREAD_MUTEX_INITIALIZER;
static struct hearth_team *teams; /* of this rank, the newest first */
static unsigned            made;

/* ---- start and end ---- */

/* Are all ranks of a communicator ranks of Hearth's? */
static bool
is_within(MPI_Comm comm)
{
    MPI_Group of, all;
    int       n, *rank, *found, inter;
    bool      within = true;

    HEARTHI_MPI(MPI_Comm_test_inter(comm, &inter));
    if (inter)
        return false;
    HEARTHI_MPI(MPI_Comm_group(comm, &of));
    HEARTHI_MPI(MPI_Comm_group(hearthi_cluster.comm, &all));
    HEARTHI_MPI(MPI_Group_size(of, &n));
    rank = calloc(2 * (size_t)n, sizeof *rank);
    if (rank == NULL)
        hearthi_fatal("hearth_team_of", "no memory for %d ranks", n);
    found = rank + n;
    for (int i = 0; i < n; i++)
        rank[i] = i;
    HEARTHI_MPI(MPI_Group_translate_ranks(of, n, rank, all, found));
    for (int i = 0; i < n; i++)
        within &= found[i] >= 0 && found[i] < hearthi_cluster_ranks();
    free(rank);
    MPI_Group_free(&of);
    MPI_Group_free(&all);
    return within;
}

/* The first member chooses, each of its teams another one.  Relaxed: only the
 * number counts. */
static void
flag_choose(struct hearth_team *t)
{
    unsigned n = __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
    int      flag = (hearthi_world.rank * 7 + (int)(n % HEARTHI_TEAM_FLAGS)) %
               HEARTHI_TEAM_FLAGS;

    hearthi_collective_bcast(&flag, sizeof flag, 0, t->comm);
    t->sync = HEARTHI_TEAM_FLAGS_AT + flag;
}

hearth_team *
hearth_team_of(MPI_Comm comm)
{
    HEARTHI_UNCANCELLED;
    const char         *call = "hearth_team_of";
    struct hearth_team *t;

    hearthi_require_thread(call);
    if (comm == MPI_COMM_NULL)
        hearthi_fatal(call, "MPI_COMM_NULL has no ranks: only the ranks of a "
                            "team call this");
    if (!is_within(comm))
        hearthi_fatal(call, "the communicator has ranks that are not of this "
                            "cluster, or is an intercommunicator: use one of "
                            "ranks that hearth_cluster_comm() has");
    t = calloc(1, sizeof *t);
    if (t == NULL)
        hearthi_fatal(call, "no memory");
    hearthi_thread_state_waits(call, HEARTHI_NO_NUMBER);
    t->comm = hearthi_collective_dup(comm);
    HEARTHI_MPI(MPI_Comm_rank(t->comm, &t->rank));
    HEARTHI_MPI(MPI_Comm_size(t->comm, &t->size));
    flag_choose(t);
    hearthi_thread_state_goes_on();
    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_TEAMS);
    t->next = teams;
    teams = t;
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_TEAMS);
    return t;
}

hearth_team *
hearth_team_of_f(int comm)
{
    hearthi_require_thread("hearth_team_of");
    return hearth_team_of(hearthi_comm_of_integer(comm));
}

static bool
is_team(const hearth_team *team)
{
    const struct hearth_team *t;

    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_TEAMS);
    for (t = teams; t != NULL && t != team; t = t->next)
        continue;
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_TEAMS);
    return t != NULL;
}

static void
team_check(const char *call, const hearth_team *team)
{
    hearthi_require_thread(call);
    if (!is_team(team))
        hearthi_fatal(call,
                      "%p is no team of this rank: use what "
                      "hearth_team_of returned, until hearth_team_free",
                      (const void *)team);
}

static void
team_unlink(const hearth_team *team)
{
    struct hearth_team **at = &teams;

    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_TEAMS);
    while (*at != team)
        at = &(*at)->next;
    *at = team->next;
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_TEAMS);
}

static void
team_end(struct hearth_team *t)
{
    team_unlink(t);
    HEARTHI_SPINS(MPI_Comm_free(&t->comm));
    free(t);
}

void
hearth_team_free(hearth_team *team)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_team_free";

    team_check(call, team);
    hearthi_thread_state_waits(call, HEARTHI_NO_NUMBER);
    hearthi_collective(team->comm);
    team_end(team);
    hearthi_thread_state_goes_on();
}

void
hearthi_teams_close(void)
{
    while (teams != NULL)
        team_end(teams);
    made = 0;
}

/* ---- meeting ---- */

static void
team_meet(const char *call, struct hearth_team *t)
{
    MPI_Request request;

    if (hearthi_races != NULL)
        hearthi_race_releases(HEARTHI_RACE_FLAG_SET, t->sync);
    hearthi_flag_set(t->sync);
    hearthi_thread_state_waits(call, HEARTHI_NO_NUMBER);
    HEARTHI_MPI(MPI_Ibarrier(t->comm, &request));
    hearthi_requests_wait(&request, 1);
    hearthi_flag_wait(t->sync);
    if (hearthi_races != NULL)
        hearthi_race_acquired(HEARTHI_RACE_FLAG_WAIT, t->sync);
    hearthi_thread_state_goes_on();
}

void
hearth_team_barrier(hearth_team *team)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_team_barrier";
    uint64_t    start = hearthi_time_begin();

    team_check(call, team);
    hearthi_malloc_send_freed();
    team_meet(call, team);
    hearthi_count(barriers, 1);
    hearthi_interval_begin(hearthi_time_end(barrier_ns, start), false);
}

/* ---- memory ---- */

/* Members take turns: the one whose turn it is has it at home, and tells the
 * others when all of it is zero. */
void *
hearth_team_alloc(hearth_team *team, size_t count, size_t size)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_team_alloc";
    void       *p = NULL;

    team_check(call, team);
    if (team->rank == team->turn)
        p = hearth_calloc(count, size);
    team_meet(call, team);
    hearthi_thread_state_waits(call, HEARTHI_NO_NUMBER);
    hearthi_collective_bcast(&p, sizeof p, team->turn, team->comm);
    hearthi_thread_state_goes_on();
    team->turn = (team->turn + 1) % team->size;
    return p;
}
