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
#include "malloc/arena_map.h"
#include "malloc/owner_cache.h"
#include "transport/remote_word.h"
#include "transport/transport.h"
#include "world.h"

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

    for (int step = 0; step < rounds_of(STEPS); step++) {
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

/* ---- the last blocks of an arena ---- */

static const struct hearthi_transport_ops *under;
static uint64_t                            most_carved;
static bool                                was_faster;

/* Another rank takes a block right before the first step that changes the
 * word. */
static uint64_t
step_after_another(int home, size_t at, const struct hearthi_atomic_op *step)
{
    static const struct hearthi_atomic_op look = { .kind = HEARTHI_ADD };
    uint64_t                              was, now;

    if (step->value != 0 && !was_faster) {
        was_faster = true;
        expect(hearthi_arena_map_split(home, 1) != NULL);
    }
    was = under->data.atomic(home, at, step);
    now = under->data.atomic(home, at, &look);
    if (now > most_carved)
        most_carved = now;
    return was;
}

static void
refused_carve(uint64_t all)
{
    struct hearthi_transport_ops ops = *hearthi_transport;
    const size_t                 word =
        hearthi_remote_free_bell_at() - 64; /* the first line has it */
    const uint64_t was = hearthi_arena_map_split_so_far(0);

    hearthi_remote_word_put(0, word, all - 2);
    most_carved = 0;
    was_faster = false;
    under = hearthi_transport;
    ops.data.atomic = step_after_another;
    hearthi_transport = &ops;
    expect(hearthi_arena_map_split(0, 2) == NULL);
    hearthi_transport = under;
    expect(was_faster);
    expect_eq(most_carved, all - 1);
    expect(hearthi_arena_map_split(0, 1) != NULL);
    expect(hearthi_arena_map_split(0, 1) == NULL);
    hearthi_remote_word_put(0, word, was);
}

/* Else a third rank would be refused what is there, or two ranks that give
 * back what they did not get would give back what it has got. */
START_TEST(who_is_refused_blocks_leaves_the_count_of_them_alone)
{
    if (me == 0 && hearthi_world.nodes > 1)
        refused_carve(hearthi_arena_map.room / HEARTHI_ARENA_BLOCK);
    barrier();
    all_expected();
}
END_TEST

/* ---- who must forget ---- */

struct telling {
    pthread_barrier_t together;
    atomic_long       missed;
};

enum { TELLINGS = 100 };

/* Two threads that are about to give out blocks of two homes. */
static void *
tell_to_forget(void *arg)
{
    struct telling *t = arg;

    for (int i = 0; i < rounds_of(TELLINGS); i++) {
        uint64_t was = hearthi_remote_word_get(ranks - 1, hearthi_forget_at());

        hearthi_owner_cache_used_by(ranks - 1);
        pthread_barrier_wait(&t->together);
        hearthi_owner_cache_flush();
        if (hearthi_remote_word_get(ranks - 1, hearthi_forget_at()) == was)
            t->missed++;
        pthread_barrier_wait(&t->together);
    }
    return NULL;
}

START_TEST(no_thread_gives_out_a_block_that_a_rank_has_yet_to_forget)
{
    struct telling t = { .missed = 0 };
    pthread_t      other;

    if (me == 0 && threads_allowed()) {
        pthread_barrier_init(&t.together, NULL, 2);
        pthread_create(&other, NULL, tell_to_forget, &t);
        tell_to_forget(&t);
        pthread_join(other, NULL);
        pthread_barrier_destroy(&t.together);
    }
    expect_eq(t.missed, 0);
    barrier();
    all_expected();
}
END_TEST

void
malloc_threads(TCase *tc)
{
    tcase_add_test(tc, who_is_refused_blocks_leaves_the_count_of_them_alone);
    tcase_add_test(tc,
                   no_thread_gives_out_a_block_that_a_rank_has_yet_to_forget);
    tcase_add_test(tc, threads_of_all_ranks_take_and_free);
}
