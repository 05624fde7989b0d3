/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Misses of several threads, and what others do meanwhile.
 */
#include "base/clock.h"
#include "page/evict.h"
#include "threads_seam.h"
#include "transport/transport.h"

enum { LOCK = 95, TOGETHER = 4, MANY = 24 };

START_TEST(two_threads_that_miss_a_page_make_one_fetch)
{
    int64_t       *p = pages_of_zero(1);
    struct reading other;

    if (me == 0)
        *p = 7;
    barrier();
    if (may_play() && is_reader()) {
        reading_stopped(&other, p, false);
        seam_go_on();
        expect_eq(*p, 7);
        expect_eq(reading_end(&other), 7);
        expect_eq(seam_fetches(), 1);
        seam_close();
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Pages so far from each other that no fetch brings two. */
enum { APART = 17 };

/* Nobody goes on before all are there, or 10 s have passed. */
static _Atomic int met;

static void
meet(void)
{
    uint64_t until = hearthi_now() + 10 * SECOND;

    met++;
    while (met < TOGETHER && hearthi_now() < until)
        sleep_ms(1);
}

START_TEST(misses_of_several_threads_overlap)
{
    int64_t       *p = pages_of_zero(APART * TOGETHER);
    struct reading other[TOGETHER];

    for (int i = 0; me == 0 && i < TOGETHER; i++)
        *word(p, APART * i) = i;
    barrier();
    met = 0;
    if (may_play() && is_reader()) {
        seam_open(meet, NULL, TOGETHER);
        for (int i = 0; i < TOGETHER; i++)
            reading_begin(&other[i], word(p, APART * i));
        for (int i = 0; i < TOGETHER; i++)
            expect_eq(reading_end(&other[i]), i);
        expect_timely(met == TOGETHER);
        seam_close();
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* The rest of the cache is for who has no way. */
static _Atomic int on_the_way, most_on_the_way;

static void
way_begin(void)
{
    int n = ++on_the_way;

    if (n > most_on_the_way)
        most_on_the_way = n;
    sleep_ms(20);
}

static void
way_end(void)
{
    on_the_way--;
}

START_TEST(no_more_than_half_of_the_cache_is_on_its_way)
{
    int64_t       *p = pages_of_zero(APART * MANY);
    struct reading other[MANY];

    most_on_the_way = 0;
    if (may_play() && is_reader()) {
        seam_open(way_begin, way_end, INT32_MAX);
        for (int i = 0; i < MANY; i++)
            reading_begin(&other[i], word(p, APART * i));
        for (int i = 0; i < MANY; i++)
            expect_eq(reading_end(&other[i]), 0);
        expect_timely(most_on_the_way > 1);
        expect((uint64_t)most_on_the_way <= 2 * hearthi_copies_most());
        expect(most_on_the_way <= HEARTHI_WAYS);
        seam_close();
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- what goes on meanwhile ---- */

/* With a cache of a few pages, too, all of which give way but for the one. */
START_TEST(others_synchronise_and_make_room_while_a_page_is_on_its_way)
{
    int64_t       *p = pages_of_zero(PAGES);
    struct reading other;

    for (int i = 0; me == 0 && i < PAGES; i++)
        *word(p, i) = 100 + i;
    barrier();
    if (may_play() && is_reader()) {
        reading_stopped(&other, p, true);
        hearth_lock(LOCK);
        for (int i = 1; i < PAGES; i++)
            word(p, i)[1] += *word(p, i);
        hearth_unlock(LOCK);
        hearth_hold(word(p, 1), page_bytes(), HEARTH_WRITE);
        hearth_drop(word(p, 1), page_bytes(), HEARTH_WRITE);
        expect(!seam_has_landed());
        seam_go_on();
        expect_eq(reading_end(&other), 100);
        seam_close();
        for (int i = 0; i < PAGES; i++)
            expect_eq(*word(p, i), 100 + i);
    }
    barrier();
    for (int i = 1; may_play() && i < PAGES; i++)
        expect_eq(word(p, i)[1], 100 + i);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

static void *
prefetch_page(void *arg)
{
    hearth_prefetch(arg, page_bytes());
    return NULL;
}

static void *
prefetch_later(void *arg)
{
    sleep_ms(50);
    return prefetch_page(arg);
}

START_TEST(what_is_freed_has_arrived)
{
    int64_t  *p = pages_of_zero(1);
    pthread_t thread;
    bool      plays = may_play() && is_reader();

    if (plays) {
        seam_open(seam_stop, NULL, 1);
        pthread_create(&thread, NULL, prefetch_page, p);
        seam_stopped();
        seam_go_on();
    }
    hearth_free(p);
    if (plays) {
        expect(seam_has_landed());
        pthread_join(thread, NULL);
        seam_close();
    }
    all_expected();
}
END_TEST

/* While hearth_free waits for a page, another thread fetches one that
 * had been looked at. */
static _Atomic bool second_landed;

static void
stop_or_be_second(void)
{
    if (seam_fetches() == 1) {
        seam_stop();
        return;
    }
    seam_go_on();
    sleep_ms(200);
    second_landed = true;
}

START_TEST(what_is_fetched_while_hearth_free_waits_has_arrived_too)
{
    int64_t  *p = pages_of_zero(4);
    pthread_t thread[2];
    bool      plays = may_play() && is_reader();

    /* No first copies: hearth_free would have the home be told of them. */
    copies_take(p, 5, 0);
    barrier();
    for (int i = 0; me == 0 && i < 5; i++)
        *word(p, i) = 1;
    barrier();
    second_landed = false;
    if (plays) {
        seam_open(stop_or_be_second, NULL, 2);
        pthread_create(&thread[0], NULL, prefetch_page, word(p, 3));
        seam_stopped();
        pthread_create(&thread[1], NULL, prefetch_later, p);
    }
    hearth_free(p);
    if (plays) {
        expect(second_landed);
        for (int i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
        seam_close();
    }
    all_expected();
}
END_TEST

/* Half of a cache of 16 pages is on its way, the other half is about to be
 * held, and somebody misses. */
static _Atomic bool may_drop;

static void *
hold_eight(void *arg)
{
    hearth_hold(arg, (size_t)8 * page_bytes(), HEARTH_READ);
    while (!may_drop)
        sleep_ms(1);
    hearth_drop(arg, (size_t)8 * page_bytes(), HEARTH_READ);
    return NULL;
}

START_TEST(a_hold_that_waits_leaves_room_for_who_misses)
{
    enum { LAST = 16 + 8 * APART };
    int64_t       *p = pages_of_zero(LAST + 8);
    struct reading other[8];
    pthread_t      holder;

    for (int i = 0; me == 0 && i < LAST + 8; i++)
        *word(p, i) = i;
    barrier();
    if (may_play() && is_reader()) {
        seam_open(NULL, seam_stop, 8);
        for (int i = 0; i < 8; i++)
            reading_begin(&other[i], word(p, 16 + APART * i));
        while (seam_fetches() < 8)
            sleep_ms(1);
        for (int i = 0; i < 8; i++)
            expect_eq(*word(p, i), i);
        may_drop = false;
        pthread_create(&holder, NULL, hold_eight, p);
        sleep_ms(50);
        for (int i = LAST; i < LAST + 8; i++)
            expect_eq(*word(p, i), i);
        seam_go_on();
        may_drop = true;
        pthread_join(holder, NULL);
        for (int i = 0; i < 8; i++)
            expect_eq(reading_end(&other[i]), 16 + APART * i);
        seam_close();
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(a_hold_waits_for_what_is_on_its_way)
{
    int64_t       *p = pages_of_zero(2);
    struct reading other;

    if (me == 0)
        *p = 8;
    barrier();
    if (may_play() && is_reader()) {
        reading_stopped(&other, p, false);
        seam_go_on();
        hearth_hold(p, (size_t)2 * page_bytes(), HEARTH_READ);
        expect(seam_has_landed());
        expect_eq(*p, 8);
        hearth_drop(p, (size_t)2 * page_bytes(), HEARTH_READ);
        expect_eq(reading_end(&other), 8);
        seam_close();
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

void
threads_misses_tests(TCase *tc)
{
    tcase_add_test(tc, two_threads_that_miss_a_page_make_one_fetch);
    tcase_add_test(tc, misses_of_several_threads_overlap);
    tcase_add_test(tc, no_more_than_half_of_the_cache_is_on_its_way);
    tcase_add_test(
        tc, others_synchronise_and_make_room_while_a_page_is_on_its_way);
    tcase_add_test(tc, what_is_freed_has_arrived);
    tcase_add_test(tc,
                   what_is_fetched_while_hearth_free_waits_has_arrived_too);
    tcase_add_test(tc, a_hold_that_waits_leaves_room_for_who_misses);
    tcase_add_test(tc, a_hold_waits_for_what_is_on_its_way);
}
