/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A lock that ranks take in runs of random length, so that it stays with one
 * for a while and is asked for at any moment: while nobody is inside, while
 * its rank is, waits elsewhere, or tells others by other means.
 */
#include "scene.h"
#include "watch.h"

enum { LONGEST = 24 };

struct run {
    struct stage *s;
    struct yard
        yard; /* word 0 counts sections, the others are of its version */
    struct part rest;
    int         lock, other;
};

static void
section(struct run *r)
{
    volatile uint64_t *count = r->yard.word;

    yard_check(r->s, &r->yard, r->rest, *count);
    ++*count;
    yard_write(&r->yard, r->rest, *count);
    tally_add(TALLY_SECTIONS, 1);
    watch_step();
}

/* What ends an interval while the lock stays. */
static void
tell_others(struct run *r)
{
    switch (draw(&r->s->a->random, 4)) {
    case 0:
        hearth_lock(r->other);
        hearth_unlock(r->other);
        break;
    case 1: hearth_release(NULL, 0); break;
    case 2: scene_nap(r->s); break;
    default: break;
    }
}

static void
run_play(struct run *r)
{
    uint64_t *random = &r->s->a->random;
    uint64_t  tries = draw(random, 4) == 0;

    for (uint64_t n = 1 + draw(random, LONGEST); n > 0; n--) {
        if (!tries || !hearth_trylock(r->lock))
            hearth_lock(r->lock);
        section(r);
        if (draw(random, 8) == 0)
            tell_others(r);
        hearth_unlock(r->lock);
    }
    tell_others(r);
}

void
scene_stay(struct stage *s)
{
    uint64_t   rounds = 1 + draw(&s->random, 3), runs, words;
    struct run r = { .s = s };

    r.yard = yard_make(s, 1 + draw(&s->random, 3), hearth_cyclic(1));
    words = draw(&s->random, r.yard.words);
    r.rest = (struct part){ 1, 1 + draw(&s->random, 200), 1 + words };
    if (r.rest.end > r.yard.words)
        r.rest.end = r.yard.words;
    r.lock =
        lock_named(&s->random, (int)draw(&s->random, 8) + HEARTH_LOCKS - 16);
    r.other = HEARTH_LOCKS - 17;
    for (; rounds > 0; rounds--) {
        runs = draw(&s->a->random, 6);
        for (; runs > 0; runs--)
            run_play(&r);
        hearth_barrier();
        yard_check(s, &r.yard, r.rest, *r.yard.word);
        hearth_barrier();
    }
    yard_drop(&r.yard);
}
