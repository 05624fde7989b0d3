/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Edges inside a rank: one thread waits for a flag or takes a lock, another
 * one looks at what came and writes, and one of the two sets the next flag or
 * gives the lock back.  What orders the two is a mutex or an atomic word of
 * the process, of which Hearth knows nothing: but what it promises, it
 * promises of ranks.  Locks order so under release consistency alone.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "scene.h"
#include "watch.h"

enum { FLAG = 700, FLAGS = 200, LOCK = 60 };

struct inside {
    struct stage     *s;
    struct yard       yard;
    volatile int64_t *turn; /* under the lock */
    uint64_t          key, steps;
    size_t            stride;
    int               lock;
    bool              flags, mutex;
    _Atomic uint64_t  stage; /* where the two threads are */
    pthread_mutex_t   guard;
    pthread_cond_t    moved;
    uint64_t          guarded; /* the same, under the mutex */
};

static void
stage_set(struct inside *n, uint64_t stage)
{
    if (!n->mutex) {
        atomic_store_explicit(&n->stage, stage, memory_order_release);
        return;
    }
    pthread_mutex_lock(&n->guard);
    n->guarded = stage;
    pthread_cond_broadcast(&n->moved);
    pthread_mutex_unlock(&n->guard);
}

static void
stage_await(struct inside *n, uint64_t stage)
{
    while (!n->mutex &&
           atomic_load_explicit(&n->stage, memory_order_acquire) < stage)
        sched_yield();
    if (!n->mutex)
        return;
    pthread_mutex_lock(&n->guard);
    while (n->guarded < stage)
        pthread_cond_wait(&n->moved, &n->guard);
    pthread_mutex_unlock(&n->guard);
}

static void
turn_await(struct inside *n, uint64_t k)
{
    uint64_t random = k + 1;

    if (n->flags) {
        if (k > 0)
            hearth_flag_wait(FLAG + (int)k - 1);
        tally_add(TALLY_FLAGS, k > 0);
        return;
    }
    for (bool come = false; !come;) {
        hearth_lock(n->lock);
        come = *n->turn == (int64_t)k;
        hearth_unlock(n->lock);
        if (!come && draw(&random, 2))
            sched_yield();
    }
}

static void
turn_pass(struct inside *n, uint64_t k)
{
    if (n->flags) {
        hearth_flag_set(FLAG + (int)k);
        return;
    }
    hearth_lock(n->lock);
    *n->turn = (int64_t)k + 1;
    hearth_unlock(n->lock);
}

static void
look_and_write(struct inside *n, uint64_t k)
{
    struct part part = { 0, n->stride, n->yard.words };

    yard_check(n->s, &n->yard, part, k);
    yard_write(&n->yard, part, k + 1);
    tally_add(TALLY_INSIDE, 1);
    watch_step();
}

/* Of thread `who`: each of the three parts is done by one of the two. */
static void
steps_play(struct inside *n, uint64_t who)
{
    uint64_t ranks = (uint64_t)n->s->w->ranks, me = (uint64_t)n->s->w->me;

    for (uint64_t k = 0; k < n->steps; k++) {
        uint64_t bits = mix(n->key, k), waits = bits & 1;

        if ((k + n->key % ranks) % ranks != me)
            continue;
        if (who == waits) {
            turn_await(n, k);
            stage_set(n, 3 * k + 1);
        } else {
            stage_await(n, 3 * k + 1);
            look_and_write(n, k);
            stage_set(n, 3 * k + 2);
        }
        if (who == (bits >> 1 & 1)) {
            stage_await(n, 3 * k + 2);
            turn_pass(n, k);
            stage_set(n, 3 * k + 3);
        } else {
            stage_await(n, 3 * k + 3);
        }
    }
}

static void *
second_run(void *p)
{
    struct inside *n = p;

    world_delay(n->s->w, 1);
    steps_play(n, 1);
    return NULL;
}

void
scene_inside(struct stage *s)
{
    struct inside n = { .s = s,
                        .guard = PTHREAD_MUTEX_INITIALIZER,
                        .moved = PTHREAD_COND_INITIALIZER };
    pthread_t     second;

    n.flags = s->w->scope || draw(&s->random, 2);
    n.mutex = draw(&s->random, 2);
    n.key = draw(&s->random, UINT64_MAX);
    n.steps = 10 + draw(&s->random, FLAGS - 10);
    n.stride = 1 + draw(&s->random, 300);
    n.lock = lock_named(&s->random, LOCK);
    n.yard = yard_make(s, 1 + draw(&s->random, 6), hearth_cyclic(1));
    n.turn = hearth_alloc(1, sizeof *n.turn, hearth_cyclic(1));
    if (pthread_create(&second, NULL, second_run, &n) != 0)
        abort();
    steps_play(&n, 0);
    pthread_join(second, NULL);
    hearth_barrier();
    for (int f = s->w->me; n.flags && f < (int)n.steps; f += s->w->ranks)
        hearth_flag_reset(FLAG + f);
    hearth_barrier();
    hearth_free((void *)(uintptr_t)n.turn);
    yard_drop(&n.yard);
}
