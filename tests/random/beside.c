/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread of each rank counts under one lock, in sections that may last
 * longer than a barrier, while the main threads go through barriers: what a
 * section wrote goes into whichever comes first, the lock's log or a barrier.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "scene.h"
#include "watch.h"

enum { NAP_US = 2000 };

struct counter {
    struct stage *s;
    struct yard   yard; /* word 0 is counted */
    int           lock;
    uint64_t      random, counted;
    atomic_bool   stop;
};

static void *
count(void *p)
{
    struct counter    *c = p;
    volatile uint64_t *word = c->yard.word;

    while (!c->stop) {
        struct timespec nap = { 0, (long)draw(&c->random, NAP_US) * 1000 };

        hearth_lock(c->lock);
        ++*word;
        if (draw(&c->random, 2))
            nanosleep(&nap, NULL);
        hearth_unlock(c->lock);
        c->counted++;
        tally_add(TALLY_SECTIONS, 1);
    }
    return NULL;
}

static void
barriers_pass(struct stage *s)
{
    uint64_t rounds = 10 + draw(&s->random, 100);
    double   start = MPI_Wtime();

    for (; rounds > 0 && scene_has_time(start); rounds--) {
        hearth_barrier();
        scene_nap(s);
        watch_step();
    }
}

void
scene_beside(struct stage *s)
{
    struct counter c = { .s = s };
    pthread_t      thread;
    uint64_t       sum;

    c.yard = yard_make(s, 1, hearth_cyclic(1));
    c.lock = s->w->lock[draw(&s->random, (uint64_t)s->w->locks)];
    c.random = draw(&s->a->random, UINT64_MAX);
    if (pthread_create(&thread, NULL, count, &c) != 0)
        abort();
    barriers_pass(s);
    c.stop = true;
    pthread_join(thread, NULL);
    MPI_Allreduce(&c.counted, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    hearth_barrier();
    tally_add(TALLY_CHECKED, 1);
    if (*c.yard.word != sum)
        world_fail(s->a, "%llu sections have counted to %llu",
                   (unsigned long long)sum, (unsigned long long)*c.yard.word);
    yard_drop(&c.yard);
}
