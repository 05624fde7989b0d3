/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A home stores without a pause to words that nobody else ever reads, in
 * pages that others fetch in long runs: what it stores may tear, but nothing
 * of what lies beside it.
 */
#include <mpi.h>

#include "scene.h"
#include "watch.h"

enum { WORDS_QUIET = 64, BURST = 20 };

/* The last words of each page are quiet, or the first, by turns: this is the
 * rest. */
static struct part
told_of(size_t page)
{
    size_t      first = page * PAGE_WORDS;
    struct part told = { first, 1, first + PAGE_WORDS - WORDS_QUIET };

    if (page % 2) {
        told.first += WORDS_QUIET;
        told.end += WORDS_QUIET;
    }
    return told;
}

/* All quiet words, as fast as can be. */
static void
quiet_store(const struct yard *y, uint64_t value)
{
    volatile uint64_t *word = y->word;

    for (size_t page = 0; page * PAGE_WORDS < y->words; page++) {
        struct part told = told_of(page);
        size_t      end = (page + 1) * PAGE_WORDS;

        for (size_t i = page * PAGE_WORDS; i < told.first; i++)
            word[i] = value;
        for (size_t i = told.end; i < end; i++)
            word[i] = value;
    }
}

/* An operation on a word of the last page serves others, where that needs a
 * call. */
static void
stores_go_on(const struct yard *y)
{
    int64_t    *served = (int64_t *)(void *)&y->word[y->words];
    MPI_Request request;
    int         done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (uint64_t n = 1; !done; n += BURST) {
        for (uint64_t i = 0; i < BURST; i++)
            quiet_store(y, n + i);
        hearth_fetch_add(served, 1);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        watch_step();
    }
}

/* In pieces, in the order that lets whole runs be fetched. */
static void
told_check(struct stage *s, const struct yard *y, uint64_t version)
{
    MPI_Request request;
    int         done = 0;

    if (draw(&s->a->random, 2))
        hearth_prefetch(y->word, y->words * sizeof *y->word);
    for (size_t page = 0; page * PAGE_WORDS < y->words; page++)
        yard_check(s, y, told_of(page), version);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        actor_nap(s->a);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

void
scene_quiet(struct stage *s)
{
    int         home = (int)draw(&s->random, (uint64_t)s->w->ranks);
    size_t      pages = 9 + draw(&s->random, 120);
    uint64_t    rounds = 1 + draw(&s->random, 6);
    struct yard y = yard_make(s, pages, hearth_on(home));

    y.words -= PAGE_WORDS; /* the last page is for serving others in between */
    for (uint64_t version = 1; version <= rounds; version++) {
        for (size_t page = 0; s->w->me == home && page < pages - 1; page++)
            yard_write(&y, told_of(page), version);
        hearth_barrier();
        if (s->w->me == home)
            stores_go_on(&y);
        else
            told_check(s, &y, version);
        hearth_barrier();
    }
    yard_drop(&y);
}
