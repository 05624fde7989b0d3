/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread of the home stores without a pause to words that nobody else ever
 * reads, in pages that others fetch in long runs: what it stores may tear, but
 * nothing of what lies beside it.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "scene.h"
#include "watch.h"

struct hush {
    struct yard yard;
    size_t      stripe;
    atomic_bool stop;
};

/* The k-th of each `stripe` words; the last ones are quiet, the others told.
 */
static struct part
words_of(const struct hush *h, size_t k)
{
    struct part part = { k, h->stripe, h->yard.words };

    return part;
}

static void *
store(void *p)
{
    struct hush       *h = p;
    volatile uint64_t *word = h->yard.word;

    for (uint64_t n = 0; !h->stop; n++)
        for (size_t i = h->stripe - 1; i < h->yard.words; i += h->stripe)
            word[i] = n;
    return NULL;
}

static void
told_write(const struct hush *h, uint64_t version)
{
    for (size_t k = 0; k + 1 < h->stripe; k++)
        yard_write(&h->yard, words_of(h, k), version);
}

/* In an order that lets long runs be fetched.  A small cache keeps none of
 * them to the next word: so not for longer than that. */
enum { CHECK_SECONDS = 5 };

static void
told_check(struct stage *s, const struct hush *h, uint64_t version)
{
    double start = MPI_Wtime();

    if (draw(&s->a->random, 4) > 0)
        hearth_prefetch(h->yard.word, h->yard.words * sizeof *h->yard.word);
    for (size_t k = 0;
         k + 1 < h->stripe && MPI_Wtime() - start < CHECK_SECONDS; k++)
        yard_check(s, &h->yard, words_of(h, k), version);
}

static void
rounds_play(struct stage *s, const struct hush *h, bool home)
{
    uint64_t rounds = 1 + draw(&s->random, 40);
    double   start = MPI_Wtime();

    for (uint64_t version = 1; version <= rounds && scene_has_time(start);
         version++) {
        if (home)
            told_write(h, version);
        hearth_barrier();
        if (!home)
            told_check(s, h, version);
        hearth_barrier();
        watch_step();
    }
}

void
scene_quiet(struct stage *s)
{
    int         home = (int)draw(&s->random, (uint64_t)s->w->ranks);
    size_t      pages = 8 + draw(&s->random, 120);
    bool        mine = s->w->me == home;
    pthread_t   thread;
    struct hush h = { yard_make(s, pages, hearth_on(home)),
                      (size_t)8 << 2 * draw(&s->random, 4), false };

    if (mine && pthread_create(&thread, NULL, store, &h) != 0)
        abort();
    rounds_play(s, &h, mine);
    h.stop = true;
    if (mine)
        pthread_join(thread, NULL);
    hearth_barrier();
    yard_drop(&h.yard);
}
