/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory comes and goes while other threads of each rank lock, unlock and
 * release what they wrote: whoever is out of hearth_alloc first reads at once,
 * and who is late must know of it when he writes.
 */
#include "scene.h"
#include "watch.h"

enum { PLOTS = 4 };

struct plot {
    struct yard yard;
    uint64_t    version;
};

/* Each by himself, all of it, a little, or nothing. */
static void
plot_look(struct stage *s, const struct plot *plot)
{
    struct part part = yard_all(&plot->yard);

    switch (draw(&s->a->random, 4)) {
    case 0: return;
    case 1: part.step = 1 + draw(&s->a->random, 2 * PAGE_WORDS); break;
    case 2: part.first = draw(&s->a->random, part.end); break;
    }
    yard_check(s, &plot->yard, part, plot->version);
}

/* The next version, by one rank or by all, word by word. */
static void
plot_write(struct stage *s, struct plot *plot)
{
    struct part part = yard_all(&plot->yard);
    uint64_t    ranks = (uint64_t)s->w->ranks, me = (uint64_t)s->w->me;

    plot->version++;
    if (draw(&s->random, 2) == 0) {
        part.first = me;
        part.step = ranks;
    } else if (draw(&s->random, ranks) != me) {
        return;
    }
    yard_write(&plot->yard, part, plot->version);
}

static void
plot_make(struct stage *s, struct plot *plot)
{
    size_t        pages = 1 + draw(&s->random, 24);
    int           rank = (int)draw(&s->random, (uint64_t)s->w->ranks);
    hearth_layout layout =
        draw(&s->random, 2) ? hearth_on(rank) : hearth_cyclic(1);

    plot->version = 0;
    plot->yard = yard_make(s, pages, layout);
    plot_look(s, plot);
}

static void
plots_change(struct stage *s, struct plot *plots)
{
    for (int i = 0; i < PLOTS; i++) {
        struct plot *plot = &plots[i];

        if (plot->yard.word == NULL) {
            if (draw(&s->random, 2))
                plot_make(s, plot);
        } else if (draw(&s->random, 3) == 0) {
            yard_drop(&plot->yard);
        }
    }
}

/* hearth_free waits for all ranks, and so for the checks of the round before.
 */
void
scene_fresh(struct stage *s)
{
    struct plot plots[PLOTS] = { 0 };
    uint64_t    rounds = 3 + draw(&s->random, 12);

    s->w->mood = MOOD_RELEASE;
    for (; rounds > 0; rounds--) {
        plots_change(s, plots);
        hearth_barrier();
        for (int i = 0; i < PLOTS; i++)
            if (plots[i].yard.word != NULL && draw(&s->random, 4) > 0)
                plot_write(s, &plots[i]);
        hearth_barrier();
        for (int i = 0; i < PLOTS; i++)
            if (plots[i].yard.word != NULL)
                yard_check(s, &plots[i].yard, yard_all(&plots[i].yard),
                           plots[i].version);
        watch_step();
    }
    for (int i = 0; i < PLOTS; i++)
        if (plots[i].yard.word != NULL)
            yard_drop(&plots[i].yard);
    s->w->mood = MOOD_ANY;
}
