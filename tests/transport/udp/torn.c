/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Long runs of pages are fetched while a thread at their home stores, without
 * a pause, to words that nobody else reads (udp.tap): a MAC of bytes that are
 * stored to after it fits them no more, and what is dropped for that must not
 * take anything else with it.
 */
#include <hearth/hearth.h>
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"

enum { PAGES = 64, HOME = 0, LEAST = 60, MOST = 4000 };

static int64_t    *p;
static atomic_bool stop;

/* The last word of every page is the storing thread's own; the others are
 * written between barriers and read after them. */
static bool
is_stored_to(size_t i)
{
    return i % page_words() == page_words() - 1;
}

static void *
store(void *none)
{
    for (int64_t n = 0; !stop; n++)
        for (size_t i = page_words() - 1; i < PAGES * page_words();
             i += page_words())
            ((volatile int64_t *)p)[i] = n;
    return none;
}

static void
fill(int64_t round)
{
    for (size_t i = 0; i < PAGES * page_words(); i++)
        if (!is_stored_to(i))
            p[i] = round * 1000003 + (int64_t)i;
}

/* How many words are not those of this round. */
static int64_t
wrong(int64_t round)
{
    int64_t n = 0;

    hearth_prefetch(p, PAGES * page_bytes());
    for (size_t i = 0; i < PAGES * page_words(); i++)
        n += !is_stored_to(i) && p[i] != round * 1000003 + (int64_t)i;
    return n;
}

START_TEST(stores_beside_a_fetch_of_a_long_run_spoil_none_of_its_other_words)
{
    pthread_t thread;
    int64_t   bad = 0, *more = hearth_alloc(1, sizeof *more, hearth_on(HOME));
    double    end = MPI_Wtime() + 2;

    p = hearth_alloc(PAGES * page_words(), sizeof *p, hearth_on(HOME));
    barrier();
    stop = false;
    if (me == HOME)
        ck_assert_int_eq(pthread_create(&thread, NULL, store, NULL), 0);
    for (int64_t round = 1; round <= MOST; round++) {
        if (me == HOME) {
            fill(round);
            *more = round < LEAST || MPI_Wtime() < end;
        }
        barrier();
        if (me != HOME)
            bad += wrong(round);
        if (!*more)
            break;
        barrier();
    }
    stop = true;
    if (me == HOME)
        pthread_join(thread, NULL);
    expect_eq(bad, 0);
    barrier();
    hearth_free(p);
    hearth_free(more);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *suite = suite_create("torn");
    TCase *tc = tcase_create("torn");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(
        tc, stores_beside_a_fetch_of_a_long_run_spoil_none_of_its_other_words);
    suite_add_tcase(suite, tc);
    return mpi_main(argc, argv, suite);
}
