/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages that move while other threads of all ranks use them: they load, store,
 * lock, hold and count in them at every moment.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "migrate.h"

enum { PAGES = 24, ROUNDS = 40, LOCK = 7 };

/* Of each page: word 0 is stored by the rank whose turn it is to write alone,
 * word 1 is counted under a lock and word 2 by atomic steps, by other threads
 * of all ranks; words from FREE on belong to a rank's thread each. */
enum { ALONE, LOCKED, COUNTED, FREE = 8 };

static struct {
    int64_t    *p;
    atomic_bool over;
    int64_t     locked[PAGES], counted[PAGES], mine[PAGES];
    bool        wrong;
} s;

static void *
beside(void *unused)
{
    uint64_t random = (uint64_t)me + 1;

    (void)unused;
    while (!atomic_load(&s.over)) {
        int      i = (int)(hearthi_random(&random) % PAGES);
        int64_t *w = word(s.p, i);

        switch (hearthi_random(&random) % 4) {
        case 0:
            hearth_lock(LOCK);
            w[LOCKED]++;
            hearth_unlock(LOCK);
            s.locked[i]++;
            break;
        case 1:
            hearth_fetch_add(&w[COUNTED], 1);
            s.counted[i]++;
            break;
        case 2:
            s.wrong |= w[FREE + me] != s.mine[i];
            w[FREE + me] = ++s.mine[i];
            break;
        default:
            hearth_hold(w, page_bytes(), HEARTH_WRITE);
            w[FREE + me] = ++s.mine[i];
            hearth_drop(w, page_bytes(), HEARTH_WRITE);
        }
        sched_yield();
    }
    return NULL;
}

static int64_t
sum(int64_t mine)
{
    int64_t all;

    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void
sums_check(void)
{
    expect(!s.wrong);
    for (int i = 0; i < PAGES; i++) {
        int64_t *w = word(s.p, i);

        expect_eq(w[ALONE], ROUNDS - 1);
        expect_eq(w[LOCKED], sum(s.locked[i]));
        expect_eq(w[COUNTED], sum(s.counted[i]));
        expect_eq(w[FREE + me], s.mine[i]);
    }
}

/* Others write in the same pages, so that hardly one would move by itself: the
 * pages are such that move where they are written first. */
static void
play(bool threads)
{
    pthread_t other;

    s.p = hearth_alloc(PAGES * page_bytes() / 8, 8, hearth_first_touch());
    for (int i = 0; i < PAGES; i++)
        s.locked[i] = s.counted[i] = s.mine[i] = 0;
    s.wrong = false;
    atomic_store(&s.over, false);
    barrier();
    if (threads)
        pthread_create(&other, NULL, beside, NULL);
    for (int64_t round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PAGES; i++)
            if ((i + round / 3) % ranks == me)
                *word(s.p, i) = round;
        barrier();
        for (int i = 0; i < PAGES; i++)
            expect_eq(*word(s.p, i), round);
        barrier();
    }
    atomic_store(&s.over, true);
    if (threads)
        pthread_join(other, NULL);
    barrier();
    sums_check();
    hearth_free(s.p);
}

START_TEST(threads_lose_no_byte_while_pages_move)
{
    for (int k = 0; k < 3; k++)
        play(threads_allowed() && k > 0);
    all_expected();
}
END_TEST

/* Home pages of rank 0 that another thread of it stores to all the time, told
 * of by a flag alone, while they move away. */
static void *
storing(void *unused)
{
    (void)unused;
    for (int64_t n = 1; !atomic_load(&s.over); n++) {
        for (int i = 0; i < PAGES; i++)
            word(s.p, i)[FREE] = n;
        hearth_lock(LOCK);
        for (int i = 0; i < PAGES; i++)
            word(s.p, i)[LOCKED] = n;
        hearth_unlock(LOCK);
    }
    return NULL;
}

static void *
watching(void *unused)
{
    (void)unused;
    while (!atomic_load(&s.over)) {
        int64_t least, most;

        hearth_lock(LOCK);
        least = most = word(s.p, 0)[LOCKED];
        for (int i = 0; i < PAGES; i++) {
            int64_t *w = word(s.p, i);

            s.wrong |= w[LOCKED] != least;
            /* under scope what is stored outside is told later */
            s.wrong |= release_consistency() && w[FREE] < most;
        }
        hearth_unlock(LOCK);
    }
    return NULL;
}

START_TEST(what_an_old_home_stores_beside_a_move_is_told)
{
    pthread_t other;
    bool      threads = threads_allowed();

    for (int k = 0; k < 8; k++) {
        s.p = words_on(0, PAGES);
        s.wrong = false;
        atomic_store(&s.over, false);
        barrier();
        if (threads)
            pthread_create(&other, NULL, me == 0 ? storing : watching, NULL);
        for (int64_t round = 0; round < 12; round++) {
            for (int i = 0; me == ranks - 1 && i < PAGES; i++)
                *word(s.p, i) = round;
            barrier();
            for (int i = 0; i < PAGES; i++)
                expect_eq(*word(s.p, i), round);
            barrier();
        }
        atomic_store(&s.over, true);
        if (threads)
            pthread_join(other, NULL);
        barrier();
        expect(!s.wrong);
        hearth_free(s.p);
    }
    all_expected();
}
END_TEST

/* Allocations and frees of one thread beside moves of the other, which come to
 * them in another order on each rank. */
static void *
allocating(void *unused)
{
    (void)unused;
    for (int k = 0; k < 30; k++) {
        int64_t *p = words_on(k % ranks, 8);

        dawdle();
        *word(p, me % 8) = 1;
        dawdle();
        s.wrong |= *word(p, me % 8) != 1;
    }
    atomic_store(&s.over, true);
    return NULL;
}

START_TEST(allocations_go_on_beside)
{
    pthread_t other;
    int64_t  *p = words_on(0, PAGES), over = 0, all = 0;

    s.wrong = false;
    atomic_store(&s.over, false);
    if (threads_allowed())
        pthread_create(&other, NULL, allocating, NULL);
    else
        atomic_store(&s.over, true);
    for (int64_t round = 0; all < ranks; round++) {
        for (int i = 0; i < PAGES; i++)
            if ((i + round / 5) % ranks == me)
                *word(p, i) = round;
        barrier();
        for (int i = 0; i < PAGES; i++)
            expect_eq(*word(p, i), round);
        over = atomic_load(&s.over);
        all = sum(over);
    }
    if (threads_allowed())
        pthread_join(other, NULL);
    expect(!s.wrong);
    all_expected();
}
END_TEST

TCase *
beside_tests(void (*start)(void))
{
    TCase *tc = tcase_create("beside");

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, start, fixture_stop);
    tcase_add_test(tc, threads_lose_no_byte_while_pages_move);
    tcase_add_test(tc, what_an_old_home_stores_beside_a_move_is_told);
    tcase_add_test(tc, allocations_go_on_beside);
    return tc;
}
