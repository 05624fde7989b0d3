/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spheres from a geometry file of SPLASH-2's Raytrace (balls4.geo): perhaps a
 * comment between two #, and then objects, each with a name, two colours, five
 * coefficients of its surface, four numbers that are not used, and so many
 * spheres: a centre and a radius.  Colours and surfaces are those of the flake
 * here.  Its other scenes have polygons and triangles, which are not traced.
 */
#ifndef APPS_RAYTRACE_GEOMETRY_H
#define APPS_RAYTRACE_GEOMETRY_H

#include "scene.h"

enum { GEOMETRY_SPHERES = 1 << 24 };

/* Returns NULL, with the spheres in memory of malloc, moved and scaled so that
 * they are about the origin and as large as a flake; or what is wrong, a text
 * that is valid until the next call. */
const char *geometry_read(struct sphere **sphere, size_t *spheres,
                          const char *path);

#endif
