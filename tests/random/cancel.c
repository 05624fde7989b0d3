/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Threads that read and write the heap are cancelled at random moments: in
 * faults, too.  The rank goes on, and what they wrote is there or not, word
 * by word, until the rank writes it again.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "scene.h"
#include "watch.h"

enum { VICTIMS = 3, NEVER = 1 << 16 };

struct victim {
    pthread_t         thread;
    struct yard       yard;
    struct part       read, write; /* what it does, again and again */
    uint64_t          version;     /* to be read; the next is written */
    bool              async;
    _Atomic long long wrong; /* the first word that was, or -1 */
    _Atomic uint64_t  checked;
};

static void *
victim_run(void *p)
{
    struct victim *v = p;
    int            old;

    pthread_setcanceltype(v->async ? PTHREAD_CANCEL_ASYNCHRONOUS
                                   : PTHREAD_CANCEL_DEFERRED,
                          &old);
    for (;;) {
        size_t i = yard_wrong(&v->yard, v->read, v->version);

        v->checked += (v->read.end - v->read.first) / v->read.step;
        if (i < v->read.end && v->wrong < 0)
            v->wrong = (long long)i;
        yard_write(&v->yard, v->write, v->version + 1);
        pthread_testcancel();
    }
    return NULL;
}

/* The first half of the yard is read by all; the words of the other are dealt
 * to the threads of all ranks. */
static void
victim_start(struct stage *s, struct victim *v, int number,
             const struct yard *y, uint64_t version)
{
    size_t half = y->words / 2;

    v->yard = *y;
    v->read = (struct part){ draw(&s->a->random, half),
                             1 + draw(&s->a->random, 64), half };
    v->write = (struct part){ half + (size_t)(s->w->me * VICTIMS + number),
                              (size_t)(s->w->ranks * VICTIMS), y->words };
    v->version = version;
    v->async = draw(&s->a->random, 2) == 0;
    v->wrong = -1;
    v->checked = 0;
    if (pthread_create(&v->thread, NULL, victim_run, v) != 0)
        abort();
}

static void
victim_end(struct stage *s, struct victim *v)
{
    pthread_cancel(v->thread);
    pthread_join(v->thread, NULL);
    tally_add(TALLY_CANCELS, 1);
    tally_add(TALLY_CHECKED, v->checked);
    watch_step();
    if (v->wrong >= 0)
        world_fail(s->a, "a thread found word %lld wrong, of version %llu",
                   v->wrong, (unsigned long long)v->version);
}

static void
round_play(struct stage *s, const struct yard *y, uint64_t version)
{
    static struct victim victims[VICTIMS];
    uint64_t n = 1 + draw(&s->random, VICTIMS), ranks = (uint64_t)s->w->ranks;
    struct part first = { (size_t)s->w->me, ranks, y->words / 2 };
    struct part second = yard_all(y);

    yard_write(y, first, version);
    second.first = y->words / 2;
    hearth_barrier();
    for (uint64_t i = 0; i < n; i++)
        victim_start(s, &victims[i], (int)i, y, version);
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t naps = draw(&s->a->random, 8); naps > 0; naps--)
            actor_nap(s->a);
        victim_end(s, &victims[i]);
    }
    for (int i = 0; i < VICTIMS; i++) {
        struct part own = { second.first + (size_t)(s->w->me * VICTIMS + i),
                            ranks * VICTIMS, y->words };

        yard_write(y, own, version + 1);
    }
    hearth_barrier();
    yard_check(s, y, second, version + 1);
    hearth_barrier();
}

void
scene_cancel(struct stage *s)
{
    struct yard y = yard_make(s, 4 + draw(&s->random, 60), hearth_cyclic(1));
    uint64_t    rounds = 2 + draw(&s->random, 8);

    for (uint64_t version = 1; version <= rounds; version++)
        round_play(s, &y, version);
    yard_drop(&y);
}
