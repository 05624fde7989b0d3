/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dissect.h"

/* What all parts use, one after the other. */
struct work {
    struct plan *p;
    long         piece;
    int32_t     *part;  /* of each point, a number that is only its part's */
    int32_t      parts; /* numbers that were used */
    int32_t     *level; /* of each point of the part, or -1 */
    int32_t     *queue; /* the points of a part in the order of levels */
    int32_t     *room;  /* the same, for a copy */
};

/* Points, and ranks [from, to) for them. */
struct part {
    int32_t *point;
    int32_t  count;
    int32_t  from, to;
};

/* Levels of what is connected with a point of the part and has none yet; how
 * many points have some then, in w->queue. */
static int32_t
levels_add(struct work *w, int32_t first, int32_t found)
{
    const int32_t  number = w->part[first];
    const int32_t *next;
    int32_t        room[4], head = found, tail = found;

    w->level[first] = 0;
    w->queue[tail++] = first;
    while (head < tail) {
        const int32_t at = w->queue[head++];

        for (int i = plan_neighbours(w->p, at, room, &next); i-- > 0;)
            if (w->part[next[i]] == number && w->level[next[i]] < 0) {
                w->level[next[i]] = w->level[at] + 1;
                w->queue[tail++] = next[i];
            }
    }
    return tail;
}

static int32_t
levels_find(struct work *w, const struct part *a, int32_t first)
{
    for (int32_t i = 0; i < a->count; i++)
        w->level[a->point[i]] = -1;
    return levels_add(w, first, 0);
}

/* A part of which so many points are connected: take others to them, until
 * they are half of it, and leave at least one behind. */
static void
islands_gather(struct work *w, const struct part *a, int32_t found)
{
    int32_t before = found;

    for (int32_t i = 0; found < a->count / 2; i++)
        if (w->level[a->point[i]] < 0) {
            before = found;
            found = levels_add(w, a->point[i], found);
        }
    for (int32_t i = before; found == a->count && i < found; i++)
        w->level[w->queue[i]] = -1;
}

/* The smallest level with a third of the points before it and a third behind
 * it, or else that of the middle point; -1 if there is none between others. */
static int32_t
separator_choose(const struct work *w, int32_t count)
{
    const int32_t last = w->level[w->queue[count - 1]];
    const int32_t middle = w->level[w->queue[count / 2]];
    int32_t       best = -1, least = count;

    if (last < 2)
        return -1;
    for (int32_t from = 0, to; from < count; from = to) {
        const int32_t level = w->level[w->queue[from]];

        for (to = from; to < count && w->level[w->queue[to]] == level;)
            to++;
        if (from >= count / 3 && count - to >= count / 3 &&
            to - from < least && level > 0 && level < last) {
            best = level;
            least = to - from;
        }
    }
    if (best >= 0)
        return best;
    return middle == 0 ? 1 : middle == last ? last - 1 : middle;
}

/* Put the points below a level first, then those above it, then those on it;
 * how many the first two are. */
static void
part_sort(struct work *w, const struct part *a, int32_t level,
          int32_t count[2])
{
    int32_t at = 0;

    for (int group = 0; group < 3; group++) {
        for (int32_t i = 0; i < a->count; i++) {
            const int32_t l = w->level[a->point[i]];
            const int     of = l < level ? 0 : l > level ? 1 : 2;

            if (of == group)
                w->room[at++] = a->point[i];
        }
        if (group < 2)
            count[group] = group == 0 ? at : at - count[0];
    }
    memcpy(a->point, w->room, (size_t)a->count * sizeof *a->point);
}

/* Divide a part: false if it is one piece. */
static bool
part_divide(struct work *w, const struct part *a, int32_t count[2])
{
    int32_t found, level;

    if (a->count <= w->piece)
        return false;
    for (int32_t i = 0; i < a->count; i++)
        w->part[a->point[i]] = w->parts;
    w->parts++;
    found = levels_find(w, a, a->point[0]);
    if (found < a->count) {
        islands_gather(w, a, found);
        part_sort(w, a, 0, count); /* those without a level first */
        count[1] = a->count - count[0];
        return true;
    }
    found = levels_find(w, a, w->queue[found - 1]);
    level = separator_choose(w, found);
    if (level < 0)
        return false;
    part_sort(w, a, level, count);
    return true;
}

static int32_t
part_order(struct work *w, const struct part *a)
{
    int32_t     child[2] = { -1, -1 }, count[2] = { 0, 0 }, first;
    struct part half[2];

    if (a->count == 0)
        return -1;
    if (part_divide(w, a, count)) {
        half[0] = half[1] = *a;
        half[0].count = count[0];
        half[1].point += count[0];
        half[1].count = count[1];
        if (a->to - a->from > 1)
            half[0].to = half[1].from = a->from + (a->to - a->from) / 2;
        for (int h = 0; h < 2; h++)
            child[h] = part_order(w, &half[h]);
    }
    first = w->p->placed;
    for (int32_t i = count[0] + count[1]; i < a->count; i++)
        plan_point_add(w->p, a->point[i]);
    return plan_node_add(w->p, first, a->from, a->to, child);
}

void
dissect(struct plan *p, long piece)
{
    const size_t n = (size_t)p->n;
    struct work  w = { .p = p, .piece = piece };
    struct part  all = { .count = p->n, .to = p->ranks };

    w.part = app_private(p->run, n, sizeof *w.part);
    w.level = app_private(p->run, n, sizeof *w.level);
    w.queue = app_private(p->run, n, sizeof *w.queue);
    w.room = app_private(p->run, n, sizeof *w.room);
    all.point = app_private(p->run, n, sizeof *all.point);
    for (int32_t i = 0; i < p->n; i++)
        all.point[i] = i;
    part_order(&w, &all);
    free(all.point);
    free(w.room);
    free(w.queue);
    free(w.level);
    free(w.part);
}
