/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tries beside those who wait and beside each other, and logs that rest.
 */
#include "delay.h"
#include "flags.h"

/* ---- tries beside others ---- */

enum { STOP = 7 };

/* Try and give back until rank 0 says that it is enough, or for so long. */
static int
try_until_told(int lock, double seconds)
{
    double until = MPI_Wtime() + seconds;
    int    told = 0, got = 0;

    while (!told && MPI_Wtime() < until) {
        if (hearth_trylock(lock)) {
            hearth_unlock(lock);
            got++;
        }
        MPI_Iprobe(0, STOP, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
    }
    return got;
}

static void
stop_tell(void)
{
    for (int r = 1; r < ranks; r++)
        MPI_Send(NULL, 0, MPI_BYTE, r, STOP, MPI_COMM_WORLD);
}

static void
stop_take(void)
{
    MPI_Recv(NULL, 0, MPI_BYTE, 0, STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int
all_sum(int mine)
{
    int sum = mine;

    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* All others try all the time, and rank 0 is still served: within the time in
 * which they try, though each of its turns waits for a try or two. */
START_TEST(tries_do_not_starve_who_waits)
{
    enum { TURNS = 10, SECONDS = 8 };
    double start = MPI_Wtime(), took = 0;

    barrier();
    if (me == 0) {
        for (int k = 0; k < TURNS; k++) {
            hearth_lock(2400);
            hearth_unlock(2400);
        }
        took = MPI_Wtime() - start;
        stop_tell();
    } else {
        try_until_told(2400, SECONDS);
        stop_take();
    }
    all_assert(true);
    expect_timely(took < SECONDS);
    all_expected();
}
END_TEST

/* A try holds no ticket that others could wait for. */
START_TEST(a_lock_that_a_try_holds_is_waited_for)
{
    int64_t *p = pages_new(ranks);

    for (int holder = 0; holder < ranks; holder++) {
        int lock = 2402 + holder;

        if (me == holder)
            expect(hearth_trylock(lock));
        all_assert(true);
        if (me == holder)
            delay_here(20);
        else
            hearth_lock(lock);
        word(p, holder)[0] += me == holder ? 1 : 0;
        expect_eq(word(p, holder)[0], 1);
        hearth_unlock(lock);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Nobody waits for the lock, all try: it is free again and again, and each
 * time one of them must get it. */
START_TEST(one_of_several_tries_gets_a_free_lock)
{
    enum { TIMES = 20, SECONDS = 8 };
    int got = 0;

    barrier();
    if (me == 0) {
        double until = MPI_Wtime() + SECONDS;

        for (double t = 0; t < until && got < TIMES; t = MPI_Wtime())
            if (hearth_trylock(2401)) {
                got++;
                hearth_unlock(2401);
            }
        stop_tell();
    } else {
        got = try_until_told(2401, SECONDS);
        stop_take();
    }
    all_assert(true);
    expect_timely(all_sum(got) >= TIMES);
    all_expected();
}
END_TEST

/* ---- logs that rest ---- */

enum { RESTED = 64 };

/* Use the lock, and read pages of which there are copies. */
static void
rested_use(int64_t *p)
{
    int64_t sum = 0;

    hearth_lock(2500);
    hearth_unlock(2500);
    barrier();
    for (int i = 0; i < RESTED; i++)
        sum += word(p, i)[0];
    expect_eq(sum, 0);
}

/* Around 2^16 barriers, so that no number of 15 or 16 bits may be left in the
 * words of a lock or in a message.  Two ranks suffice, and with more a barrier
 * takes long.  Fewer would show nothing. */
START_TEST(a_lock_that_rested_for_many_barriers_costs_what_it_did)
{
    enum { REST = 65500, USES = 32 };
    hearth_stats before, after;
    int64_t     *p;

    if (ranks != 2 || rounds_of(REST) < REST)
        return;
    p = pages_new(RESTED);
    hearth_lock(2500);
    word(p, 0)[me + 1] = 1;
    hearth_unlock(2500);
    for (int k = 0; k < 4; k++)
        rested_use(p); /* the first ones fetch what they find new */
    for (int k = 0; k < REST; k++)
        barrier();
    hearth_get_stats(&before);
    for (int k = 0; k < USES; k++)
        rested_use(p);
    hearth_get_stats(&after);
    expect_eq(after.everything, before.everything);
    expect(after.message_bytes - before.message_bytes < (uint64_t)USES * 1000);
    hearth_free(p);
    all_expected();
}
END_TEST

/* A lock that stays is given when it is asked for, perhaps by a rank that is
 * in the next barrier already: "invalidate_all", once. */
TCase *
rests(void)
{
    TCase *tc = tcase_create("rests");

    tcase_add_unchecked_fixture(tc, fixture_start_eager, fixture_stop);
    tcase_add_test(tc, a_lock_that_rested_for_many_barriers_costs_what_it_did);
    return tc;
}

TCase *
tries(void)
{
    TCase *tc = tcase_create("tries");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, tries_do_not_starve_who_waits);
    tcase_add_test(tc, a_lock_that_a_try_holds_is_waited_for);
    tcase_add_test(tc, one_of_several_tries_gets_a_free_lock);
    return tc;
}
