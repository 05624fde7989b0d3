/* SPDX-License-Identifier: BSD-2-Clause
 *
 * All threads of all ranks take objects, hand them on and free what others
 * have taken, at once.
 */
#include <config.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "fixture.h"
#include "malloc.h"

enum { THREADS = 3, BOXES = 8, STEPS = 250, FIRST_LOCK = 20 };

/* An object that anybody may take out, under the lock of its box. */
struct box {
    unsigned char *p;
    size_t         bytes;
    unsigned       key;
};

struct worker {
    pthread_t   thread;
    struct box *boxes;
    uint64_t    random;
    long        wrong;
};

static size_t
draw(struct worker *w, size_t below)
{
    return (size_t)(hearthi_random(&w->random) % below);
}

static long
differs(const struct box *b)
{
    long n = 0;

    for (size_t i = 0; i < b->bytes; i++)
        n += b->p[i] != (unsigned char)(b->key + i);
    return n;
}

static void
box_fill(struct worker *w, struct box *b)
{
    int home = (int)draw(w, (size_t)ranks);

    b->bytes = 1 + draw(w, draw(w, 10) ? 300 : 40000);
    b->key = (unsigned)draw(w, 1000);
    b->p = home == me ? hearth_malloc(b->bytes)
                      : hearth_malloc_on(b->bytes, home);
    for (size_t i = 0; i < b->bytes; i++)
        b->p[i] = (unsigned char)(b->key + i);
}

static void *
work(void *arg)
{
    struct worker *w = arg;

    for (int step = 0; step < STEPS; step++) {
        size_t      i = draw(w, BOXES);
        struct box *b = &w->boxes[i];

        hearth_lock(FIRST_LOCK + (int)i);
        if (b->p != NULL) {
            w->wrong += differs(b);
            if (draw(w, 3) == 0) {
                size_t more = b->bytes + draw(w, 500);

                b->p = hearth_realloc(b->p, more);
                w->wrong += differs(b);
            }
            hearth_free(b->p);
            b->p = NULL;
        }
        if (draw(w, 4) > 0)
            box_fill(w, b);
        hearth_unlock(FIRST_LOCK + (int)i);
    }
    return NULL;
}

START_TEST(threads_of_all_ranks_take_and_free)
{
    struct box   *boxes = hearth_alloc(BOXES, sizeof *boxes, hearth_on(0));
    int           n = threads_allowed() ? THREADS : 1;
    struct worker w[THREADS] = { 0 };
    long          before = 0;

    barrier();
    for (int t = 0; t < n; t++)
        w[t] = (struct worker){ .boxes = boxes,
                                .random = (uint64_t)(me * THREADS + t + 1) };
    for (int t = 1; t < n; t++)
        pthread_create(&w[t].thread, NULL, work, &w[t]);
    work(&w[0]);
    for (int t = 1; t < n; t++)
        pthread_join(w[t].thread, NULL);
    for (int t = 0; t < n; t++)
        before += w[t].wrong;
    expect_eq(before, 0);
    barrier();
    for (int i = 0; i < BOXES && me == ranks - 1; i++) {
        if (boxes[i].p != NULL)
            expect_eq(differs(&boxes[i]), 0);
        hearth_free(boxes[i].p);
    }
    hearth_free(boxes);
    all_expected();
}
END_TEST

void
malloc_threads(TCase *tc)
{
    tcase_add_test(tc, threads_of_all_ranks_take_and_free);
}
