/* SPDX-License-Identifier: BSD-2-Clause */
/* Rays through a scene, as Whitted's: surface, shadow, mirror. */
#ifndef APPS_RAYTRACE_TRACE_H
#define APPS_RAYTRACE_TRACE_H

#include "scene.h"

/* The colour of a pixel of a picture of n x n: 8 bits each of red, green and
 * blue. */
uint32_t trace_pixel(const struct scene *s, long x, long y, long n);

#endif
