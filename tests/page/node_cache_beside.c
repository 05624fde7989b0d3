/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Copies that ranks of a node take from each other, beside other threads.
 */
#include <config.h>

#include <mpi.h>
#include <pthread.h>

#include "node_cache.h"

enum { THREADS = 6, EACH = 4, LATE = 7, ROUNDS = 3 };

/* Are there two ranks of a node and one more, and may all threads call? */
static bool
may_play(void)
{
    int level;

    MPI_Query_thread(&level);
    return owner > 1 && taker > 1 && level == MPI_THREAD_MULTIPLE;
}

struct part {
    pthread_t thread;
    int64_t  *from;
};

static void *
part_fetch(void *p)
{
    hearth_prefetch(((struct part *)p)->from, EACH * page_bytes());
    return NULL;
}

/* Each of the threads has a quarter of the frames that there are; of what it
 * is to bring the other has all but a page, so that little comes from home,
 * but all of it is on its way until that has come. */
START_TEST(what_is_taken_counts_as_on_its_way)
{
    int64_t *p =
        hearth_alloc(THREADS * EACH * page_words(), 8, hearth_on(HOME));
    struct part part[THREADS];

    barrier();
    for (int i = 0; me == owner && i + 1 < THREADS; i++)
        hearth_prefetch(word(p, i * EACH), (EACH - 1) * page_bytes());
    mpi_barrier();
    if (me == taker && may_play()) {
        for (int i = 0; i < THREADS; i++) {
            part[i].from = word(p, i * EACH);
            pthread_create(&part[i].thread, NULL, part_fetch, &part[i]);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(part[i].thread, NULL);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- acquired while this rank is in a barrier ---- */

static int64_t *late;
static int64_t  late_value;

static void *
late_publish(void *unused)
{
    sleep_ms(20); /* until the main threads are in the barrier */
    publish(LOCK, late, late_value);
    tell(taker, LATE);
    return unused;
}

/* Read once the barrier has ended here, of which this is no part. */
static void *
late_see(void *unused)
{
    sleep_ms(20);
    told_by(HOME, LATE);
    hearth_lock(1);
    tell(1, LATE + 1);
    sleep_ms(20);
    expect_eq(*late, late_value);
    hearth_unlock(1);
    return unused;
}

/* Rank 1, which has no part in it, comes to the barrier last. */
static void
late_play(void)
{
    pthread_t other;
    bool      is_other = me == HOME || me == taker;

    if (me == owner)
        expect_eq(*late, late_value - 1);
    mpi_barrier();
    if (is_other)
        pthread_create(&other, NULL, me == HOME ? late_publish : late_see,
                       NULL);
    if (me == 1)
        told_by(taker, LATE + 1);
    barrier();
    if (is_other)
        pthread_join(other, NULL);
    mpi_barrier();
    barrier();
}

START_TEST(what_a_thread_acquires_during_a_barrier_is_not_the_barriers)
{
    late = page_new();
    first_copies_pass(late);
    for (late_value = 1; may_play() && late_value <= ROUNDS; late_value++)
        late_play();
    hearth_free(late);
    all_expected();
}
END_TEST

void
beside_ones_add(TCase *small, TCase *tc)
{
    tcase_add_test(small, what_is_taken_counts_as_on_its_way);
    tcase_add_test(
        tc, what_a_thread_acquires_during_a_barrier_is_not_the_barriers);
}
