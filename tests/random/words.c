/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Several ranks change a word by all kinds of steps at once.  Each takes the
 * word from one value to another, and together they are a chain from the first
 * value to the last: every value that a step found is one that another left,
 * or the first, and every value left was found, or is the last.
 */
#include <mpi.h>

#include "scene.h"
#include "watch.h"

enum { WORDS_MOST = 3, SUMS = 2 };

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

void
scene_words(struct stage *s)
{
    struct yard    y = yard_make(s, 2, hearth_cyclic(1));
    uint64_t       words = 1 + draw(&s->random, WORDS_MOST);
    uint64_t       steps = 10 + draw(&s->random, 120);
    uint64_t       apart = draw(&s->random, 2) ? 1 : PAGE_WORDS - 1;
    struct balance b[WORDS_MOST] = { 0 };

    for (; steps > 0; steps--) {
        uint64_t i = draw(&s->a->random, words);

        word_step(s, &y.word[1 + i * apart % PAGE_WORDS], &b[i]);
    }
    hearth_barrier();
    for (uint64_t i = 0; i < words; i++)
        chain_check(s, &y.word[1 + i * apart % PAGE_WORDS], b[i]);
    yard_drop(&y);
}
