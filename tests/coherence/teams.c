/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Teams: some of the ranks meet, and see what they have written.
 */
#include <pthread.h>

#include "flags.h"

enum { WORDS = 512 };

/* Those ranks of this cluster that have the same colour. */
static MPI_Comm
comm_of(int colour)
{
    MPI_Comm cluster, comm;

    hearth_cluster_comm(&cluster);
    MPI_Comm_split(cluster, colour, 0, &comm);
    MPI_Comm_free(&cluster);
    return comm;
}

/* Ranks of even or of odd numbers, of one cluster: member m is rank
 * first + 2 * m. */
struct half {
    hearth_team *t;
    int          member, members, first;
};

static struct half
half_team(void)
{
    MPI_Comm    comm = comm_of(me % 2);
    struct half h = { .first = me };

    MPI_Comm_rank(comm, &h.member);
    MPI_Comm_size(comm, &h.members);
    MPI_Bcast(&h.first, 1, MPI_INT, 0, comm);
    h.t = hearth_team_of(comm);
    MPI_Comm_free(&comm);
    return h;
}

/* Each round all write a word of each page and read those of the others, on
 * pages of any home; no other rank takes part, and teams meet as often as they
 * like. */
START_TEST(members_see_what_members_wrote_before_their_barrier)
{
    int      rounds = me % 2 == 0 ? 7 : 4;
    int64_t *p =
        hearth_alloc((size_t)ranks * 2 * WORDS, sizeof *p, hearth_cyclic(1));
    struct half h = half_team();

    for (int k = 1; k <= rounds; k++) {
        for (int i = 0; i < 2 * ranks; i++)
            p[i * WORDS + me] = k * 1000 + me;
        hearth_team_barrier(h.t);
        for (int i = 0; i < 2 * ranks; i++)
            for (int m = 0; m < h.members; m++) {
                int r = h.first + 2 * m;

                expect_eq(p[i * WORDS + r], k * 1000 + r);
            }
        hearth_team_barrier(h.t);
    }
    hearth_team_free(h.t);
    barrier();
    for (int i = 0; i < 2 * ranks; i++)
        for (int r = 0; r < ranks; r++)
            expect_eq(p[i * WORDS + r], (r % 2 == 0 ? 7 : 4) * 1000 + r);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* A member passes on what it has seen of ranks that are not in the team: that
 * of the last rank. */
START_TEST(what_a_member_has_seen_the_others_see)
{
    bool     in = me > 0 && hearth_cluster() == hearth_cluster_of(ranks - 1);
    MPI_Comm comm = comm_of(in);
    hearth_team *t = in ? hearth_team_of(comm) : NULL;
    int64_t     *p = hearth_alloc(WORDS, sizeof *p, hearth_on(0));

    MPI_Comm_free(&comm);
    expect_eq(p[7], 0);
    barrier();
    if (me == 0) {
        p[7] = 5;
        hearth_flag_set(3);
    }
    if (me == ranks - 1)
        hearth_flag_wait(3);
    if (in) {
        hearth_team_barrier(t);
        expect_eq(p[7], 5);
    }
    barrier();
    if (me == 0)
        hearth_flag_reset(3);
    barrier();
    hearth_free(p);
    all_expected(); /* the team is left to hearth_finalize() */
}
END_TEST

START_TEST(memory_of_a_team_is_zero_and_at_home_in_it)
{
    struct half  h = half_team();
    hearth_team *alone;
    int64_t     *p, *q;

    for (int k = 0; k < 3; k++) {
        p = hearth_team_alloc(h.t, 3 * WORDS, sizeof *p);
        expect_eq(hearth_home(p), h.first + 2 * (k % h.members));
        for (int i = 0; i < 3; i++)
            expect_eq(p[i * WORDS + h.member], 0);
        hearth_team_barrier(h.t);
        p[WORDS + h.member] = h.member + 1;
        hearth_add(p, 1);
        hearth_team_barrier(h.t);
        for (int m = 0; m < h.members; m++)
            expect_eq(p[WORDS + m], m + 1);
        expect_eq(hearth_fetch_add(p, 0), h.members);
        hearth_team_barrier(h.t);
        if (h.member == h.members - 1)
            hearth_free(p);
    }
    alone = hearth_team_of(MPI_COMM_SELF);
    q = hearth_team_alloc(alone, 1, sizeof *q);
    expect_eq(hearth_home(q), me);
    hearth_team_barrier(alone);
    hearth_free(q);
    hearth_team_free(alone);
    hearth_team_free(h.t);
    all_expected();
}
END_TEST

/* Makes, uses and ends teams of this rank alone. */
static void *
own_teams(void *comm)
{
    for (int i = 0; i < 60; i++) {
        hearth_team *t = hearth_team_of(*(MPI_Comm *)comm);

        hearth_team_barrier(t);
        hearth_team_free(t);
    }
    return NULL;
}

START_TEST(threads_of_a_rank_may_be_in_different_teams)
{
    MPI_Comm  comm[2];
    pthread_t thread;

    if (!threads_allowed())
        return;
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &comm[i]);
    pthread_create(&thread, NULL, own_teams, &comm[1]);
    own_teams(&comm[0]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comm[i]);
    barrier();
}
END_TEST

TCase *
teams(void)
{
    TCase *tc = tcase_create("teams");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, members_see_what_members_wrote_before_their_barrier);
    tcase_add_test(tc, what_a_member_has_seen_the_others_see);
    tcase_add_test(tc, memory_of_a_team_is_zero_and_at_home_in_it);
    tcase_add_test(tc, threads_of_a_rank_may_be_in_different_teams);
    return tc;
}
