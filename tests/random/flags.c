/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One flag that several ranks set, each several times, with more notices in
 * between than its log holds; others wait for it and read without a lock.
 * Who has waited for it knows what was written before its first set, and who
 * has waited for a setter's own flag, all that this one wrote.
 */
#include "scene.h"
#include "watch.h"

enum { FIRST = 256, MOST = 3 };

struct play {
    struct stage *s;
    struct yard   yard;
    uint64_t      setters, sets; /* of each setter */
    size_t        pages;         /* of each set: every second one */
    uint64_t      version;
    int           common; /* the flag of all; those of each follow */
};

/* One word of every second page, its own for each setter and set: no two
 * pages are a run. */
static struct part
set_part(const struct play *p, uint64_t setter, uint64_t set)
{
    struct part part = { setter * p->sets + set, 2 * (size_t)PAGE_WORDS,
                         2 * p->pages * PAGE_WORDS };

    return part;
}

static void
common_wait(const struct play *p)
{
    hearth_flag_wait(p->common);
    yard_check(p->s, &p->yard, set_part(p, 0, 0), p->version);
    tally_add(TALLY_FLAGS, 1);
    watch_step();
}

static void
setter_play(const struct play *p, uint64_t me)
{
    if (me > 0)
        common_wait(p);
    for (uint64_t k = 0; k < p->sets; k++) {
        yard_write(&p->yard, set_part(p, me, k), p->version);
        scene_nap(p->s);
        hearth_flag_set(p->common);
        watch_step();
    }
    hearth_flag_set(p->common + 1 + (int)me);
}

static void
others_wait(const struct play *p)
{
    uint64_t first = draw(&p->s->a->random, p->setters);

    for (uint64_t i = 0; i < p->setters; i++) {
        uint64_t setter = (first + i) % p->setters;

        if (draw(&p->s->a->random, 4) == 0)
            continue;
        hearth_flag_wait(p->common + 1 + (int)setter);
        for (uint64_t k = 0; k < p->sets; k++)
            yard_check(p->s, &p->yard, set_part(p, setter, k), p->version);
        tally_add(TALLY_FLAGS, 1);
        watch_step();
    }
}

static void
round_play(const struct play *p)
{
    const struct world *w = p->s->w;
    uint64_t place = (p->yard.key % 64 + (uint64_t)w->me) % (uint64_t)w->ranks;

    if (place < p->setters)
        setter_play(p, place);
    scene_nap(p->s);
    common_wait(p);
    others_wait(p);
    hearth_barrier();
    for (uint64_t i = 0; w->me == 0 && i <= p->setters; i++)
        hearth_flag_reset(p->common + (int)i);
}

void
scene_flags(struct stage *s)
{
    static const size_t pages[] = { 3, 10, 40, 60, 80, 90, 100, 168, 200 };
    struct play         p = { .s = s };
    uint64_t            most = (uint64_t)s->w->ranks;
    uint64_t            rounds = 2 + draw(&s->random, 5);

    p.setters = 1 + draw(&s->random, most < MOST ? most : MOST);
    p.sets = 1 + draw(&s->random, 3);
    p.pages = pages[draw(&s->random, sizeof pages / sizeof *pages)];
    p.yard = yard_make(s, 2 * p.pages, hearth_cyclic(1 + p.pages % 3));
    for (p.version = 1; p.version <= rounds; p.version++) {
        p.common =
            FIRST + (int)(p.version % 2) * 8 + (int)draw(&s->random, 10) * 16;
        hearth_barrier();
        round_play(&p);
    }
    hearth_barrier();
    yard_drop(&p.yard);
}
