/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scene: a flake of spheres (Haines: A proposal for standard graphics
 * environments, IEEE CG&A 7(11), 1987), nine on each, a third as large; and a
 * grid of cells, each with the spheres that have surface in it.
 */
#ifndef APPS_RAYTRACE_SCENE_H
#define APPS_RAYTRACE_SCENE_H

#include "common.h"

enum {
    SCENE_CELLS = 48, /* along an edge of the grid */
    SCENE_ALL_CELLS = SCENE_CELLS * SCENE_CELLS * SCENE_CELLS,
    SCENE_MOST_LEVELS = 6
};

/* The grid is a cube about the origin, which is as large as all flakes. */
#define SCENE_HALF 2.0
#define SCENE_CELL (2 * SCENE_HALF / SCENE_CELLS)

struct sphere {
    double at[3], radius;
};

/* All may be shared; read-only when it is made. */
struct scene {
    struct sphere *sphere;
    int32_t       *start; /* of each cell in list[], and the end */
    int32_t       *list;  /* spheres of the cells */
};

/* Spheres of a flake with so many levels below the first. */
size_t scene_spheres(long levels);

/* Make the spheres, in s->sphere. */
void scene_flake(struct scene *s, long levels);

/* Put so many spheres into the grid: fill s->start[], and s->list[] if there
 * is one.  Returns how long that has to be. */
size_t scene_grid(struct scene *s, size_t spheres);

#endif
