/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic steps on heap words: each alone, and all of them at once.
 *
 * At once each step takes the word from one value to another, and together
 * they are a chain from the first value to the last: every value that a step
 * found is one that another left, or the first, and every value left was
 * found, or is the last.  So sums over all values found minus those left,
 * plain and hashed, are those of the first minus the last.
 */
#include <pthread.h>
#include <string.h>

#include "flags.h"
#include "half.h"

enum { KINDS = 6, WORDS = 3, AT_ONCE = 2 };

struct chain {
    uint64_t sum[2];
};

struct actor {
    int64_t     *word; /* one of 64 bits, one for doubles, a half */
    uint64_t     random;
    struct chain chain[WORDS];
};

static uint64_t
mixed(uint64_t x)
{
    return hearthi_random(&x);
}

static void
chain_add(struct chain *c, uint64_t found, uint64_t left)
{
    c->sum[0] += found - left;
    c->sum[1] += mixed(found) - mixed(left);
}

static void
step64(struct actor *a)
{
    int64_t *w = a->word;
    uint64_t v = hearthi_random(&a->random), found, left = v;
    int64_t  s = (int64_t)v;

    switch (hearthi_random(&a->random) % KINDS) {
    case 0: left += found = (uint64_t)hearth_fetch_add(w, s); break;
    case 1: found = (uint64_t)hearth_swap(w, s); break;
    case 2: left &= found = (uint64_t)hearth_fetch_and(w, s); break;
    case 3: left |= found = (uint64_t)hearth_fetch_or(w, s); break;
    case 4: left ^= found = (uint64_t)hearth_fetch_xor(w, s); break;
    default: {
        int64_t guess = hearth_fetch_add(w, 0);

        found = (uint64_t)hearth_compare_swap(w, guess, s);
        left = found == (uint64_t)guess ? v : found;
    }
    }
    chain_add(&a->chain[0], found, left);
}

static void
step32(struct actor *a)
{
    int32_t *w = (int32_t *)(a->word + 2) + 1;
    uint32_t v = (uint32_t)hearthi_random(&a->random), found, left = v;
    int32_t  s = (int32_t)v;

    switch (hearthi_random(&a->random) % KINDS) {
    case 0: left += found = (uint32_t)hearth_fetch_add32(w, s); break;
    case 1: found = (uint32_t)hearth_swap32(w, s); break;
    case 2: left &= found = (uint32_t)hearth_fetch_and32(w, s); break;
    case 3: left |= found = (uint32_t)hearth_fetch_or32(w, s); break;
    case 4: left ^= found = (uint32_t)hearth_fetch_xor32(w, s); break;
    default: {
        int32_t guess = hearth_fetch_add32(w, 0);

        found = (uint32_t)hearth_compare_swap32(w, guess, s);
        left = found == (uint32_t)guess ? v : found;
    }
    }
    chain_add(&a->chain[2], found, left);
}

static uint64_t
bits_of(double d)
{
    uint64_t u;

    memcpy(&u, &d, sizeof u);
    return u;
}

static void
step_double(struct actor *a)
{
    double v = (double)(hearthi_random(&a->random) % 1000) / 7;
    double found = hearth_fetch_add_double((double *)(a->word + 1), v);

    chain_add(&a->chain[1], bits_of(found), bits_of(found + v));
}

static void *
act(void *actor)
{
    for (int k = 0; k < rounds_of(30); k++) {
        step64(actor);
        for (int i = 0; i < 3; i++)
            step32(actor);
        step_double(actor);
    }
    return NULL;
}

static void
chain_check(struct chain c, uint64_t last)
{
    if (me == 0)
        chain_add(&c, last, 0);
    MPI_Allreduce(MPI_IN_PLACE, c.sum, 2, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    expect_eq(c.sum[0], 0);
    expect_eq(c.sum[1], 0);
}

/* The other half of the narrow word is a plain one of the home's, and so is
 * the word before. */
START_TEST(steps_of_all_kinds_at_once_lose_nothing)
{
    int64_t     *w = hearth_alloc(512, sizeof(int32_t), hearth_on(ranks - 1));
    struct actor a[AT_ONCE] = { 0 };
    pthread_t    thread[AT_ONCE - 1];
    int          provided, threads;

    MPI_Query_thread(&provided);
    threads = provided == MPI_THREAD_MULTIPLE ? AT_ONCE : 1;
    for (int i = 0; i < threads; i++)
        a[i] = (struct actor){ .word = w + 1,
                               .random = (uint64_t)(me * AT_ONCE + i) };
    barrier();
    for (int i = 1; i < threads; i++)
        pthread_create(&thread[i - 1], NULL, act, &a[i]);
    for (int k = 1; me == ranks - 1 && k < 2000; k++) {
        *(volatile int32_t *)(w + 3) = k;
        expect_eq(*(volatile int32_t *)(w + 3), k);
        *(volatile int64_t *)w = k;
        expect_eq(*(volatile int64_t *)w, k);
    }
    act(&a[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i - 1], NULL);
    barrier();
    expect_eq(w[0], 1999);
    expect_eq(*(int32_t *)(w + 3), 1999);
    for (int k = 0; k < WORDS; k++) {
        struct chain all = a[0].chain[k];

        for (int i = 1; i < threads; i++)
            for (int s = 0; s < 2; s++)
                all.sum[s] += a[i].chain[k].sum[s];
        chain_check(all,
                    k < 2 ? (uint64_t)w[1 + k] : *((uint32_t *)(w + 3) + 1));
    }
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

START_TEST(each_step_gives_what_was_there)
{
    int64_t *w = hearth_alloc(512, sizeof *w, hearth_on(0));
    int32_t *h = (int32_t *)(w + 1);
    double  *d = (double *)(w + 3);

    if (me == 0)
        h[1] = 77;
    barrier();
    if (me == ranks - 1) {
        expect_eq(hearth_compare_swap(w, 1, 5), 0);
        expect_eq(hearth_compare_swap(w, 0, INT64_MIN), 0);
        expect_eq(hearth_compare_swap(w, INT64_MIN, 0x0ff0), INT64_MIN);
        expect_eq(hearth_fetch_and(w, 0x3c3c), 0x0ff0);
        expect_eq(hearth_fetch_or(w, 0x4003), 0x0c30);
        expect_eq(hearth_fetch_xor(w, -1), 0x4c33);
        expect_eq(hearth_fetch_add(w, 1), -0x4c34);

        expect_eq(hearth_fetch_add32(h, -1), 0);
        expect_eq(hearth_fetch_add32(h, 2), -1); /* no carry */
        expect_eq(hearth_swap32(h, INT32_MIN), 1);
        expect_eq(hearth_compare_swap32(h, 0, 5), INT32_MIN);
        expect_eq(hearth_compare_swap32(h, INT32_MIN, 6), INT32_MIN);
        expect_eq(hearth_fetch_or32(h, INT32_MIN), 6);
        expect_eq(hearth_fetch_xor32(h, 5), INT32_MIN | 6);
        expect_eq(hearth_fetch_and32(h, -2), INT32_MIN | 3);
        expect_eq(hearth_fetch_add32(h + 1, 1), 77);

        expect(hearth_fetch_add_double(d, 0.5) == 0);
        expect(hearth_fetch_add_double(d, -2.25) == 0.5);
    }
    barrier();
    expect_eq(w[0], -0x4c33);
    expect_eq(h[0], INT32_MIN | 2);
    expect_eq(h[1], 78);
    expect(*d == -1.75);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* Of all ranks that would take the word from one number to the next one does.
 */
START_TEST(a_compare_and_swap_fails_where_another_came_first)
{
    enum { STEPS = 40 };
    int64_t *w = hearth_alloc(512, sizeof *w, hearth_on(0));
    int64_t  won = 0, all = 0;

    barrier();
    for (int64_t k = 0; k < STEPS; k++)
        while (hearth_fetch_add(w, 0) == k)
            won += hearth_compare_swap(w, k, k + 1) == k;
    barrier();
    MPI_Allreduce(&won, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect_eq(all, STEPS);
    expect_eq(*w, STEPS);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* Of one rank to the halves of one word, whose page is at home elsewhere: a
 * diff in words of 8 bytes would bring the old half home after the step. */
START_TEST(steps_and_stores_beside_them_lose_nothing)
{
    enum { STEPS = 50 };
    int32_t    *w = hearth_alloc(512, sizeof(int64_t), hearth_on(0));
    bool        steps = me == ranks - 1, stores = threads_allowed();
    struct half other = { .last = STEPS };

    barrier();
    for (int32_t k = 0; steps && k < STEPS; k++) {
        w[1] = k + 1;
        expect_eq(hearth_fetch_add32(w, 1), k);
    }
    barrier();
    expect_eq(w[0], STEPS);
    expect_eq(w[1], STEPS);
    barrier();
    if (steps && stores)
        half_begin(&other, w + 1);
    for (int32_t k = 0; steps && k < STEPS; k++)
        expect_eq(hearth_fetch_add32(w, 1), STEPS + k);
    if (steps && stores)
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

/* So many messages for some steps on words that are not 0. */
static uint64_t
messages_of(int64_t *w, int kind)
{
    enum { STEPS = 20 };
    uint64_t before = messages_begun();

    for (int k = 0; k < STEPS; k++)
        switch (kind) {
        case 0: hearth_fetch_add(w, 1); break;
        case 1: hearth_fetch_and(w, -1 - (1 << k)); break;
        case 2: hearth_fetch_or(w, 1 << k); break;
        case 3: hearth_fetch_xor(w, 3 << k); break;
        case 4: hearth_fetch_or32((int32_t *)(w + 1), 1 << k); break;
        default: hearth_fetch_add_double((double *)(w + 2), 0.5);
        }
    return messages_begun() - before;
}

/* Over mpi bitwise steps and sums are two there, a look and a swap. */
START_TEST(over_datagrams_a_step_of_any_kind_is_one_request)
{
    int64_t *w = hearth_alloc(8, sizeof *w, hearth_on(0));
    bool     udp = strcmp(hearth_option("transport"), "udp") == 0 &&
               hearth_clusters() == 1;

    barrier();
    if (me == 0) {
        w[0] = 1 << 30;
        *(int32_t *)(w + 1) = 1 << 30;
        *(double *)(w + 2) = 1;
    }
    barrier();
    if (me == ranks - 1 && udp && apart(0, me)) {
        uint64_t adds = messages_of(w, 0);

        expect(adds > 0);
        for (int kind = 1; kind < 6; kind++)
            expect(messages_of(w, kind) < adds + adds / 2);
        expect(*(double *)(w + 2) == 11);
    }
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

TCase *
atomics(void)
{
    TCase *tc = tcase_create("atomics");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, each_step_gives_what_was_there);
    tcase_add_test(tc, steps_of_all_kinds_at_once_lose_nothing);
    tcase_add_test(tc, a_compare_and_swap_fails_where_another_came_first);
    tcase_add_test(tc, steps_and_stores_beside_them_lose_nothing);
    tcase_add_test(tc, over_datagrams_a_step_of_any_kind_is_one_request);
    return tc;
}
