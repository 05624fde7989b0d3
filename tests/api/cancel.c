/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Threads that are cancelled (pthread_cancel(3)) while they fault and call:
 * what they held is not held for ever, and others go on.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fixture.h"

enum { PAGES = 64, VICTIMS = 3, ROUNDS = 15, LOCK = 5, FLAG = 7 };

static int64_t    *pages; /* 0: its number; 1 + rank: that rank's */
static _Atomic int progress;

static int64_t *
own(int page)
{
    return word(pages, page) + 1 + me;
}

static void
start_with_little_cache(void)
{
    fixture_start_with("CACHE", bytes_of_pages(16));
    pages = pages_new(PAGES);
    for (int i = 0; i < PAGES; i++)
        if (i % ranks == me)
            *word(pages, i) = i;
    barrier();
}

static void
stop(void)
{
    barrier();
    hearth_free(pages);
    fixture_stop();
}

/* One after the other, so that most touches are faults on copies. */
static int
touch_all(void)
{
    int wrong = 0;

    for (int i = 0; i < PAGES; i++) {
        wrong += *(volatile int64_t *)word(pages, i) != i;
        *(volatile int64_t *)own(i) = i;
    }
    return wrong;
}

static void
thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    expect(pthread_create(thread, NULL, run, arg) == 0);
}

static void
thread_join_cancelled(pthread_t thread)
{
    void *result;

    pthread_join(thread, &result);
    expect(result == PTHREAD_CANCELED);
}

/* ---- a cancel that is pending all the time ---- */

#define step(call)  \
    do {            \
        call;       \
        progress++; \
    } while (0)

static void *
every_call(void *unused)
{
    int64_t *p, *count;

    pthread_cancel(pthread_self());
    step(p = pages_new(PAGES));
    step(count = hearth_alloc(1, sizeof *count, hearth_on(0)));
    step(hearth_barrier());
    step(hearth_prefetch(p, PAGES * page_bytes()));
    step(hearth_prefetchv((const void *[]){ p + page_words(), p },
                          (size_t[]){ 1, 1 }, 2));
    step(hearth_read_mostly(p, page_bytes()));
    step(touch_all());
    step(hearth_lock(LOCK));
    step(hearth_unlock(LOCK));
    step(if (hearth_trylock(LOCK)) hearth_unlock(LOCK));
    step(if (me == 0) hearth_flag_set(FLAG));
    step(hearth_flag_wait(FLAG));
    step(hearth_barrier());
    step(if (me == 0) hearth_flag_reset(FLAG));
    step(hearth_fetch_add(count, 1));
    step(hearth_swap(count, 1));
    step(hearth_add(count, 1));
    step(hearth_atomic_flush());
    step(hearth_wait_until(count, HEARTH_NE, 0));
    step(hearth_free(count));
    step(hearth_free(p));
    pthread_testcancel();
    return unused;
}

START_TEST(no_call_and_no_fault_is_a_cancellation_point)
{
    pthread_t thread;

    progress = 0;
    thread_start(&thread, every_call, NULL);
    thread_join_cancelled(thread);
    expect_eq(progress, 21);
    all_expected();
    expect_eq(touch_all(), 0);
    all_expected();
}
END_TEST

/* ---- cancels at any moment ---- */

static void *
fault_deferred(void *unused)
{
    for (;;) {
        progress += touch_all();
        pthread_testcancel();
    }
    return unused;
}

static void
touch_in_cleanup(void *unused)
{
    (void)unused;
    progress += touch_all();
}

/* Nothing but loads and stores, as POSIX has it. */
static void *
fault_asynchronous(void *unused)
{
    int old;

    pthread_cleanup_push(touch_in_cleanup, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (;;)
        touch_all();
    pthread_cleanup_pop(0);
    return unused;
}

/* While this thread faults as well. */
static void
victims_cancel(void *(*run)(void *))
{
    pthread_t victim[VICTIMS];

    progress = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < VICTIMS; i++)
            thread_start(&victim[i], run, NULL);
        for (int i = 0; i < VICTIMS; i++) {
            dawdle();
            expect_eq(touch_all(), 0);
            pthread_cancel(victim[i]);
        }
        for (int i = 0; i < VICTIMS; i++)
            thread_join_cancelled(victim[i]);
        barrier();
    }
    expect_eq(progress, 0);
    all_expected();
}

START_TEST(a_thread_cancelled_between_faults_leaves_the_heap_to_others)
{
    victims_cancel(fault_deferred);
}
END_TEST

START_TEST(a_thread_cancelled_in_a_fault_leaves_the_heap_to_others)
{
    victims_cancel(fault_asynchronous);
}
END_TEST

/* ---- a cancel while waiting for a lock ---- */

static void
unlock_in_cleanup(void *unused)
{
    (void)unused;
    (*own(0))++;
    hearth_unlock(LOCK);
}

static void *
lock_and_end(void *unused)
{
    progress++;
    hearth_lock(LOCK);
    pthread_cleanup_push(unlock_in_cleanup, NULL);
    pthread_testcancel();
    pthread_cleanup_pop(1);
    return unused;
}

START_TEST(a_thread_cancelled_while_it_waits_gets_the_lock_and_can_pass_it_on)
{
    pthread_t victim;

    *own(0) = 0;
    barrier();
    for (int round = 0; round < ROUNDS; round++) {
        progress = 0;
        hearth_lock(LOCK);
        thread_start(&victim, lock_and_end, NULL);
        while (progress == 0)
            dawdle();
        dawdle();
        pthread_cancel(victim);
        hearth_unlock(LOCK);
        thread_join_cancelled(victim);
    }
    barrier();
    expect_eq(*own(0), ROUNDS);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("cancel");
    TCase *t = tcase_create("cancel");

    tcase_add_unchecked_fixture(t, start_with_little_cache, stop);
    tcase_add_test(t, no_call_and_no_fault_is_a_cancellation_point);
    tcase_add_test(
        t, a_thread_cancelled_between_faults_leaves_the_heap_to_others);
    tcase_add_test(t, a_thread_cancelled_in_a_fault_leaves_the_heap_to_others);
    tcase_add_test(
        t, a_thread_cancelled_while_it_waits_gets_the_lock_and_can_pass_it_on);
    suite_add_tcase(s, t);
    return mpi_main(argc, argv, s);
}
