/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model is SPC/Fw (Wu, Tepper, Voth: Flexible simple point-charge water
 * model with improved liquid-state properties, J. Chem. Phys. 124, 024503,
 * 2006): charges at three sites, springs between them, and Lennard-Jones
 * forces between oxygens.
 *
 * Two molecules meet if their oxygens are nearer than half the box.  On the
 * last tenth of that way their potential as a whole is switched off by a
 * polynomial with two continuous derivatives, so that energy is conserved.
 *
 * The integrator is the predictor-corrector of six values for equations of
 * second order (Gear, Numerical Initial Value Problems in Ordinary
 * Differential Equations, 1971).
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include "common.h"
#include "model.h"

enum { O, H1, H2, PAIRS = WATER_SITES * WATER_SITES };

static const double step = 0.15;              /* as in SPLASH-2 */
static const double force_unit = 4.184e-4;    /* kcal / (g A), in A / fs^2 */
static const double warmth = 0.0019872 * 298; /* kT */
static const double volume = 29.9;            /* of a molecule */

/* SPC/Fw. */
#define COULOMB  332.0637 /* between elementary charges */
#define O_CHARGE (-0.82)
#define H_CHARGE 0.41
static const double mass[WATER_SITES] = { 15.9994, 1.00794, 1.00794 };
static const double bond = 1.012, bond_spring = 1059.162;
static const double angle = 113.24 * APP_PI / 180, angle_spring = 75.90;
static const double sigma = 3.165492, epsilon = 0.1554253;

double
water_box(size_t molecules)
{
    return cbrt(volume * (double)molecules);
}

static double
dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* y += factor * x. */
static void
vector_add(double y[3], double factor, const double x[3])
{
    for (int d = 0; d < 3; d++)
        y[d] += factor * x[d];
}

static void
vector_scale(double x[3], double length)
{
    const double factor = length / sqrt(dot(x, x));

    for (int d = 0; d < 3; d++)
        x[d] *= factor;
}

/* A number from the normal distribution (Box and Muller, 1958). */
static double
normal(uint64_t i)
{
    return sqrt(-2 * log(1 - app_random(2 * i))) *
           cos(2 * APP_PI * app_random(2 * i + 1));
}

/* A point on the lattice, the smallest cube with room for n. */
static void
lattice_point(double x[3], size_t i, size_t n)
{
    size_t edge = 1, cell;

    while (edge * edge * edge < n)
        edge++;
    cell = i * (edge * edge * edge) / n;
    for (int d = 0; d < 3; d++) {
        x[d] = water_box(n) * ((double)(cell % edge) + 0.5) / (double)edge;
        cell /= edge;
    }
}

void
water_start(struct sites *at, struct motion *m, size_t i, size_t n)
{
    uint64_t random = 16 * (uint64_t)i;
    double   along[3], across[3];

    for (int d = 0; d < 3; d++) {
        along[d] = normal(random++);
        across[d] = normal(random++);
    }
    vector_scale(along, 1);
    vector_add(across, -dot(across, along), along);
    vector_scale(across, 1);
    for (int s = O; s <= H2; s++)
        lattice_point(at->x[s], i, n);
    for (int s = H1; s <= H2; s++) {
        vector_add(at->x[s], bond * cos(angle / 2), along);
        vector_add(at->x[s], bond * sin(angle / 2) * (s == H1 ? 1 : -1),
                   across);
    }
    memset(m, 0, sizeof *m);
    for (int s = O; s <= H2; s++)
        for (int d = 0; d < 3; d++)
            m->scaled[0].x[s][d] = step * normal(random++) *
                                   sqrt(warmth * force_unit / mass[s]);
}

/* One bond; `to` becomes the unit vector along it. */
static double
bond_stretch(struct sites *force, const struct sites *at, int s, double to[3],
             double *length)
{
    double pull;

    for (int d = 0; d < 3; d++)
        to[d] = at->x[s][d] - at->x[O][d];
    *length = sqrt(dot(to, to));
    vector_scale(to, 1);
    pull = bond_spring * (*length - bond);
    vector_add(force->x[s], -pull, to);
    vector_add(force->x[O], pull, to);
    return pull * (*length - bond) / 2;
}

double
water_bend(struct sites *force, const struct sites *at)
{
    double to[2][3], length[2];
    double energy = bond_stretch(force, at, H1, to[0], &length[0]) +
                    bond_stretch(force, at, H2, to[1], &length[1]);
    const double cosine = dot(to[0], to[1]), wide = acos(cosine) - angle;
    const double turn = angle_spring * wide / sqrt(1 - cosine * cosine);

    for (int k = 0; k < 2; k++) {
        double f[3] = { 0 };

        vector_add(f, turn / length[k], to[1 - k]);
        vector_add(f, -turn / length[k] * cosine, to[k]);
        vector_add(force->x[H1 + k], 1, f);
        vector_add(force->x[O], -1, f);
    }
    return energy + angle_spring * wide * wide / 2;
}

/* What two molecules know of each other: by pair of sites, where one is from
 * the other, and the force along that over their distance. */
struct meeting {
    double x[3][PAIRS], force[PAIRS];
    double energy;
};

/* The charges of each pair. */
static void
charges_meet(struct meeting *m)
{
    static const double strength[PAIRS] = {
        COULOMB * O_CHARGE * O_CHARGE, COULOMB * O_CHARGE * H_CHARGE,
        COULOMB * O_CHARGE * H_CHARGE, COULOMB * O_CHARGE * H_CHARGE,
        COULOMB * H_CHARGE * H_CHARGE, COULOMB * H_CHARGE * H_CHARGE,
        COULOMB * O_CHARGE * H_CHARGE, COULOMB * H_CHARGE * H_CHARGE,
        COULOMB * H_CHARGE * H_CHARGE,
    };
    double energy[PAIRS];

#pragma omp simd
    for (int p = 0; p < PAIRS; p++) {
        const double square = m->x[0][p] * m->x[0][p] +
                              m->x[1][p] * m->x[1][p] +
                              m->x[2][p] * m->x[2][p];
        const double near = 1 / sqrt(square);

        energy[p] = strength[p] * near;
        m->force[p] = energy[p] * near * near;
    }
    for (int p = 0; p < PAIRS; p++)
        m->energy += energy[p];
}

/* The oxygens, pair 0; square: of their distance. */
static void
oxygens_meet(struct meeting *m, double square)
{
    const double s2 = sigma * sigma / square, s6 = s2 * s2 * s2;

    m->energy += 4 * epsilon * (s6 * s6 - s6);
    m->force[0] += 24 * epsilon * (2 * s6 * s6 - s6) / square;
}

/* Switch the potential off towards the cutoff. */
static void
meeting_switch(struct meeting *m, double square, double cutoff)
{
    const double from = 0.9 * cutoff, r = sqrt(square);
    const double t = (r - from) / (cutoff - from);
    const double on = 1 - t * t * t * (10 + t * (6 * t - 15));
    const double slope = -30 * t * t * (1 - t) * (1 - t) / (cutoff - from);

    if (t <= 0)
        return;
    for (int p = 0; p < PAIRS; p++)
        m->force[p] *= on;
    m->force[0] -= slope * m->energy / r;
    m->energy *= on;
}

/* How far to shift b's nearest image to a; the square of the distance. */
static double
image_find(double shift[3], const double a[3], const double b[3], double half)
{
    double square = 0;

    for (int d = 0; d < 3; d++) {
        const double x = a[d] - b[d];

        shift[d] = x > half ? 2 * half : x < -half ? -2 * half : 0;
        square += (x - shift[d]) * (x - shift[d]);
    }
    return square;
}

#define UNROLL _Pragma("GCC unroll 3")

/* Where the sites of one are from those of the other, shifted. */
static void
pairs_measure(struct meeting *m, const struct sites *a, const struct sites *b,
              const double shift[3])
{
    UNROLL
    for (int d = 0; d < 3; d++) {
        UNROLL
        for (int s = 0; s < WATER_SITES; s++) {
            const double x = a->x[s][d] - shift[d];

            UNROLL
            for (int t = 0; t < WATER_SITES; t++)
                m->x[d][s * WATER_SITES + t] = x - b->x[t][d];
        }
    }
}

static void
pairs_push(const struct meeting *m, struct sites *a, struct sites *b)
{
    UNROLL
    for (int d = 0; d < 3; d++) {
        UNROLL
        for (int s = 0; s < WATER_SITES; s++) {
            UNROLL
            for (int t = 0; t < WATER_SITES; t++) {
                const int    p = s * WATER_SITES + t;
                const double f = m->force[p] * m->x[d][p];

                a->x[s][d] += f;
                b->x[t][d] -= f;
            }
        }
    }
}

double
water_pull(struct sites *force, const struct sites *at, size_t n, size_t i,
           size_t count)
{
    const double   half = water_box(n) / 2;
    struct sites   sum = { 0 };
    struct meeting m;
    double         energy = 0, shift[3];

    for (size_t k = 1; k <= count; k++) {
        const size_t j = i + k < n ? i + k : i + k - n;
        const double square = image_find(shift, at[i].x[O], at[j].x[O], half);

        if (square >= half * half)
            continue;
        m.energy = 0;
        pairs_measure(&m, &at[i], &at[j], shift);
        charges_meet(&m);
        oxygens_meet(&m, square);
        meeting_switch(&m, square, half);
        pairs_push(&m, &sum, &force[j]);
        energy += m.energy;
    }
    for (int s = O; s <= H2; s++)
        vector_add(force[i].x[s], 1, sum.x[s]);
    return energy;
}

void
water_predict(struct sites *at, struct motion *m)
{
    for (int s = O; s <= H2; s++)
        for (int d = 0; d < 3; d++) {
            double q[WATER_DERIVATIVES + 1];

            q[0] = at->x[s][d];
            for (int k = 1; k <= WATER_DERIVATIVES; k++)
                q[k] = m->scaled[k - 1].x[s][d];
            /* Pascal's triangle, by sums */
            for (int k = 0; k < WATER_DERIVATIVES; k++)
                for (int l = WATER_DERIVATIVES - 1; l >= k; l--)
                    q[l] += q[l + 1];
            at->x[s][d] = q[0];
            for (int k = 1; k <= WATER_DERIVATIVES; k++)
                m->scaled[k - 1].x[s][d] = q[k];
        }
}

static double
acceleration(const struct sites *force, int s, int d)
{
    return force->x[s][d] * force_unit / mass[s] * step * step / 2;
}

void
water_correct(struct sites *at, struct motion *m, const struct sites *force)
{
    static const double gear[] = { 3. / 20, 251. / 360, 1,
                                   11. / 18, 1. / 6, 1. / 60 };

    for (int s = O; s <= H2; s++)
        for (int d = 0; d < 3; d++) {
            double off = acceleration(force, s, d) - m->scaled[1].x[s][d];

            at->x[s][d] += gear[0] * off;
            for (int k = 1; k <= WATER_DERIVATIVES; k++)
                m->scaled[k - 1].x[s][d] += gear[k] * off;
        }
}

void
water_accelerate(struct motion *m, const struct sites *force)
{
    for (int s = O; s <= H2; s++)
        for (int d = 0; d < 3; d++)
            m->scaled[1].x[s][d] = acceleration(force, s, d);
}

void
water_wrap(struct sites *at, double box)
{
    for (int d = 0; d < 3; d++) {
        double shift = -floor(at->x[O][d] / box) * box;

        for (int s = O; s <= H2; s++)
            at->x[s][d] += shift;
    }
}

void
water_measure(struct sums *sums, const struct motion *m)
{
    for (int s = O; s <= H2; s++) {
        const double *v = m->scaled[0].x[s];

        sums->kinetic +=
            mass[s] * dot(v, v) / (step * step) / force_unit / 2;
        vector_add(sums->momentum, mass[s] / step, v);
        sums->speed += mass[s] / step * sqrt(dot(v, v));
    }
}
