/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The light in a room of dull surfaces, by hierarchical radiosity.
 *
 * Problem: a room with a lamp and eleven boxes, 78 patches, each divided up to
 * six times where light is strong, until the light no longer changes.
 *
 * Source: Radiosity of SPLASH-2 (Woo et al., The SPLASH-2 Programs, ISCA
 * 1995), for its tasks: to look at the links of a patch, and of each part of
 * it, is one, which makes others, that go into a queue of the rank's own and
 * from there to who has nothing to do (tasks.h); a pass ends when no rank has
 * any. Elements have locks, under which they are divided and linked by whoever
 * needs it.  Here nothing depends on the order of tasks, so that a result can
 * be compared; who sees whom is found by rays to a box each, instead of a tree
 * of polygons.
 *
 * Sharing: elements, at home with the owners of their patches, which begin
 * with the tasks of these; how bright each is, an array for itself, since that
 * is what others read; and the links, of which each rank makes its own.  A
 * pass has two barriers: after the tasks, and after owners have summed what
 * comes down to and up from the elements of their patches.
 *
 * Limit: the pages with the brightness of the elements, which move in each
 * pass; and at its end the tasks that move with what they need.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "light.h"
#include "tasks.h"

static long levels, little, passes;

static const struct app_option options[] = {
    APP_NUMBER('l', "levels", &levels, 6, 4, 0, ROOM_LEVELS,
               "times that a patch may be divided"),
    APP_NUMBER('e', "little", &little, 50, 4000, 0, 1000000000,
               "light that need not be divided, in millionths"),
    APP_NUMBER('p', "passes", &passes, 20, 20, 1, 1000, "at most"),
};

enum {
    SPAWN = 3, /* levels of elements that are tasks */
    ALL_ELEMENTS = ROOM_PATCHES * ROOM_ELEMENTS,
    LINKS = 1 << 22, /* room for those of a rank */
    CHANGE_LOCK = HEARTH_LOCKS - 2
};

/* All is settled when no patch is brighter than before by more than this part;
 * and the bounds of --verify: of the mean of what all factors of an element
 * are together, which is 1, and of the light that is absorbed nowhere. */
#define SETTLED     1e-3
#define SAME_FACTOR 0.2
#define SAME_LIGHT  0.2

struct radiosity {
    struct light light;
    struct tasks tasks;
    double      *change; /* shared: of each pass */
};

static int32_t
patch_element(int32_t patch)
{
    return patch * ROOM_ELEMENTS;
}

static bool
is_mine(const struct light *l, int32_t patch)
{
    return l->alone || light_home(l, patch) == l->run->rank;
}

/* A task: an element, and then its parts, as tasks if they are large. */
static void
element_work(struct radiosity *r, int32_t element, int level)
{
    struct light *l = &r->light;

    if (l->pass == 1 && level == 0)
        light_begin(l, light_patch(element));
    if (!light_look(l, element))
        return;
    for (int k = 0; k < 4; k++) {
        const int32_t part = light_part(element) + k;

        if (level < SPAWN && !l->alone)
            tasks_push(&r->tasks, l->run->rank, part);
        else
            element_work(r, part, level + 1);
    }
}

/* The first half of a pass. */
static void
pass_look(struct radiosity *r)
{
    struct light *l = &r->light;
    int64_t       task;

    for (int32_t p = 0; p < ROOM_PATCHES; p++)
        if (l->alone)
            element_work(r, patch_element(p), 0);
        else if (is_mine(l, p))
            tasks_push(&r->tasks, l->run->rank, patch_element(p));
    if (l->alone)
        return;
    while (tasks_take(&r->tasks, &task))
        element_work(r, (int32_t)task,
                     room_level((int32_t)task % ROOM_ELEMENTS));
    hearth_barrier();
}

/* The second one; how much has changed. */
static void
pass_spread(struct radiosity *r, double *change)
{
    struct light *l = &r->light;
    double        most = 0;

    for (int32_t p = 0; p < ROOM_PATCHES; p++)
        if (is_mine(l, p)) {
            const double before = l->bright[patch_element(p)];
            const double now = light_spread(l, patch_element(p), 0);

            most = app_worse(most, fabs(now - before) / (now + 1e-9));
        }
    if (!l->alone)
        hearth_lock(CHANGE_LOCK);
    *change = app_worse(*change, most);
    if (!l->alone) {
        hearth_unlock(CHANGE_LOCK);
        hearth_barrier();
    }
}

static bool
is_settled(const struct radiosity *r)
{
    return r->change[r->light.pass] <= SETTLED;
}

/* All passes. */
static void
light_make(struct app_run *run, struct radiosity *r)
{
    struct light *l = &r->light;

    do {
        l->pass++;
        pass_look(r);
        pass_spread(r, &r->change[l->pass]);
        if (!l->alone)
            app_progress(run, "pass", l->pass, passes);
    } while (l->pass < passes && !is_settled(r));
}

/* The private part, and the light before the first pass; the shared arrays are
 * there. */
static void
light_open(struct radiosity *r, const struct app_run *run)
{
    struct light *l = &r->light;

    l->run = run;
    l->levels = (int)levels;
    l->little = 1e-6 * (double)little;
    l->links = LINKS;
    l->used = l->alone ? 0 : (int64_t)run->rank * LINKS;
    l->divided = app_private(run, ALL_ELEMENTS, 1);
    room_make(&l->room);
    for (int32_t p = 0; p < ROOM_PATCHES; p++)
        if (is_mine(l, p))
            l->bright[patch_element(p)] = l->room.patch[p].emits;
}

/* The sum of the factors of an element's links, and of its parts' on average;
 * counts links and elements. */
static double
factors_sum(const struct light *l, int32_t element, long *links,
            long *elements)
{
    const struct element *e = &l->element[element];
    double                sum = 0;

    ++*elements;
    for (int64_t i = e->first; i != 0; i = l->link[i - 1].next) {
        sum += l->link[i - 1].factor;
        ++*links;
    }
    for (int k = 0; k < 4 && e->divided; k++)
        sum += factors_sum(l, light_part(element) + k, links, elements) / 4;
    return sum;
}

/* Light is neither made nor lost between the patches. */
/* With fewer passes than light needs to settle it says nothing about how much
 * is absorbed; that it is that of a sequential run is known all the same. */
static void
light_verify(struct app_run *run, const struct light *l, bool settled)
{
    double area = 0, factors = 0, emitted = 0, absorbed = 0;
    long   links = 0, elements = 0;

    for (int32_t p = 0; p < ROOM_PATCHES; p++) {
        const struct patch *q = &l->room.patch[p];
        const double        bright = l->bright[patch_element(p)];

        area += q->piece.area;
        factors += q->piece.area *
                   factors_sum(l, patch_element(p), &links, &elements);
        emitted += q->piece.area * q->emits;
        absorbed +=
            q->piece.area * (bright - q->emits) * (1 / q->reflects - 1);
    }
    factors /= area;
    app_verdict(run, fabs(factors - 1) <= SAME_FACTOR,
                "factors are %.3f on average", factors);
    app_verdict(run, !settled || fabs(absorbed / emitted - 1) <= SAME_LIGHT,
                "of the light %.3f is absorbed", absorbed / emitted);
    app_field(
        run, "settled=%s links=%ld elements=%ld factors=%.4f absorbed=%.4f",
        settled ? "yes" : "no", links, elements, factors, absorbed / emitted);
}

/* Rank 0: each element is as bright as in a sequential run, bit for bit. */
static void
radiosity_verify(struct app_run *run, const struct radiosity *got)
{
    struct radiosity want = { .light = { .alone = true } };
    struct light    *l = &want.light;

    l->element = app_private(run, ALL_ELEMENTS, sizeof *l->element);
    l->bright = app_private(run, ALL_ELEMENTS, sizeof *l->bright);
    l->link = app_private(run, LINKS, sizeof *l->link);
    want.change = app_private(run, (size_t)passes + 1, sizeof *want.change);
    light_open(&want, run);
    app_sequential_start(run);
    light_make(run, &want);
    app_sequential_stop(run);
    app_verdict(run, l->pass == got->light.pass, "passes: %d, sequentially %d",
                (int)got->light.pass, (int)l->pass);
    app_verdict(run,
                memcmp(l->bright, got->light.bright,
                       ALL_ELEMENTS * sizeof *l->bright) == 0,
                "an element is not as bright as in a sequential run");
    light_verify(run, &got->light, is_settled(got));
    free(want.change);
    free(l->divided);
    free(l->link);
    free(l->bright);
    free(l->element);
}

static void
radiosity_run(struct app_run *run)
{
    struct radiosity r = { 0 };
    struct light    *l = &r.light;
    double           stolen;

    l->element =
        app_alloc(run, ALL_ELEMENTS, sizeof *l->element, hearth_block());
    l->bright =
        app_alloc(run, ALL_ELEMENTS, sizeof *l->bright, hearth_block());
    l->link = app_alloc(run, (size_t)run->ranks * LINKS, sizeof *l->link,
                        hearth_block());
    r.change =
        app_alloc(run, (size_t)passes + 1, sizeof *r.change, hearth_on(0));
    tasks_open(&r.tasks, run, ALL_ELEMENTS);
    light_open(&r, run);
    app_start(run);
    light_make(run, &r);
    app_stop(run);

    if (run->verify && run->rank == 0)
        radiosity_verify(run, &r);
    stolen = app_max(run, (double)r.tasks.stolen);
    app_field(run, "done=%d steals=%.0f", (int)l->pass, stolen);
    app_barrier(run);
    tasks_close(&r.tasks);
    free(l->divided);
    hearth_free(r.change);
    hearth_free(l->link);
    hearth_free(l->bright);
    hearth_free(l->element);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "radiosity",
        .about = "The light in a room, by hierarchical radiosity.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .run = radiosity_run,
    };

    return app_main(&app, argc, argv);
}
