/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stdlib.h>

#include <hearth/hearth.h>

#include "light.h"
#include "tasks.h"

/* What is below an element of this level has its lock: who works there takes
 * it again and again. */
enum { LOCK_LEVEL = 1, LOCK_TOPS = 1 + 4 };

static int
element_lock(const struct light *l, int32_t element)
{
    const int32_t patch = light_patch(element);
    int32_t       top = element % ROOM_ELEMENTS;

    for (int level = room_level(top); level > LOCK_LEVEL; level--)
        top = (top - 1) / 4;
    return app_lock(l->run, light_home(l, patch),
                    (size_t)(TASKS_LOCKS + patch * LOCK_TOPS + top));
}

static void
section_enter(const struct light *l, int32_t element)
{
    if (!l->alone)
        hearth_lock(element_lock(l, element));
}

static void
section_leave(const struct light *l, int32_t element)
{
    if (!l->alone)
        hearth_unlock(element_lock(l, element));
}

static int
level_of(int32_t element)
{
    return room_level(element % ROOM_ELEMENTS);
}

static double
area_of(const struct light *l, int32_t element)
{
    const double whole = l->room.patch[light_patch(element)].piece.area;

    return whole / (double)(1 << (2 * level_of(element)));
}

/* Link two elements; nothing if they do not see each other.  `given`: to a
 * part of the element that is looked at. */
static void
link_add(struct light *l, int32_t to, int32_t from, double bright, bool given)
{
    struct element *e = &l->element[to];
    struct link     link = { .from = from, .pass = l->pass, .bright = bright };
    int64_t         number;

    link.factor = room_factor(&l->room, light_patch(to), to % ROOM_ELEMENTS,
                              light_patch(from), from % ROOM_ELEMENTS);
    if (link.factor <= 0)
        return;
    number = ++l->used;
    if (number % l->links == 0)
        app_fail(l->run, "there are more than %lld links",
                 (long long)l->links);
    if (given)
        section_enter(l, to);
    l->link[number - 1] = link;
    if (e->last != 0)
        l->link[e->last - 1].next = number;
    else
        e->first = number;
    e->last = number;
    if (given)
        section_leave(l, to);
}

void
light_begin(struct light *l, int32_t patch)
{
    for (int32_t p = 0; p < ROOM_PATCHES; p++)
        if (p != patch)
            link_add(l, patch * ROOM_ELEMENTS, p * ROOM_ELEMENTS,
                     l->bright[p * ROOM_ELEMENTS], false);
}

static void
element_divide(struct light *l, int32_t element)
{
    if (l->divided[element])
        return;
    section_enter(l, element);
    l->element[element].divided = true;
    section_leave(l, element);
    l->divided[element] = true;
}

/* What others have said of an element, and linked it to, is seen by who takes
 * its lock. */
static bool
element_meet(struct light *l, int32_t element)
{
    section_enter(l, element);
    if (l->element[element].divided)
        l->divided[element] = true;
    section_leave(l, element);
    return l->divided[element];
}

/* Replace a link that is no longer there: by four to parts of `from`, at the
 * end of the list, or by one of each part of `to`. */
static void
link_divide(struct light *l, int32_t to, int32_t from, double bright)
{
    const bool larger = area_of(l, from) >= area_of(l, to);
    const bool own =
        level_of(from) == l->levels || (!larger && level_of(to) < l->levels);

    element_divide(l, own ? to : from);
    for (int k = 0; k < 4; k++)
        if (own)
            link_add(l, light_part(to) + k, from, bright, true);
        else
            link_add(l, to, light_part(from) + k, bright, false);
}

/* May a link stay as it is? */
static bool
link_is_fine(const struct light *l, int32_t to, const struct link *link,
             double bright)
{
    return link->factor * bright * area_of(l, to) <= l->little ||
           (level_of(to) == l->levels && level_of(link->from) == l->levels);
}

/* Take out the link after `before`, or the first one. */
static void
link_remove(struct light *l, int32_t element, int64_t before)
{
    struct element *e = &l->element[element];
    int64_t        *at = before != 0 ? &l->link[before - 1].next : &e->first;

    if (e->last == *at)
        e->last = before;
    *at = l->link[*at - 1].next;
}

bool
light_look(struct light *l, int32_t element)
{
    struct element *e = &l->element[element];
    const bool      divided = element_meet(l, element);
    int64_t         before = 0, number;
    double          gathered = 0;

    while ((number = before != 0 ? l->link[before - 1].next : e->first) != 0) {
        const struct link *link = &l->link[number - 1];
        const int32_t      from = link->from;
        const double       bright =
            link->pass == l->pass ? link->bright : l->bright[from];

        if (link_is_fine(l, element, link, bright)) {
            gathered += link->factor * bright;
            before = number;
            continue;
        }
        link_remove(l, element, before);
        link_divide(l, element, from, bright);
    }
    if (e->gathered != gathered)
        e->gathered = gathered;
    return divided || l->divided[element] != 0;
}

double
light_spread(struct light *l, int32_t element, double down)
{
    const struct element *e = &l->element[element];
    const struct patch   *p = &l->room.patch[light_patch(element)];
    double                part[4];

    down += e->gathered;
    if (e->divided) {
        for (int k = 0; k < 4; k++)
            part[k] = light_spread(l, light_part(element) + k, down);
        l->bright[element] = ((part[0] + part[1]) + (part[2] + part[3])) / 4;
    } else {
        l->bright[element] = p->emits + p->reflects * down;
    }
    return l->bright[element];
}
