/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Water on one rank: where molecules begin, what pulls at them, and how they
 * move.  Lengths are in angstroms, times in femtoseconds, energies in kcal and
 * masses in grams, both a mole.
 */
#ifndef APPS_WATER_MODEL_H
#define APPS_WATER_MODEL_H

#include <stddef.h>

enum { WATER_SITES = 3, WATER_DERIVATIVES = 5 };

/* A vector for each site: oxygen, hydrogen, hydrogen. */
struct sites {
    double x[WATER_SITES][3];
};

/* How a molecule moves: derivative k of its places, times dt^k / k!, at [k -
 * 1]. */
struct motion {
    struct sites scaled[WATER_DERIVATIVES];
};

/* Sums over all molecules in one step. */
struct sums {
    double potential, kinetic;
    double momentum[3];
    double speed; /* the momenta's absolute values */
};

/* The edge of a box for so many molecules, at the density of water. */
double water_box(size_t molecules);

/* Molecule i of n at the start: on a lattice, turned at random, each site with
 * a random velocity of room temperature. */
void water_start(struct sites *at, struct motion *m, size_t i, size_t n);

/* Add the forces within a molecule; the potential energy. */
double water_bend(struct sites *force, const struct sites *at);

/*
 * Add the forces between molecule i and so many that follow it, in a circle
 * of n; the potential energy.
 */
double water_pull(struct sites *force, const struct sites *at, size_t n,
                  size_t i, size_t count);

/* The step's begin: where the derivatives lead to. */
void water_predict(struct sites *at, struct motion *m);

/* Its end: correct that by the forces that were found there. */
void water_correct(struct sites *at, struct motion *m,
                   const struct sites *force);

/* Correct nothing but the second derivative: before the first step. */
void water_accelerate(struct motion *m, const struct sites *force);

/* Back into the box, as a whole. */
void water_wrap(struct sites *at, double box);

/* Add the kinetic energy and the momentum of a molecule. */
void water_measure(struct sums *sums, const struct motion *m);

#endif
