/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A home stores without a pause to words that nobody else ever reads, in
 * pages that others fetch in long runs: what it stores may tear, but nothing
 * of what lies beside it.
 */
#include <mpi.h>

#include "scene.h"
#include "watch.h"

enum { BURST = 20 };

/* The k-th of each `stripe` words; the last ones are quiet, the others told.
 */
static struct part
words_of(const struct yard *y, size_t stripe, size_t k)
{
    struct part part = { k, stripe, y->words };

    return part;
}

/* All quiet words, as fast as can be. */
static void
quiet_store(const struct yard *y, size_t stripe, uint64_t value)
{
    volatile uint64_t *word = y->word;

    for (size_t i = stripe - 1; i < y->words; i += stripe)
        word[i] = value;
}

static void
told_write(const struct yard *y, size_t stripe, uint64_t version)
{
    for (size_t k = 0; k + 1 < stripe; k++)
        yard_write(y, words_of(y, stripe, k), version);
}

/* An operation on a word of the last page serves others, where that needs a
 * call. */
static void
stores_go_on(const struct yard *y, size_t stripe)
{
    int64_t    *served = (int64_t *)(void *)&y->word[y->words];
    MPI_Request begun, request;
    int         done = 0;

    quiet_store(y, stripe, 0);
    MPI_Ibarrier(MPI_COMM_WORLD, &begun);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (uint64_t n = 1; !done; n += BURST) {
        for (uint64_t i = 0; i < BURST; i++)
            quiet_store(y, stripe, n + i);
        hearth_fetch_add(served, 1);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        watch_step();
    }
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
}

static void
patiently(struct stage *s, MPI_Request *request)
{
    int done = 0;

    while (!done) {
        actor_nap(s->a);
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
}

/* Once the stores have begun; in the order that lets long runs be fetched. */
static void
told_check(struct stage *s, const struct yard *y, size_t stripe,
           uint64_t version)
{
    MPI_Request begun, request;

    MPI_Ibarrier(MPI_COMM_WORLD, &begun);
    patiently(s, &begun);
    if (draw(&s->a->random, 2))
        hearth_prefetch(y->word, y->words * sizeof *y->word);
    for (size_t k = 0; k + 1 < stripe; k++)
        yard_check(s, y, words_of(y, stripe, k), version);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    patiently(s, &request);
}

void
scene_quiet(struct stage *s)
{
    int         home = (int)draw(&s->random, (uint64_t)s->w->ranks);
    size_t      stripe = (size_t)4 << 2 * draw(&s->random, 4);
    size_t      pages = 9 + draw(&s->random, 120);
    uint64_t    rounds = 1 + draw(&s->random, 12);
    struct yard y = yard_make(s, pages, hearth_on(home));

    y.words -= PAGE_WORDS; /* the last page is for serving others in between */
    for (uint64_t version = 1; version <= rounds; version++) {
        if (s->w->me == home)
            told_write(&y, stripe, version);
        hearth_barrier();
        if (s->w->me == home)
            stores_go_on(&y, stripe);
        else
            told_check(s, &y, stripe, version);
        hearth_barrier();
    }
    yard_drop(&y);
}
