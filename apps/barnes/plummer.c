/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>

#include "plummer.h"

/* A length in any direction. */
static void
sphere_point(double x[3], double length, uint64_t random)
{
    const double z = 2 * app_random(random) - 1;
    const double turn = 2 * APP_PI * app_random(random + 1);

    x[0] = length * sqrt(1 - z * z) * cos(turn);
    x[1] = length * sqrt(1 - z * z) * sin(turn);
    x[2] = length * z;
}

/*
 * The mass within its radius is uniform, but for the outermost thousandth; its
 * speed, over that of escape, is drawn by rejection.
 */
struct body
plummer_body(size_t i, size_t bodies)
{
    const double unit = 3 * APP_PI / 16;
    uint64_t     random = (uint64_t)i << 16;
    const double within = 0.999 * app_random(random);
    const double radius = 1 / sqrt(pow(within, -2. / 3) - 1);
    struct body  b = { .mass = 1 / (double)bodies };
    double       speed, chance;

    random += 5;
    do {
        speed = app_random(random++);
        chance = 0.1 * app_random(random++);
    } while (chance > speed * speed * pow(1 - speed * speed, 3.5));
    speed *= sqrt(2 / sqrt(1 + radius * radius));
    random = (uint64_t)i << 16;
    sphere_point(b.x, unit * radius, random + 1);
    sphere_point(b.v, speed / sqrt(unit), random + 3);
    return b;
}
