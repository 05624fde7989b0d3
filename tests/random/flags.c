/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One flag that several ranks set, each several times, with more notices in
 * between than its log holds; others wait for it and read without a lock.
 * Who has waited for it knows what was written before its first set, and who
 * has waited for a setter's own flag, all that this one wrote.
 *
 * What waiters know is in the copies that they have, so all ranks have read
 * everything before the next round; and a set writes pages of its own, or
 * what a later set says of a page would hide that an earlier one was lost.
 * A set may take milliseconds between its notices and the step that says so.
 */
#include <mpi.h>

#include "delay.h"
#include "scene.h"
#include "watch.h"

enum { FIRST = 256, MOST = 3, PAGES_MOST = 700, LATE_US = 5000 };

struct play {
    struct stage *s;
    struct yard   yard;
    uint64_t      setters, sets; /* of each setter */
    size_t        pages;         /* of each set: every second one */
    bool          apart;         /* no two sets share a page */
    bool          late;
    uint64_t      version;
    int           common; /* the flag of all; those of each follow */
};

/* One word of every second page, its own for each setter and set: no two
 * pages are a run. */
static struct part
set_part(const struct play *p, uint64_t setter, uint64_t set)
{
    uint64_t    number = setter * p->sets + set;
    size_t      words = 2 * p->pages * PAGE_WORDS;
    size_t      from = p->apart ? number * words : 0;
    struct part part = { from + number, 2 * (size_t)PAGE_WORDS, from + words };

    return part;
}

static uint64_t
late_us(const struct play *p)
{
    return p->late ? draw(&p->s->a->random, LATE_US) : 0;
}

static void
common_wait(const struct play *p)
{
    delay_here((double)late_us(p) / 1000);
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
        delay_replace((double)late_us(p) / 1000);
        hearth_flag_set(p->common);
        delay_replace(0);
        watch_step();
    }
    hearth_flag_set(p->common + 1 + (int)me);
}

static void
setter_check(const struct play *p, uint64_t setter)
{
    for (uint64_t k = 0; k < p->sets; k++)
        yard_check(p->s, &p->yard, set_part(p, setter, k), p->version);
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
        setter_check(p, setter);
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
    for (uint64_t i = 0; i < p->setters; i++)
        setter_check(p, i);
    for (uint64_t i = 0; w->me == 0 && i <= p->setters; i++)
        hearth_flag_reset(p->common + (int)i);
}

void
scene_flags(struct stage *s)
{
    static const size_t pages[] = { 3,  7,   10,  60,  80,  90,
                                    90, 100, 120, 150, 168, 200 };
    struct play         p = { .s = s };
    uint64_t            most = (uint64_t)s->w->ranks;
    double              start = MPI_Wtime();
    uint64_t            rounds = 4 + draw(&s->random, 20);

    p.setters = 1 + draw(&s->random, most < MOST ? most : MOST);
    p.pages = pages[draw(&s->random, sizeof pages / sizeof *pages)];
    p.sets = 1 + draw(&s->random, 3);
    p.apart =
        draw(&s->random, 4) > 0 && p.setters * p.sets * p.pages <= PAGES_MOST;
    p.late = draw(&s->random, 4) > 0;
    p.yard = yard_make(s, 2 * p.pages * (p.apart ? p.setters * p.sets : 1),
                       hearth_cyclic(1 + p.pages % 3));
    for (p.version = 1; p.version <= rounds && scene_has_time(start);
         p.version++) {
        p.common =
            FIRST + (int)(p.version % 2) * 8 + (int)draw(&s->random, 10) * 16;
        hearth_barrier();
        round_play(&p);
    }
    hearth_barrier();
    yard_drop(&p.yard);
}
