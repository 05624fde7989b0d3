/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Condition variables.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "flags.h"

enum { LOCK = 77, FULL = 5, EMPTY = 6, ROOM = 3 };

/* A queue of a few places, in the heap, between all ranks: every item that was
 * put in comes out once, and whole. */
struct queue {
    int64_t put, taken;
    int64_t item[ROOM];
};

static void
queue_put(struct queue *q, int64_t item)
{
    hearth_lock(LOCK);
    while (q->put - q->taken == ROOM)
        hearth_cond_wait(EMPTY, LOCK);
    q->item[q->put++ % ROOM] = item;
    hearth_cond_signal(FULL);
    hearth_unlock(LOCK);
}

static int64_t
queue_take(struct queue *q)
{
    int64_t item;

    hearth_lock(LOCK);
    while (q->put == q->taken)
        hearth_cond_wait(FULL, LOCK);
    item = q->item[q->taken++ % ROOM];
    hearth_cond_signal(EMPTY);
    hearth_unlock(LOCK);
    return item;
}

START_TEST(a_bounded_queue_brings_each_item_once)
{
    const int     items = rounds_of(60);
    struct queue *q = (struct queue *)pages_new(1);
    int           puts = (ranks + 1) / 2, takes = ranks == 1 ? 1 : ranks / 2;
    int64_t       sum = 0, all;

    for (int i = 0; i < items * takes && me % 2 == 0; i++) {
        queue_put(q, i * ranks + me);
        if (ranks == 1)
            sum += queue_take(q);
    }
    for (int i = 0; i < items * puts && me % 2 == 1; i++)
        sum += queue_take(q);
    barrier();
    MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    sum = 0;
    for (int i = 0; i < items * takes; i++)
        for (int r = 0; r < ranks; r += 2)
            sum += i * ranks + r;
    expect_eq(q->put, q->taken);
    expect_eq(all, sum);
    hearth_free(q);
    all_expected();
}
END_TEST

/* Inside the lock: how many have come to wait, and who was woken, in order. */
struct wakes {
    int64_t come, woken, who[256];
};

static void
come_and_wait(struct wakes *w, int turn)
{
    hearth_lock(LOCK);
    while (w->come < turn) {
        hearth_unlock(LOCK);
        dawdle();
        hearth_lock(LOCK);
    }
    w->come++;
    hearth_cond_wait(FULL, LOCK);
    w->who[w->woken++] = me;
    hearth_unlock(LOCK);
}

/* What is there when as many have come, or were woken, as are expected. */
static struct wakes
wakes_after(struct wakes *w, int64_t come, int64_t woken)
{
    struct wakes now;

    do {
        dawdle();
        hearth_lock(LOCK);
        now = *w;
        hearth_unlock(LOCK);
    } while (now.come < come || now.woken < woken);
    return now;
}

START_TEST(signals_wake_one_each_in_the_order_of_coming)
{
    struct wakes *w = (struct wakes *)pages_new(1);

    if (me > 0) {
        come_and_wait(w, me - 1);
    } else {
        wakes_after(w, ranks - 1, 0);
        for (int k = 1; k < ranks; k++) {
            struct wakes now;

            hearth_cond_signal(FULL);
            wakes_after(w, 0, k);
            sleep_ms(5);
            now = wakes_after(w, 0, 0);
            expect_eq(now.woken, k);
            expect_eq(now.who[k - 1], k);
        }
    }
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* ... and one that nobody waits for is not remembered. */
START_TEST(a_broadcast_wakes_all_that_wait)
{
    struct wakes *w = (struct wakes *)pages_new(1);

    for (int k = 1; k <= 10; k++) {
        if (me == k % ranks) {
            hearth_cond_signal(FULL);
            hearth_cond_broadcast(FULL);
        }
        barrier();
        if (me != k % ranks) {
            come_and_wait(w, 0);
        } else {
            wakes_after(w, (ranks - 1) * k, 0);
            sleep_ms(2);
            expect_eq(wakes_after(w, 0, 0).woken, (ranks - 1) * (k - 1));
            hearth_cond_broadcast(FULL);
            wakes_after(w, 0, (ranks - 1) * k);
        }
        barrier();
    }
    hearth_free(w);
    all_expected();
}
END_TEST

/* The last rank's threads, which are more than the words it has for them and
 * than the places of a condition that are in use at a time (cond.c over mpi).
 * Two are woken one by one, and then all. */
enum { CROWD = 64 + 56 + 3 };

static void *
come_and_wait_too(void *w)
{
    come_and_wait(w, 0);
    return NULL;
}

START_TEST(any_number_of_threads_waits_for_one_condition)
{
    struct wakes *w = (struct wakes *)pages_new(1);
    pthread_t     thread[CROWD];
    bool          come = threads_allowed() && me == ranks - 1;
    const int     crowd = rounds_of(CROWD);

    for (int t = 0; come && t < crowd; t++)
        expect_eq(pthread_create(&thread[t], NULL, come_and_wait_too, w), 0);
    if (threads_allowed() && me == 0) {
        wakes_after(w, crowd, 0);
        for (int k = 1; k <= 2; k++) {
            hearth_cond_signal(FULL);
            wakes_after(w, 0, k);
        }
        hearth_cond_broadcast(FULL);
    }
    for (int t = 0; come && t < crowd; t++)
        pthread_join(thread[t], NULL);
    barrier();
    if (threads_allowed())
        expect_eq(w->woken, crowd);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* Readers have all words of rank 0's, so that a thread of its waits for the
 * condition without one, and threads of the last rank behind it have all places
 * but that. */
enum { NAMED = 64, BEHIND = 56, HELD = 17 };

static void *
read_behind_the_writer(void *came)
{
    atomic_fetch_add((atomic_int *)came, 1);
    hearth_rdlock(HELD);
    hearth_rwunlock(HELD);
    return NULL;
}

static void
threads_start(pthread_t *thread, int n, void *(*body)(void *), void *with)
{
    for (int t = 0; t < n; t++)
        expect_eq(pthread_create(&thread[t], NULL, body, with), 0);
}

START_TEST(a_waiter_without_a_word_is_woken_with_as_many_as_there_are_places)
{
    struct wakes *w = (struct wakes *)pages_new(1);
    pthread_t     thread[NAMED + 1];
    atomic_int    came = 0;
    int           n = me == 0 ? NAMED + 1 : BEHIND;

    if (!threads_allowed() || ranks != 2) {
        hearth_free(w);
        return;
    }
    if (me == 1)
        hearth_wrlock(HELD);
    mpi_barrier();
    if (me == 0) {
        threads_start(thread, NAMED, read_behind_the_writer, &came);
        while (came < NAMED)
            sleep_ms(1);
        sleep_ms(50); /* until they wait, most of the time */
        threads_start(thread + NAMED, 1, come_and_wait_too, w);
        wakes_after(w, 1, 0);
    }
    mpi_barrier();
    if (me == 1) {
        threads_start(thread, BEHIND, come_and_wait_too, w);
        wakes_after(w, BEHIND + 1, 0);
        hearth_cond_broadcast(FULL);
        wakes_after(w, 0, BEHIND + 1);
        hearth_rwunlock(HELD);
    }
    for (int t = 0; t < n; t++)
        pthread_join(thread[t], NULL);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* The last rank waits for each, and the first wakes that one among others. */
START_TEST(every_number_is_a_condition)
{
    int step = ranks <= 2 ? HEARTH_CONDS / rounds_of(HEARTH_CONDS / 17) : 101;
    int64_t *p = pages_new(1);

    for (int c = HEARTH_CONDS - 1; c >= 0; c -= step) {
        if (me == ranks - 1 && ranks > 1) {
            hearth_lock(LOCK);
            while (p[1] != c + 1)
                hearth_cond_wait(c, LOCK);
            hearth_unlock(LOCK);
        }
        if (me == 0) {
            hearth_cond_broadcast((c + 1) % HEARTH_CONDS);
            hearth_lock(LOCK);
            p[1] = c + 1;
            hearth_cond_signal(c);
            hearth_unlock(LOCK);
        }
        if (ranks > 1)
            barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

TCase *
conditions(void)
{
    TCase *tc = tcase_create("conditions");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, a_bounded_queue_brings_each_item_once);
    tcase_add_test(tc, signals_wake_one_each_in_the_order_of_coming);
    tcase_add_test(tc, a_broadcast_wakes_all_that_wait);
    tcase_add_test(tc, any_number_of_threads_waits_for_one_condition);
    tcase_add_test(
        tc, a_waiter_without_a_word_is_woken_with_as_many_as_there_are_places);
    tcase_add_test(tc, every_number_is_a_condition);
    return tc;
}
