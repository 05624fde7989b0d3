/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Teams: ranks of a cluster meet in some of several groups, as often as each
 * group likes.  Every member writes words of its own among those of all ranks,
 * and adds to numbers of the team; behind the team's barrier each reads what
 * all members have written, of random places in advance.
 */
#include <mpi.h>

#include "scene.h"
#include "watch.h"

enum { COLOURS = 3, PLACES = 8, TURNS = 6 };

struct party {
    struct stage *s;
    struct yard   yard;
    hearth_team  *team;
    int           members, first, apart; /* member m is first + m * apart */
    double       *sum;                   /* one of each member and turn */
    int32_t      *count;                 /* the same */
};

static MPI_Comm
comm_draw(struct stage *s)
{
    int      colours = 1 + (int)draw(&s->random, COLOURS);
    MPI_Comm cluster, comm;

    hearth_cluster_comm(&cluster);
    MPI_Comm_split(cluster, s->w->me % colours, s->w->me, &comm);
    MPI_Comm_free(&cluster);
    return comm;
}

static struct part
part_of(const struct party *p, int rank)
{
    return (struct part){ (size_t)rank, (size_t)p->s->w->ranks,
                          p->yard.words };
}

static void
places_fetch(const struct party *p)
{
    const void *place[PLACES];
    size_t      bytes[PLACES];

    for (int i = 0; i < PLACES; i++) {
        place[i] =
            &p->yard.word[draw(&p->s->a->random, p->yard.words - PLACES)];
        bytes[i] = (1 + draw(&p->s->a->random, PLACES)) * sizeof(uint64_t);
    }
    hearth_prefetchv(place, bytes, draw(&p->s->a->random, PLACES + 1));
}

static void
turn_play(const struct party *p, uint64_t version)
{
    double all = (double)version * p->members;

    yard_write(&p->yard, part_of(p, p->s->w->me), version);
    hearth_add_double(p->sum, 1);
    hearth_add32(p->count, 1);
    scene_nap(p->s);
    hearth_team_barrier(p->team);
    places_fetch(p);
    for (int m = 0; m < p->members; m++)
        yard_check(p->s, &p->yard, part_of(p, p->first + m * p->apart),
                   version);
    if (*p->sum != all || *p->count != (int32_t)all)
        world_fail(p->s->a, "a team of %d has added %g and %d in turn %d",
                   p->members, *p->sum, *p->count, (int)version);
    hearth_team_barrier(p->team);
    watch_step();
}

/* Numbers of ranks of a team are at one distance. */
static void
party_measure(struct party *p, MPI_Comm comm)
{
    int last = p->s->w->me;

    p->first = last;
    MPI_Comm_size(comm, &p->members);
    MPI_Bcast(&p->first, 1, MPI_INT, 0, comm);
    MPI_Bcast(&last, 1, MPI_INT, p->members - 1, comm);
    p->apart = p->members > 1 ? (last - p->first) / (p->members - 1) : 1;
}

void
scene_teams(struct stage *s)
{
    struct party p = { .s = s, .yard = yard_make(s, 3, hearth_cyclic(1)) };
    MPI_Comm     comm = comm_draw(s);
    uint64_t     turns;

    party_measure(&p, comm);
    turns = 1 + mix((uint64_t)p.first, p.yard.key) % TURNS;
    p.team = hearth_team_of(comm);
    MPI_Comm_free(&comm);
    p.sum = hearth_team_alloc(p.team, 2, sizeof *p.sum);
    p.count = (int32_t *)(void *)(p.sum + 1);
    for (uint64_t version = 1; version <= turns; version++)
        turn_play(&p, version);
    if (s->w->me == p.first)
        hearth_free(p.sum);
    hearth_team_free(p.team);
    hearth_barrier();
    yard_drop(&p.yard);
}
