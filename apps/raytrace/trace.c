/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <string.h>

#include "trace.h"

enum { MIRRORS = 4, LIGHTS = 2 };

static const double eye[3] = { 3.2, -4.2, 2.2 };
static const double light[LIGHTS][3] = { { 4, -3, 6 }, { -3, -5, 3 } };
static const double ground = -1.9; /* the height of the plane below */

struct ray {
    double from[3], along[3]; /* along is of length 1 */
};

/* What a ray meets first. */
struct hit {
    double  far;    /* from its beginning; INFINITY: nothing */
    int32_t sphere; /* -1: the plane */
};

static double
dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void
normalise(double v[3])
{
    const double length = sqrt(dot(v, v));

    for (int d = 0; d < 3; d++)
        v[d] /= length;
}

/* How far a sphere is along a ray; INFINITY: not on it. */
static double
sphere_far(const struct sphere *s, const struct ray *r)
{
    double to[3], middle, square, half;

    for (int d = 0; d < 3; d++)
        to[d] = s->at[d] - r->from[d];
    middle = dot(to, r->along);
    square = s->radius * s->radius - dot(to, to) + middle * middle;
    if (square < 0)
        return INFINITY;
    half = sqrt(square);
    if (middle - half > 1e-9)
        return middle - half;
    return middle + half > 1e-9 ? middle + half : INFINITY;
}

/* A ray on its way from cell to cell (Amanatides and Woo: A fast voxel
 * traversal algorithm, Eurographics 1987). */
struct way {
    int    cell[3], step[3];
    double next[3], each[3]; /* how far the cell's borders are, and cells */
    double end;              /* where the ray leaves the grid */
};

/* The part of a ray that is in the grid; false: none is. */
static bool
way_clip(const struct ray *r, double *begin, double *end)
{
    *begin = 0;
    *end = INFINITY;
    for (int d = 0; d < 3; d++) {
        const double a = (-SCENE_HALF - r->from[d]) / r->along[d];
        const double b = (SCENE_HALF - r->from[d]) / r->along[d];

        *begin = fmax(*begin, fmin(a, b));
        *end = fmin(*end, fmax(a, b));
    }
    return *begin < *end;
}

static bool
way_begin(struct way *w, const struct ray *r)
{
    double begin;

    if (!way_clip(r, &begin, &w->end))
        return false;
    for (int d = 0; d < 3; d++) {
        const double at = r->from[d] + begin * r->along[d] + SCENE_HALF;
        const int    cell = (int)(at / SCENE_CELL);
        const bool   up = r->along[d] > 0;

        w->cell[d] = cell < 0              ? 0
                     : cell >= SCENE_CELLS ? SCENE_CELLS - 1
                                           : cell;
        w->step[d] = up ? 1 : -1;
        w->each[d] = SCENE_CELL / fabs(r->along[d]);
        w->next[d] =
            ((w->cell[d] + up) * SCENE_CELL - SCENE_HALF - r->from[d]) /
            r->along[d];
    }
    return true;
}

/* Go on to the next cell; false: there is none. */
static bool
way_go(struct way *w)
{
    int d = w->next[0] < w->next[1] ? 0 : 1;

    if (w->next[2] < w->next[d])
        d = 2;
    w->cell[d] += w->step[d];
    w->next[d] += w->each[d];
    return w->cell[d] >= 0 && w->cell[d] < SCENE_CELLS;
}

/* The nearest of a cell's spheres. */
static void
cell_meet(const struct scene *s, const int cell[3], const struct ray *r,
          struct hit *hit)
{
    const int c = (cell[2] * SCENE_CELLS + cell[1]) * SCENE_CELLS + cell[0];

    for (int32_t i = s->start[c]; i < s->start[c + 1]; i++) {
        const double far = sphere_far(&s->sphere[s->list[i]], r);

        if (far < hit->far) {
            hit->far = far;
            hit->sphere = s->list[i];
        }
    }
}

static struct hit
ray_meet(const struct scene *s, const struct ray *r)
{
    struct hit hit = { .far = INFINITY, .sphere = -1 };
    struct way w;

    if (r->along[2] < 0)
        hit.far = (ground - r->from[2]) / r->along[2];
    if (!way_begin(&w, r))
        return hit;
    do {
        cell_meet(s, w.cell, r, &hit);
        if (hit.far <= fmin(w.next[0], fmin(w.next[1], w.next[2])))
            break; /* what is in later cells is further away */
    } while (way_go(&w));
    return hit;
}

/* The colour of a surface by itself. */
static void
surface_colour(double colour[3], const struct hit *hit, const double at[3])
{
    static const double warm[3] = { 0.9, 0.7, 0.4 };
    const bool dark = ((int)floor(2 * at[0]) + (int)floor(2 * at[1])) & 1;

    for (int k = 0; k < 3; k++)
        colour[k] = hit->sphere >= 0 ? warm[(k + hit->sphere % 9 / 3) % 3]
                    : dark           ? 0.2
                                     : 0.7;
}

/* How bright it is where a normal stands; shadows are looked for. */
static double
brightness(const struct scene *s, const double at[3], const double normal[3])
{
    double bright = 0.1;

    for (int l = 0; l < LIGHTS; l++) {
        struct ray r;
        double     far, shine;

        for (int d = 0; d < 3; d++)
            r.along[d] = light[l][d] - at[d];
        far = sqrt(dot(r.along, r.along));
        normalise(r.along);
        shine = dot(r.along, normal);
        if (shine <= 0)
            continue;
        for (int d = 0; d < 3; d++)
            r.from[d] = at[d] + 1e-7 * normal[d];
        if (ray_meet(s, &r).far > far)
            bright += 0.45 * shine;
    }
    return bright;
}

/* Turn a ray at what it met into the mirrored one. */
static void
ray_turn(struct ray *r, const double at[3], const double normal[3])
{
    const double twice = 2 * dot(r->along, normal);

    for (int d = 0; d < 3; d++) {
        r->along[d] -= twice * normal[d];
        r->from[d] = at[d] + 1e-7 * normal[d];
    }
    normalise(r->along);
}

/* Where a ray met something, and the normal there. */
static void
hit_place(const struct scene *s, const struct ray *r, const struct hit *hit,
          double at[3], double normal[3])
{
    static const double up[3] = { 0, 0, 1 };

    for (int d = 0; d < 3; d++)
        at[d] = r->from[d] + hit->far * r->along[d];
    memcpy(normal, up, sizeof up);
    if (hit->sphere < 0)
        return;
    for (int d = 0; d < 3; d++)
        normal[d] = at[d] - s->sphere[hit->sphere].at[d];
    normalise(normal);
}

static void
ray_colour(const struct scene *s, struct ray r, double colour[3])
{
    double share = 1;

    memset(colour, 0, 3 * sizeof *colour);
    for (int turn = 0; turn <= MIRRORS; turn++) {
        struct hit hit = ray_meet(s, &r);
        double     at[3], normal[3], own[3], bright;

        if (hit.far == INFINITY) {
            for (int k = 0; k < 3; k++)
                colour[k] += share * (0.3 + 0.2 * k) * 0.5;
            return;
        }
        hit_place(s, &r, &hit, at, normal);
        surface_colour(own, &hit, at);
        bright = brightness(s, at, normal);
        for (int k = 0; k < 3; k++)
            colour[k] += share * 0.6 * bright * own[k];
        share *= hit.sphere < 0 ? 0.1 : 0.4;
        ray_turn(&r, at, normal);
    }
}

uint32_t
trace_pixel(const struct scene *s, long x, long y, long n)
{
    struct ray r;
    double     ahead[3], right[3], up[3], colour[3];
    uint32_t   pixel = 0;

    for (int d = 0; d < 3; d++)
        ahead[d] = -eye[d];
    normalise(ahead);
    right[0] = ahead[1];
    right[1] = -ahead[0];
    right[2] = 0;
    normalise(right);
    for (int d = 0; d < 3; d++)
        up[d] = right[(d + 1) % 3] * ahead[(d + 2) % 3] -
                right[(d + 2) % 3] * ahead[(d + 1) % 3];
    for (int d = 0; d < 3; d++) {
        r.from[d] = eye[d];
        r.along[d] = ahead[d] +
                     0.8 * ((double)(x + 0.5) / (double)n - 0.5) * right[d] -
                     0.8 * ((double)(y + 0.5) / (double)n - 0.5) * up[d];
    }
    normalise(r.along);
    ray_colour(s, r, colour);
    for (int k = 0; k < 3; k++)
        pixel = pixel << 8 | (uint32_t)(255 * fmin(fmax(colour[k], 0), 1));
    return pixel;
}
