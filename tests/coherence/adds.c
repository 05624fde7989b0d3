/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Adds whose results no rank asks for, and waits for words.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "flags.h"
#include "half.h"

enum { WORDS = 40, APART = 515, AT_ONCE = 2, ROUNDS = 300 };

/* Words a bit more than a page apart, one of each kind at each place. */
struct adder {
    int64_t *word;
    uint64_t random;
    int64_t  wide[WORDS], real[WORDS];
    int32_t  narrow[WORDS];
};

static int64_t *
wide_of(int64_t *w, size_t i)
{
    return w + i * APART;
}

static int32_t *
narrow_of(int64_t *w, size_t i)
{
    return (int32_t *)(w + i * APART + 1) + i % 2;
}

static double *
real_of(int64_t *w, size_t i)
{
    return (double *)(w + i * APART + 2);
}

/* Few words at times, so that sums are added up, and all at others. */
static void
one_add(struct adder *a, int k)
{
    uint64_t r = hearthi_random(&a->random);
    size_t   i = r % (k % 50 < 25 ? 3 : WORDS);
    int64_t  v = (int64_t)(r >> 40) - 1000;

    switch (r >> 20 & 7) {
    case 0: hearth_fetch_add(wide_of(a->word, i), v); break;
    case 1:
    case 2:
    case 3: hearth_add(wide_of(a->word, i), v); break;
    case 4:
    case 5:
        hearth_add32(narrow_of(a->word, i), (int32_t)v);
        a->narrow[i] += (int32_t)v;
        return;
    case 6:
        hearth_add_double(real_of(a->word, i), (double)v);
        a->real[i] += v;
        return;
    default:
        hearth_fetch_add_double(real_of(a->word, i), (double)v);
        a->real[i] += v;
        return;
    }
    a->wide[i] += v;
}

static void *
add_many(void *adder)
{
    struct adder *a = adder;

    for (int k = 0; k < rounds_of(ROUNDS); k++) {
        one_add(a, k);
        if (k % 100 == 70)
            hearth_atomic_flush();
    }
    return NULL;
}

static void
sums_check(struct adder *a)
{
    MPI_Allreduce(MPI_IN_PLACE, a->wide, WORDS, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, a->real, WORDS, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, a->narrow, WORDS, MPI_INT32_T, MPI_SUM,
                  MPI_COMM_WORLD);
    for (size_t i = 0; i < WORDS; i++) {
        expect_eq(*wide_of(a->word, i), a->wide[i]);
        expect_eq(*narrow_of(a->word, i), a->narrow[i]);
        expect_eq((int64_t)*real_of(a->word, i), a->real[i]);
    }
}

/* Each rank has copies of the pages before. */
START_TEST(adds_of_all_ranks_and_threads_lose_nothing)
{
    int64_t *w =
        hearth_alloc(WORDS * APART, sizeof(int32_t) * 2, hearth_cyclic(1));
    struct adder a[AT_ONCE] = { 0 };
    int          threads = threads_allowed() ? AT_ONCE : 1;
    pthread_t    thread;

    for (size_t i = 0; i < WORDS; i++)
        expect_eq(*wide_of(w, i), 0);
    barrier();
    for (size_t i = 0; i < WORDS; i++)
        expect_eq(*wide_of(w, i), 0);
    for (int i = 0; i < threads; i++) {
        a[i].word = w;
        a[i].random = (uint64_t)(me * AT_ONCE + i);
    }
    mpi_barrier();
    if (threads > 1)
        pthread_create(&thread, NULL, add_many, &a[1]);
    add_many(&a[0]);
    if (threads > 1)
        pthread_join(thread, NULL);
    barrier();
    for (size_t i = 0; i < WORDS; i++) {
        a[0].wide[i] += a[1].wide[i];
        a[0].real[i] += a[1].real[i];
        a[0].narrow[i] += a[1].narrow[i];
    }
    sums_check(&a[0]);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* No rank has synchronised when rank 0 looks, but with MPI. */
static void
seen_after(int64_t *w, void (*end)(void), int64_t sum)
{
    if (me == ranks - 1) {
        hearth_add(w, 3);
        hearth_add(w + 600, -3);
        end();
    }
    mpi_barrier();
    if (me == 0) {
        expect_eq(hearth_fetch_add(w, 0), sum);
        expect_eq(hearth_fetch_add(w + 600, 0), -sum);
    }
    mpi_barrier();
}

static void
release_all(void)
{
    hearth_release(NULL, 0);
}

static void
flag_end(void)
{
    hearth_flag_set(7);
}

static void
lock_end(void)
{
    hearth_lock(3);
    hearth_unlock(3);
}

static void
rwlock_end(void)
{
    hearth_rdlock(3);
    hearth_rwunlock(3);
}

static int mine; /* a lock that stays here */

/* The add is inside. */
static int64_t *inside;

static void
inside_end(void)
{
    hearth_lock(mine);
    hearth_add(inside, 3);
    hearth_add(inside + 600, -3);
    hearth_unlock(mine);
}

START_TEST(adds_are_done_at_a_flush_and_at_each_release)
{
    int64_t *w = hearth_alloc(1200, sizeof *w, hearth_on(0));

    barrier();
    mine = 9;
    for (int i = 0; me == ranks - 1 && i < 20; i++) {
        hearth_lock(mine);
        hearth_unlock(mine);
    }
    mpi_barrier();
    inside = w;
    seen_after(w, hearth_atomic_flush, 3);
    seen_after(w, release_all, 6);
    seen_after(w, flag_end, 9);
    seen_after(w, lock_end, 12);
    seen_after(w, rwlock_end, 15);
    seen_after(w, inside_end, 21);
    barrier();
    expect_eq(w[0], 21);
    expect_eq(w[600], -21);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

START_TEST(own_steps_come_after_own_adds)
{
    int64_t *w = hearth_alloc(8, sizeof *w, hearth_on(0));
    int64_t *o;

    barrier();
    if (me == ranks - 1) {
        hearth_add(w, 5);
        hearth_add(w, 2);
        expect_eq(hearth_fetch_add(w, 1), 7);
        hearth_add(w, -8);
        expect_eq(hearth_compare_swap(w, 0, 9), 0);
        hearth_add32((int32_t *)(w + 1), 5);
        expect_eq(hearth_swap32((int32_t *)(w + 1), 1), 5);
        hearth_add_double((double *)(w + 2), 0.5);
        expect(hearth_fetch_add_double((double *)(w + 2), 0.25) == 0.5);
        hearth_add(w + 3, 4);
        expect_eq(hearth_wait_until(w + 3, HEARTH_EQ, 4), 4);
    }
    o = hearth_malloc_on(sizeof *o, 0);
    hearth_swap(o, 0);
    hearth_add(o, 77);
    o = hearth_realloc(o, 4096);
    expect_eq(*o, 77);
    hearth_add(o, 1);
    hearth_free(o);
    barrier();
    expect_eq(w[0], 9);
    expect(((double *)w)[2] == 0.75);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* A copy that is open has the old half of the word. */
START_TEST(narrow_adds_and_stores_beside_them_lose_nothing)
{
    enum { STEPS = 50 };
    int32_t    *w = hearth_alloc(512, sizeof(int64_t), hearth_on(0));
    bool        adds = me == ranks - 1, stores = threads_allowed();
    struct half other = { .last = 0 };

    barrier();
    for (int32_t k = 0; adds && k < STEPS; k++) {
        w[1] = k + 1;
        hearth_add32(w, 1);
        if (k % 7 == 0)
            hearth_atomic_flush();
    }
    barrier();
    expect_eq(w[0], STEPS);
    expect_eq(w[1], STEPS);
    barrier();
    other.last = STEPS;
    if (adds && stores)
        half_begin(&other, w + 1);
    for (int32_t k = 0; adds && k < STEPS; k++) {
        hearth_add32(w, 1);
        hearth_atomic_flush();
    }
    if (adds && stores)
        half_end(&other);
    barrier();
    MPI_Bcast(&other.last, 1, MPI_INT32_T, ranks - 1, MPI_COMM_WORLD);
    expect_eq(w[0], 2 * STEPS);
    expect_eq(w[1], other.last);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

START_TEST(adds_to_one_word_are_added_up_before_they_leave)
{
    enum { MANY = 1000 };
    int64_t *w = hearth_alloc(8, sizeof *w, hearth_on(0));
    uint64_t before;

    barrier();
    before = messages_begun();
    for (int k = 0; me == ranks - 1 && k < MANY; k++) {
        hearth_add(w, 1);
        hearth_add32((int32_t *)(w + 1), 1);
        hearth_add_double((double *)(w + 2), 1);
    }
    hearth_atomic_flush();
    expect(messages_begun() - before < MANY / 10);
    barrier();
    expect_eq(w[0], MANY);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* ---- waits ---- */

/* A number goes round: each rank waits for it at home there, or elsewhere.  A
 * rank that has handed it on may find the next one when it looks again; rank 0
 * cannot, since it makes that. */
START_TEST(a_word_is_waited_for_wherever_it_is_at_home)
{
    enum { TURNS = 5 };
    int64_t *w = hearth_alloc((size_t)ranks * page_words(), sizeof *w,
                              hearth_cyclic(1));
    int64_t *own = w + (size_t)me * page_words();
    int64_t *next = w + (size_t)((me + 1) % ranks) * page_words();

    barrier();
    for (int64_t k = 1; k <= TURNS; k++) {
        if (me > 0)
            expect_eq(hearth_wait_until(own, HEARTH_GE, k), k);
        if (k == 2)
            sleep_ms(3);
        hearth_add(next, 1);
        expect(hearth_wait_until(own, me == 0 ? HEARTH_EQ : HEARTH_GE, k) <=
               k + (me > 0));
        if (me == 0)
            expect_eq(hearth_wait_until(next, HEARTH_GT, k - 1), k);
    }
    barrier();
    for (int r = 0; r < ranks; r++)
        expect_eq(w[(size_t)r * page_words()], TURNS);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

START_TEST(a_wait_returns_what_it_saw_by_any_comparison)
{
    int64_t *w = hearth_alloc(1, sizeof *w, hearth_on(0));

    if (me == 0)
        *w = -5;
    barrier();
    expect_eq(hearth_wait_until(w, HEARTH_EQ, -5), -5);
    expect_eq(hearth_wait_until(w, HEARTH_NE, 5), -5);
    expect_eq(hearth_wait_until(w, HEARTH_GT, -6), -5);
    expect_eq(hearth_wait_until(w, HEARTH_GE, -5), -5);
    expect_eq(hearth_wait_until(w, HEARTH_LT, 0), -5);
    expect_eq(hearth_wait_until(w, HEARTH_LE, -5), -5);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* What goes with the word is released before, and acquired behind the wait. */
START_TEST(a_wait_and_an_acquire_show_what_was_released)
{
    int64_t *w = hearth_alloc(512, sizeof *w, hearth_on(0));
    int64_t *data = hearth_alloc(2000, sizeof *data, hearth_on(ranks - 1));

    expect_eq(data[1500], 0);
    barrier();
    for (int64_t k = 1; k <= 3; k++) {
        if (me == ranks - 1) {
            data[1500] = data[10] = k;
            hearth_release(data, 2000 * sizeof *data);
            hearth_add(w, 1);
            hearth_atomic_flush();
        }
        hearth_wait_until(w, HEARTH_GE, k);
        hearth_acquire(data, 2000 * sizeof *data);
        expect_eq(data[1500], k);
        expect_eq(data[10], k);
        mpi_barrier();
    }
    barrier();
    hearth_free(data);
    hearth_free(w);
    all_expected();
}
END_TEST

static int64_t
clock_us(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

/* A wait of a tenth of a second takes a part of a core's, also where the
 * thread that waits has to serve others. */
START_TEST(a_long_wait_does_not_keep_its_core)
{
    int64_t *w = hearth_alloc(1, sizeof *w, hearth_on(ranks - 1));
    int64_t  cpu, wall;

    barrier();
    cpu = -clock_us(CLOCK_THREAD_CPUTIME_ID);
    wall = -clock_us(CLOCK_MONOTONIC);
    if (me == 0 && ranks > 1) {
        sleep_ms(100);
        hearth_add(w, 1);
        hearth_atomic_flush();
    } else if (ranks > 1) {
        hearth_wait_until(w, HEARTH_EQ, 1);
        cpu += clock_us(CLOCK_THREAD_CPUTIME_ID);
        wall += clock_us(CLOCK_MONOTONIC);
        expect_timely(cpu < wall * 6 / 10);
    }
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* However few there are, they go in messages. */
static void
posting_start(void)
{
    fixture_start_with("PUT_RUNS", "0");
}

TCase *
adds_posted(void)
{
    TCase *tc = tcase_create("adds in messages");

    tcase_add_unchecked_fixture(tc, posting_start, fixture_stop);
    tcase_add_test(tc, adds_of_all_ranks_and_threads_lose_nothing);
    tcase_add_test(tc, adds_are_done_at_a_flush_and_at_each_release);
    tcase_add_test(tc, own_steps_come_after_own_adds);
    tcase_add_test(tc, narrow_adds_and_stores_beside_them_lose_nothing);
    return tc;
}

TCase *
adds(void)
{
    TCase *tc = tcase_create("adds");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, adds_of_all_ranks_and_threads_lose_nothing);
    tcase_add_test(tc, adds_are_done_at_a_flush_and_at_each_release);
    tcase_add_test(tc, own_steps_come_after_own_adds);
    tcase_add_test(tc, narrow_adds_and_stores_beside_them_lose_nothing);
    tcase_add_test(tc, adds_to_one_word_are_added_up_before_they_leave);
    tcase_add_test(tc, a_word_is_waited_for_wherever_it_is_at_home);
    tcase_add_test(tc, a_wait_returns_what_it_saw_by_any_comparison);
    tcase_add_test(tc, a_wait_and_an_acquire_show_what_was_released);
    tcase_add_test(tc, a_long_wait_does_not_keep_its_core);
    return tc;
}
