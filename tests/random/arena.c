/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Arenas: allocations of every kind, dealt to objects.
 */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "watch.h"

enum { PAGE = 4096 };

static hearth_layout
layout_draw(const struct world *w, uint64_t *random)
{
    const uint64_t sets = (UINT64_C(1) << hearth_clusters()) - 1;
    const uint64_t set = sets == 1 ? 1 : 1 + draw(random, sets);

    switch (draw(random, 6)) {
    case 0: return hearth_within(hearth_block(), set);
    case 1: return hearth_on((int)draw(random, (uint64_t)w->ranks));
    case 2:
    case 3: return hearth_within(hearth_first_touch(), set);
    default: return hearth_within(hearth_cyclic(1 + draw(random, 3)), set);
    }
}

/* Runs of units of one object: dust, short, long, a mixture, or pages. */
static size_t
run_draw(const struct arena *arena, uint64_t style, uint64_t *random)
{
    switch (style) {
    case 0: return 1;
    case 1: return 1 + draw(random, 8);
    case 2: return 1 + draw(random, 6000);
    case 3: return PAGE / arena->unit * (1 + draw(random, 3));
    default: return (size_t)1 << draw(random, 12);
    }
}

static void
object_extend(struct object *o, size_t unit)
{
    if ((o->units & (o->units - 1)) == 0) { /* full at powers of two */
        size_t room = o->units == 0 ? 1 : 2 * o->units;

        o->where = realloc(o->where, room * sizeof *o->where);
        if (o->where == NULL)
            abort();
    }
    o->where[o->units++] = (uint32_t)unit;
}

/* A little of every second page, so that each is a run of its own. */
static void
units_deal_widely(struct arena *arena, int objects, uint64_t *random)
{
    size_t per_page = PAGE / arena->unit;
    size_t units = arena->bytes / arena->unit;

    for (size_t page = 0; page < units; page += 2 * per_page) {
        struct object *o =
            &arena->object[1 + draw(random, (uint64_t)objects - 1)];
        size_t at = page + draw(random, per_page);

        if (at < units)
            object_extend(o, at);
    }
}

static void
units_deal(struct arena *arena, int objects, uint64_t *random)
{
    size_t   units = arena->bytes / arena->unit;
    uint64_t style = draw(random, 5);

    for (size_t at = 0; at < units;) {
        struct object *o = &arena->object[draw(random, (uint64_t)objects)];

        for (size_t n = run_draw(arena, style, random); n > 0 && at < units;
             n--)
            object_extend(o, at++);
    }
}

static void
objects_make(struct world *w, struct arena *arena, uint64_t *random)
{
    static const unsigned char masks[] = { 0xff, 0xff, 0x0f, 0x01 };
    int                        objects = 3 + (int)draw(random, OBJECTS - 2);
    int                        index = (int)(arena - w->arena);

    memset(arena->object, 0, sizeof arena->object);
    if (w->wide && index == 0)
        units_deal_widely(arena, objects, random);
    else
        units_deal(arena, objects, random);
    for (int k = 0; k < OBJECTS; k++) {
        struct object *o = &arena->object[k];

        o->arena = arena;
        o->slot = index * OBJECTS + k;
        o->key = mix(arena->key, (uint64_t)k);
        o->mask = masks[draw(random, 4)];
        o->model = calloc(o->units + 1, arena->unit);
        if (o->model == NULL)
            abort();
    }
}

/* Version words go on from where they are: the slot's next object starts at a
 * version that means zero, so set them back, under the eyes of nobody else. */
static void
versions_forget(struct world *w, int index)
{
    for (int k = 0; k < OBJECTS; k++) {
        int slot = index * OBJECTS + k;

        if (slot % w->ranks != w->me)
            continue;
        *version_word(w, slot) = 0;
        if (oracle != NULL)
            oracle->version[slot] = 0;
    }
}

/* Collective. */
void
arena_make(struct world *w, int index, uint64_t key)
{
    static const size_t sizes[] = { 1, 1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 40 };
    struct arena       *arena = &w->arena[index];
    uint64_t            random = key;
    size_t              pages = 1 + draw(&random, 14);

    if (w->wide && index == 0)
        pages = 300 + draw(&random, 900);
    versions_forget(w, index);
    arena->key = key;
    arena->size = sizes[draw(&random, sizeof sizes / sizeof *sizes)];
    arena->unit = arena->size % 8 == 0 ? 8 : arena->size % 4 == 0 ? 4 : 1;
    arena->bytes = pages * PAGE - draw(&random, PAGE - 40); /* one at least */
    arena->bytes -= arena->bytes % arena->size;
    arena->layout = layout_draw(w, &random);
    arena->base =
        hearth_alloc(arena->bytes / arena->size, arena->size, arena->layout);
    tally_add(TALLY_ALLOCS, 1);
    objects_make(w, arena, &random);
}

/* Collective. */
void
arena_drop(struct world *w, struct arena *arena)
{
    holds_leave(w, arena);
    hearth_free(arena->base);
    arena->base = NULL;
    for (int k = 0; k < OBJECTS; k++) {
        free(arena->object[k].where);
        free(arena->object[k].model);
        arena->object[k].where = NULL;
        arena->object[k].model = NULL;
    }
}
