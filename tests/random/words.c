/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Several ranks change a word by all kinds of steps at once.  Each takes the
 * word from one value to another, and together they are a chain from the first
 * value to the last: every value that a step found is one that another left,
 * or the first, and every value left was found, or is the last.
 *
 * Or all of them only add, with or without a result, and wait for sums: a word
 * is what was added, and never less than what a rank knows to have gone there.
 */
#include <mpi.h>

#include "scene.h"
#include "watch.h"

enum { WORDS_MOST = 3, SUM_WORDS = 20, SUMS = 2 };

/* Sums over values found minus those left, plain and hashed. */
struct balance {
    uint64_t sum[SUMS];
};

static void
balance_add(struct balance *b, uint64_t found, uint64_t left)
{
    b->sum[0] += found - left;
    b->sum[1] += mix(found, 7) - mix(left, 7);
}

/* What was there a moment ago is expected, and may be gone. */
static void
word_exchange(int64_t *p, uint64_t value, struct balance *b)
{
    int64_t guess = hearth_fetch_add(p, 0);
    int64_t found = hearth_compare_swap(p, guess, (int64_t)value);

    balance_add(b, (uint64_t)found, found == guess ? value : (uint64_t)found);
}

static void
word_step(struct stage *s, uint64_t *word, struct balance *b)
{
    uint64_t value = draw(&s->a->random, UINT64_MAX);
    int64_t *p = (int64_t *)(void *)word;
    uint64_t found;

    switch (draw(&s->a->random, 5)) {
    case 0:
        found = (uint64_t)hearth_fetch_add(p, (int64_t)value);
        balance_add(b, found, found + value);
        break;
    case 1:
        found = (uint64_t)hearth_swap(p, (int64_t)value);
        balance_add(b, found, value);
        break;
    case 2:
        found = (uint64_t)hearth_fetch_or(p, (int64_t)value);
        balance_add(b, found, found | value);
        break;
    case 3:
        found = (uint64_t)hearth_fetch_and(p, (int64_t)value);
        balance_add(b, found, found & value);
        break;
    default: word_exchange(p, value, b);
    }
    tally_add(TALLY_ATOMICS_DONE, 1);
    watch_step();
}

static void
chain_check(struct stage *s, const uint64_t *word, struct balance b)
{
    MPI_Allreduce(MPI_IN_PLACE, b.sum, SUMS, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    balance_add(&b, *word, 0);
    if (b.sum[0] != 0 || b.sum[1] != 0)
        world_fail(s->a,
                   "atomic steps on %p (home %d) are no "
                   "chain of values: they are off by 0x%llx",
                   (const void *)word, hearth_home(word),
                   (unsigned long long)b.sum[0]);
    tally_add(TALLY_CHECKED, 1);
}

/* ---- sums ---- */

/* A number of adds, above what is added. */
#define ONE (INT64_C(1) << 40)

static void
sum_step(struct stage *s, int64_t *word, int64_t *sum)
{
    int64_t value = ONE + (int64_t)draw(&s->a->random, 1 << 20);

    if (draw(&s->a->random, 4) == 0) {
        int64_t found = hearth_fetch_add(word, value);

        if (found < *sum)
            world_fail(s->a,
                       "%p (home %d) is 0x%llx, though this rank had added "
                       "0x%llx",
                       (const void *)word, hearth_home(word),
                       (unsigned long long)found, (unsigned long long)*sum);
    } else {
        hearth_add(word, value);
    }
    *sum += value;
    if (draw(&s->a->random, 16) == 0)
        hearth_atomic_flush();
    if (draw(&s->a->random, 32) == 0 &&
        hearth_wait_until(word, HEARTH_GE, *sum) < *sum)
        world_fail(s->a, "a wait for %p has ended too early",
                   (const void *)word);
    tally_add(TALLY_ATOMICS_DONE, 1);
    watch_step();
}

static void
sums_play(struct stage *s, const struct yard *y, uint64_t words,
          uint64_t apart, uint64_t steps)
{
    int64_t sum[SUM_WORDS] = { 0 }, all[SUM_WORDS];

    for (; steps > 0; steps--) {
        uint64_t i = draw(&s->a->random, words);

        sum_step(s, (int64_t *)(void *)&y->word[1 + i * apart % y->words],
                 &sum[i]);
    }
    hearth_barrier();
    MPI_Allreduce(sum, all, SUM_WORDS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (uint64_t i = 0; i < words; i++) {
        const uint64_t *word = &y->word[1 + i * apart % y->words];

        if (*word != (uint64_t)all[i])
            world_fail(s->a, "%p (home %d) is 0x%llx, and 0x%llx was added",
                       (const void *)word, hearth_home(word),
                       (unsigned long long)*word, (unsigned long long)all[i]);
        tally_add(TALLY_CHECKED, 1);
    }
}

static void
chains_play(struct stage *s, const struct yard *y, uint64_t words,
            uint64_t apart, uint64_t steps)
{
    struct balance b[WORDS_MOST] = { 0 };

    for (; steps > 0; steps--) {
        uint64_t i = draw(&s->a->random, words);

        word_step(s, &y->word[1 + i * apart % PAGE_WORDS], &b[i]);
    }
    hearth_barrier();
    for (uint64_t i = 0; i < words; i++)
        chain_check(s, &y->word[1 + i * apart % PAGE_WORDS], b[i]);
}

void
scene_words(struct stage *s)
{
    struct yard y = yard_make(s, 2, hearth_cyclic(1));
    bool        sums = draw(&s->random, 2) != 0;
    uint64_t    words = 1 + draw(&s->random, sums ? SUM_WORDS : WORDS_MOST);
    uint64_t    steps = 10 + draw(&s->random, 120);
    uint64_t    apart = draw(&s->random, 2) ? 1 : PAGE_WORDS - 1;

    if (sums)
        sums_play(s, &y, words, apart, steps);
    else
        chains_play(s, &y, words, apart, steps);
    yard_drop(&y);
}
