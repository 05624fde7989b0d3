/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How light goes from element to element (Hanrahan, Salzman, Aupperle: A rapid
 * hierarchical radiosity algorithm, SIGGRAPH 1991).
 *
 * An element has a list of links, each to another one from which it receives
 * light: as a whole, if that is little, and else by links of parts of either.
 * A pass has two halves.  In the first each element looks at its links: one
 * that brings too much is replaced by those to the parts of the other element,
 * or, if that is the smaller one, given to its own parts; what the rest bring
 * is summed.  In the second, sums go down to the smallest elements, and what
 * these radiate comes up.
 *
 * Only who looks at an element changes its list, and whoever looks at its
 * parent before, both under its lock; that an element has been divided anybody
 * may say, under its lock.  What is divided depends on the light of the pass
 * before, and not on who was first.
 */
#ifndef APPS_RADIOSITY_LIGHT_H
#define APPS_RADIOSITY_LIGHT_H

#include "room.h"

struct link {
    int32_t from; /* an element */
    int32_t pass; /* in which it was made */
    int64_t next; /* 1 + the next link of the list, or 0 */
    double  factor;
    double  bright; /* how bright `from` was then */
};

struct element {
    int64_t divided;
    int64_t first, last; /* 1 + a link, or 0 */
    double  gathered;    /* in the last pass */
};

/* Elements of all patches have one numbering: ROOM_ELEMENTS each. */
struct light {
    const struct app_run *run;
    bool                  alone;   /* a sequential run: nothing is shared */
    int                   levels;  /* that a patch may be divided */
    double                little;  /* light that need not be divided */
    struct room           room;    /* each rank has its own */
    struct element       *element; /* shared */
    double               *bright;  /* shared: of each element */
    struct link          *link;    /* shared: each rank has `links` */
    int64_t               links;
    int64_t               used;    /* of mine, and of those before */
    int32_t               pass;    /* from 1 on */
    char                 *divided; /* of those of which this rank knows */
};

/* The patch of an element, and its number there. */
static inline int32_t
light_patch(int32_t element)
{
    return element / ROOM_ELEMENTS;
}

/* The first of the four parts of an element. */
static inline int32_t
light_part(int32_t element)
{
    const int32_t patch = light_patch(element) * ROOM_ELEMENTS;

    return patch + 4 * (element - patch) + 1;
}

/* Where a patch is at home without --home: who works on it, and whose its
 * locks are. */
static inline int
light_home(const struct light *l, int32_t patch)
{
    enum { ALL = ROOM_PATCHES * ROOM_ELEMENTS };

    return app_home(l->run, l->element, ALL * sizeof *l->element,
                    &l->element[patch * ROOM_ELEMENTS]);
}

/* Link a patch with all others that it may receive light from. */
void light_begin(struct light *l, int32_t patch);

/* The first half of a pass, for one element: has it been divided? */
bool light_look(struct light *l, int32_t element);

/* The second half, for an element and all below, which also receive `down`:
 * how bright it is. */
double light_spread(struct light *l, int32_t element, double down);

#endif
