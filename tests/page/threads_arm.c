/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A home that arms its pages as it leaves a barrier, and reports nothing
 * (coherence/sharer_flags.c), is stopped before it has changed the protection:
 * another rank fetches a copy that is to stay, and then the page is stored to.
 */
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "base/dlsym_next.h"
#include "page/page.h"
#include "seen.h"
#include "threads.h"

/* MANY: first copies enough for that. */
enum { LOCK = 97, MANY = 24, ARMS = 41, FETCHED, RELEASED };

static struct {
    pthread_t    thread; /* the home's, in the barrier */
    _Atomic bool stops;
    int64_t     *p;
} home;

/* As another thread of the home would. */
static void
store_when_fetched(void)
{
    home.stops = false;
    tell(ranks - 1, ARMS);
    told_by(ranks - 1, FETCHED);
    *home.p = 2;
}

SEEN long
syscall(long number, ...)
{
    static long (*real)(long, ...);
    va_list list;
    long    arg[6];

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(list, long);
    va_end(list);
    if (real == NULL)
        hearthi_dlsym_next(&real, "syscall");
    if (number == SYS_mprotect && home.stops &&
        pthread_equal(home.thread, pthread_self()))
        store_when_fetched();
    return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* The thread in the barrier has dropped the first copies by then. */
static void *
fetch_for_good(void *arg)
{
    const volatile int64_t *p = arg;

    told_by(0, ARMS);
    while (hearthi_provisional.n > 0)
        sleep_ms(1);
    sleep_ms(20);
    home.p = *p == 1 ? arg : NULL;
    tell(0, FETCHED);
    return NULL;
}

static void
home_play(int64_t *p)
{
    home.p = p;
    home.thread = pthread_self();
    home.stops = true;
    barrier();
    expect(!home.stops);
    if (home.stops)
        store_when_fetched();
    hearth_lock(LOCK);
    hearth_unlock(LOCK);
    tell(ranks - 1, RELEASED);
}

static void
reader_play(int64_t *p)
{
    pthread_t thread;

    for (int i = 0; i < MANY; i++)
        expect_eq(*word(p, i), 1);
    pthread_create(&thread, NULL, fetch_for_good, p);
    barrier();
    pthread_join(thread, NULL);
    expect(home.p == p);
    told_by(0, RELEASED);
    hearth_lock(LOCK);
    if (release_consistency()) /* or a lock tells of its own section alone */
        expect_eq(*p, 2);
    hearth_unlock(LOCK);
}

START_TEST(a_store_beside_a_home_that_arms_is_reported)
{
    int64_t *p = hearth_alloc(MANY * page_bytes(), 1, hearth_on(0));

    for (int i = 0; me == 0 && i < MANY; i++)
        *word(p, i) = 1;
    barrier();
    if (!threads_allowed() || !apart(0, ranks - 1))
        barrier();
    else if (me == 0)
        home_play(p);
    else if (me == ranks - 1)
        reader_play(p);
    else
        barrier();
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* It stays open, and its home lists it as it arms. */
START_TEST(a_page_that_is_held_as_its_home_arms_counts_as_written)
{
    int64_t *p = hearth_alloc(MANY * page_bytes(), 1, hearth_on(0));

    for (int i = 0; me == 0 && i < MANY; i++)
        *word(p, i) = 1;
    barrier();
    for (int i = 0; i < MANY; i++)
        expect_eq(*word(p, i), 1);
    if (me == 0)
        hearth_hold(p, 2 * page_bytes(), HEARTH_WRITE);
    barrier();
    for (int i = 0; me != 0 && i < MANY; i++)
        expect_eq(*word(p, i), 1);
    mpi_barrier();
    if (me == 0) {
        *word(p, 0) = 2;
        *word(p, 1) = 2;
        hearth_drop(p, 2 * page_bytes(), HEARTH_WRITE);
    }
    barrier();
    for (int i = 0; i < MANY; i++)
        expect_eq(*word(p, i), i < 2 ? 2 : 1);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

static void
start_with_mprotect(void)
{
    fixture_start_with("PROTECT", "mprotect");
}

TCase *
threads_arm_case(void)
{
    TCase *tc = tcase_create("a home that arms");

    tcase_add_unchecked_fixture(tc, start_with_mprotect, fixture_stop);
    tcase_add_test(tc, a_store_beside_a_home_that_arms_is_reported);
    tcase_add_test(tc, a_page_that_is_held_as_its_home_arms_counts_as_written);
    return tc;
}
