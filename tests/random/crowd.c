/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Many threads of one rank, and some of the others, wait at once: for a
 * condition, a flag, a reader-writer lock, or for all three.  One rank writes
 * and wakes them; whoever is woken finds what was written.  How many have come
 * is counted at a home, by atomic steps.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#include "scene.h"
#include "watch.h"

enum {
    MOST = 130,
    LEAST = 40,
    FEW = 3,
    LOCK = 40,
    COND = 1020,
    FLAG = 660,
    RWLOCK = 700,
    STACK = 256 * 1024
};

enum kind { FOR_COND, FOR_FLAG, FOR_RWLOCK, KINDS };

struct crowd {
    struct stage     *s;
    struct yard       yard;
    struct part       part, locked; /* what the lock protects */
    int64_t          *come;
    volatile int64_t *ready; /* under the lock, for the condition */
    uint64_t          version;
    int               lock, flag;
    int               waker, many, of_one, of_others;
    enum kind         kind; /* KINDS: all */
    bool              one_by_one;
};

struct waiter {
    struct crowd *c;
    pthread_t     thread;
    enum kind     kind;
};

static void
cond_await(const struct crowd *c)
{
    hearth_lock(c->lock);
    hearth_fetch_add(c->come, 1);
    while (*c->ready != (int64_t)c->version) {
        hearth_cond_wait(COND, c->lock);
        tally_add(TALLY_CONDS, 1);
    }
    yard_check(c->s, &c->yard, c->locked, c->version);
    hearth_unlock(c->lock);
}

static void
rest_await(const struct crowd *c, enum kind kind)
{
    hearth_fetch_add(c->come, 1);
    if (kind == FOR_FLAG)
        hearth_flag_wait(c->flag);
    else
        hearth_rdlock(RWLOCK);
    yard_check(c->s, &c->yard, c->part, c->version);
    if (kind == FOR_RWLOCK)
        hearth_rwunlock(RWLOCK);
}

static void *
waiter_run(void *p)
{
    const struct waiter *w = p;

    if (w->kind == FOR_COND)
        cond_await(w->c);
    else
        rest_await(w->c, w->kind);
    tally_add(TALLY_CROWDED, 1);
    watch_step();
    return NULL;
}

static int
waiters_of(const struct crowd *c, int rank)
{
    return rank == c->many ? c->of_one : c->of_others;
}

static void
all_await(const struct crowd *c)
{
    int64_t all = c->of_one + (c->s->w->ranks - 1) * (int64_t)c->of_others;

    while (hearth_fetch_add(c->come, 0) < all * (int64_t)c->version) {
        watch_alive();
        actor_nap(c->s->a);
    }
    for (int n = 0; n < 20; n++) /* that they wait, too */
        scene_nap(c->s);
}

/* The wake of a thread that waits may be one of several. */
static void
all_wake(const struct crowd *c)
{
    int64_t all = c->of_one + (c->s->w->ranks - 1) * (int64_t)c->of_others;

    yard_write(&c->yard, c->part, c->version);
    hearth_rwunlock(RWLOCK);
    hearth_flag_set(c->flag);
    hearth_lock(c->lock);
    yard_write(&c->yard, c->locked, c->version);
    *c->ready = (int64_t)c->version;
    hearth_unlock(c->lock);
    for (; c->one_by_one && all > 0; all--)
        hearth_cond_signal(COND);
    if (!c->one_by_one)
        hearth_cond_broadcast(COND);
}

static void
round_play(struct crowd *c)
{
    static struct waiter waiter[MOST];
    pthread_attr_t       attr;
    int                  n = waiters_of(c, c->s->w->me);

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    if (c->s->w->me == c->waker)
        hearth_wrlock(RWLOCK);
    hearth_barrier();
    for (int i = 0; i < n; i++) {
        waiter[i].c = c;
        waiter[i].kind = c->kind == KINDS ? (enum kind)(i % KINDS) : c->kind;
        if (pthread_create(&waiter[i].thread, &attr, waiter_run, &waiter[i]))
            abort();
    }
    pthread_attr_destroy(&attr);
    if (c->s->w->me == c->waker) {
        all_await(c);
        all_wake(c);
    }
    for (int i = 0; i < n; i++)
        pthread_join(waiter[i].thread, NULL);
    hearth_barrier();
    if (c->s->w->me == c->waker)
        hearth_flag_reset(c->flag);
}

void
scene_crowd(struct stage *s)
{
    struct crowd c = { .s = s };
    uint64_t     rounds = 1 + draw(&s->random, 2);
    uint64_t     ranks = (uint64_t)s->w->ranks;
    double       start = MPI_Wtime();

    c.kind = (enum kind)draw(&s->random, KINDS + 1);
    c.of_one = LEAST + (int)draw(&s->random, MOST - LEAST);
    c.of_others = (int)draw(&s->random, FEW + 1);
    c.waker = (int)draw(&s->random, ranks);
    c.many = (int)draw(&s->random, ranks);
    c.one_by_one = draw(&s->random, 2) == 0;
    c.lock = lock_named(&s->random, LOCK);
    c.yard = yard_make(s, 1 + draw(&s->random, 3), hearth_cyclic(1));
    c.part = (struct part){ 0, 1 + draw(&s->random, 200), c.yard.words / 2 };
    c.locked = (struct part){ c.part.end, c.part.step, c.yard.words };
    c.come = hearth_alloc(2, sizeof *c.come, hearth_cyclic(1));
    c.ready = c.come + 1;
    for (c.version = 1; c.version <= rounds && scene_has_time(start);
         c.version++) {
        c.flag = FLAG + (int)(c.version % 2);
        round_play(&c);
    }
    hearth_barrier();
    hearth_free(c.come);
    yard_drop(&c.yard);
}
