/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A lock that some ranks wait for while others try: what it protects is right
 * whichever way it was taken, and those who wait get it.
 */
#include <mpi.h>
#include <stdlib.h>

#include "scene.h"
#include "watch.h"

enum { STARVED_SECONDS = 20, SECONDS_A_TURN = 2, TRIES_A_TURN = 2000 };
enum { CUT_SLOWER = 10 };

struct contest {
    struct stage *s;
    struct yard yard; /* word 0 counts turns, the others are of its version */
    struct part rest;
    int         lock;
    bool        naps;
};

static void
turn_take(struct contest *c)
{
    volatile uint64_t *turns = c->yard.word;

    yard_check(c->s, &c->yard, c->rest, *turns);
    ++*turns;
    yard_write(&c->yard, c->rest, *turns);
    gauge->turns++;
    tally_add(TALLY_SECTIONS, 1);
    watch_step();
    if (c->naps)
        scene_nap(c->s);
    hearth_unlock(c->lock);
}

/* What this rank has tried so far, and the turns that anybody had. */
struct record {
    uint64_t turns, tries; /* turns: at the start */
    double   start;
};

/* A lock that is free nearly always, and that hardly a try in thousands and no
 * waiter gets: both, so that a machine that is slow is not blamed.  Where
 * links are cut again and again (split.h) each turn may wait for a new
 * connection, while tries fail at once. */
static void
starved_check(const struct contest *c, struct record *r)
{
    uint64_t turns = gauge->turns - r->turns;
    double   slow = getenv("MPI_TEST_CUT") != NULL ? CUT_SLOWER : 1;
    double   seconds = (MPI_Wtime() - r->start) / slow;

    if (seconds < STARVED_SECONDS ||
        (double)turns * SECONDS_A_TURN > seconds ||
        r->tries < TRIES_A_TURN * (turns + 1))
        return;
    world_fail(c->s->a,
               "starved: %llu turns with lock %d in %.0f seconds, in which "
               "this rank tried %llu times",
               (unsigned long long)turns, c->lock, seconds,
               (unsigned long long)r->tries);
}

/* Until those who wait have had all their turns. */
static void
trier_play(struct contest *c)
{
    struct record r = { gauge->turns, 0, MPI_Wtime() };
    MPI_Request   request;
    int           done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        bool taken = hearth_trylock(c->lock);

        r.tries++;
        tally_add(TALLY_TRIES, 1);
        tally_add(TALLY_TAKEN, taken);
        if (taken)
            turn_take(c);
        else
            starved_check(c, &r);
        if (c->naps)
            scene_nap(c->s);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

static void
waiter_play(struct contest *c, uint64_t turns)
{
    MPI_Request request;
    int         done = 0;

    for (; turns > 0; turns--) {
        hearth_lock(c->lock);
        turn_take(c);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        actor_nap(c->s->a); /* Hearth has nothing that we could wait in */
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

void
scene_tries(struct stage *s)
{
    uint64_t       ranks = (uint64_t)s->w->ranks, words;
    uint64_t       waiters = 1 + draw(&s->random, ranks);
    uint64_t       first = draw(&s->random, ranks);
    uint64_t       turns = 5 + draw(&s->random, 30);
    struct contest c = { .s = s };

    c.yard = yard_make(s, 1 + draw(&s->random, 6), hearth_cyclic(1));
    words = draw(&s->random, c.yard.words);
    c.rest = (struct part){ 1, 1 + draw(&s->random, 100), 1 + words };
    if (c.rest.end > c.yard.words)
        c.rest.end = c.yard.words;
    c.lock =
        lock_named(&s->random, (int)draw(&s->random, 8) + HEARTH_LOCKS - 8);
    c.naps = draw(&s->random, 2) == 0;
    if (((uint64_t)s->w->me + first) % ranks < waiters)
        waiter_play(&c, turns);
    else
        trier_play(&c);
    hearth_barrier();
    yard_drop(&c.yard);
}
