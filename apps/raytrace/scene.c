/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <string.h>

#include "scene.h"

enum { CHILDREN = 9, AROUND = 6 }; /* six about the middle, three above */

size_t
scene_spheres(long levels)
{
    size_t all = 1, level = 1;

    for (long l = 0; l < levels; l++)
        all += level *= CHILDREN;
    return all;
}

/* Two directions that are at right angles to an axis, and to each other. */
static void
axis_sides(const double axis[3], double u[3], double v[3])
{
    const int    least = fabs(axis[0]) < 0.6 ? 0 : 1;
    const double along = axis[least];
    double       length = 0;

    for (int d = 0; d < 3; d++) {
        u[d] = (d == least) - along * axis[d];
        length += u[d] * u[d];
    }
    for (int d = 0; d < 3; d++)
        u[d] /= sqrt(length);
    for (int d = 0; d < 3; d++)
        v[d] = axis[(d + 1) % 3] * u[(d + 2) % 3] -
               axis[(d + 2) % 3] * u[(d + 1) % 3];
}

/* The direction of a child, seen along its parent's axis. */
static void
child_axis(double child[3], const double axis[3], int number)
{
    const bool   around = number < AROUND;
    const double turn = 2 * APP_PI *
                        (around ? number / (double)AROUND
                                : (number + 0.5) / (CHILDREN - AROUND));
    const double rise = around ? 0 : APP_PI / 3;
    double       u[3], v[3];

    axis_sides(axis, u, v);
    for (int d = 0; d < 3; d++)
        child[d] = cos(rise) * (cos(turn) * u[d] + sin(turn) * v[d]) +
                   sin(rise) * axis[d];
}

/* All below a sphere, from *next on. */
static void
flake_grow(struct sphere **next, const struct sphere *on, const double axis[3],
           long levels)
{
    for (int c = 0; c < CHILDREN && levels > 0; c++) {
        struct sphere s = { .radius = on->radius / 3 };
        double        direction[3];

        child_axis(direction, axis, c);
        for (int d = 0; d < 3; d++)
            s.at[d] = on->at[d] + (on->radius + s.radius) * direction[d];
        *(*next)++ = s;
        flake_grow(next, &s, direction, levels - 1);
    }
}

void
scene_flake(struct scene *s, long levels)
{
    static const double up[3] = { 0, 0, 1 };
    struct sphere      *next = s->sphere;

    *next++ = (struct sphere){ .radius = 1 };
    flake_grow(&next, &s->sphere[0], up, levels);
}

/* Does a sphere have surface in a cell?  (A ray meets no other of its.) */
static bool
cell_has(const int cell[3], const struct sphere *s)
{
    double nearest = 0, farthest = 0;

    for (int d = 0; d < 3; d++) {
        const double low = cell[d] * SCENE_CELL - SCENE_HALF - s->at[d];
        const double high = low + SCENE_CELL;
        const double out = fmax(fmax(low, -high), 0);
        const double far = fmax(fabs(low), fabs(high));

        nearest += out * out;
        farthest += far * far;
    }
    return sqrt(nearest) <= s->radius * (1 + 1e-9) &&
           sqrt(farthest) >= s->radius * (1 - 1e-9);
}

static int
cell_of(double x)
{
    const int cell = (int)floor((x + SCENE_HALF) / SCENE_CELL);

    return cell < 0 ? 0 : cell >= SCENE_CELLS ? SCENE_CELLS - 1 : cell;
}

/* Count a sphere in each cell that has it, or with a list put it there. */
static void
sphere_place(struct scene *s, size_t number)
{
    const struct sphere *it = &s->sphere[number];
    int                  low[3], high[3], at[3];

    for (int d = 0; d < 3; d++) {
        low[d] = cell_of(it->at[d] - it->radius);
        high[d] = cell_of(it->at[d] + it->radius);
    }
    for (at[2] = low[2]; at[2] <= high[2]; at[2]++)
        for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
            for (at[0] = low[0]; at[0] <= high[0]; at[0]++) {
                int32_t *cell =
                    &s->start[(at[2] * SCENE_CELLS + at[1]) * SCENE_CELLS +
                              at[0]];

                if (!cell_has(at, it))
                    continue;
                if (s->list != NULL)
                    s->list[cell[0]] = (int32_t)number;
                cell[0]++;
            }
}

/* Each count becomes the place of what was counted. */
static size_t
counts_place(int32_t *start)
{
    int32_t next = 0;

    for (size_t c = 0; c <= SCENE_ALL_CELLS; c++) {
        const int32_t count = start[c];

        start[c] = next;
        next += count;
    }
    return (size_t)next;
}

size_t
scene_grid(struct scene *s, size_t spheres)
{
    int32_t *list = s->list;
    size_t   length;

    s->list = NULL;
    memset(s->start, 0, (SCENE_ALL_CELLS + 1) * sizeof *s->start);
    for (size_t i = 0; i < spheres; i++)
        sphere_place(s, i);
    length = counts_place(s->start);
    s->list = list;
    if (list == NULL)
        return length;
    for (size_t i = 0; i < spheres; i++)
        sphere_place(s, i);
    /* each place has moved on to the next one's */
    memmove(&s->start[1], &s->start[0], SCENE_ALL_CELLS * sizeof *s->start);
    s->start[0] = 0;
    return length;
}
