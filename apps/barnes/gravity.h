/* SPDX-License-Identifier: BSD-2-Clause */
/* Gravity of bodies and of cells of bodies, of which it knows the moments. */
#ifndef APPS_BARNES_GRAVITY_H
#define APPS_BARNES_GRAVITY_H

#include <math.h>

#define GRAVITY_SOFT (0.05 * 0.05) /* as in SPLASH-2 */

/* What a cell is from afar.  First mass and x are summed, as mass times place;
 * then the centre is found, and the moments about it are summed. */
struct moments {
    double mass, x[3]; /* centre of mass */
    double quad[6];    /* xx yy zz xy xz yz, traceless */
};

static inline void
moments_add(struct moments *m, double mass, const double x[3])
{
    m->mass += mass;
    for (int d = 0; d < 3; d++)
        m->x[d] += mass * x[d];
}

static inline void
moments_centre(struct moments *m)
{
    for (int d = 0; d < 3; d++)
        m->x[d] /= m->mass;
}

static inline void
moments_quad(struct moments *m, double mass, const double at[3])
{
    const double x = at[0] - m->x[0], y = at[1] - m->x[1];
    const double z = at[2] - m->x[2], square = x * x + y * y + z * z;

    m->quad[0] += mass * (3 * x * x - square);
    m->quad[1] += mass * (3 * y * y - square);
    m->quad[2] += mass * (3 * z * z - square);
    m->quad[3] += mass * 3 * x * y;
    m->quad[4] += mass * 3 * x * z;
    m->quad[5] += mass * 3 * y * z;
}

/* The same for a part, which has moments of its own. */
static inline void
moments_part(struct moments *m, const struct moments *part)
{
    moments_quad(m, part->mass, part->x);
    for (int q = 0; q < 6; q++)
        m->quad[q] += part->quad[q];
}

/* Where a point is from here; the square of the distance. */
static inline double
gravity_way(double d[3], const double here[3], const double there[3])
{
    for (int k = 0; k < 3; k++)
        d[k] = there[k] - here[k];
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

static inline void
gravity_body(double acceleration[3], const double d[3], double square,
             double mass)
{
    const double near = 1 / sqrt(square + GRAVITY_SOFT);
    const double pull = mass * near * near * near;

    for (int k = 0; k < 3; k++)
        acceleration[k] += pull * d[k];
}

/* A cell: its mass and its quadrupole moments. */
static inline void
gravity_cell(double a[3], const double d[3], double square,
             const struct moments *m)
{
    const double *q = m->quad;
    const double  near = 1 / sqrt(square + GRAVITY_SOFT), near2 = near * near;
    const double  near5 = near2 * near2 * near;
    const double  qd[3] = { q[0] * d[0] + q[3] * d[1] + q[4] * d[2],
                            q[3] * d[0] + q[1] * d[1] + q[5] * d[2],
                            q[4] * d[0] + q[5] * d[1] + q[2] * d[2] };
    const double  dqd = d[0] * qd[0] + d[1] * qd[1] + d[2] * qd[2];
    const double  pull = m->mass * near2 * near + 2.5 * dqd * near5 * near2;

    for (int k = 0; k < 3; k++)
        a[k] += pull * d[k] - near5 * qd[k];
}

#endif
