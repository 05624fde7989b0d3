/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The diffusion equation of FT by Fourier transforms: what Hearth's and the
 * plain MPI version have in common.
 */
#ifndef APPS_FT_HEAT_H
#define APPS_FT_HEAT_H

#include "common.h"
#include "fft.h"

enum { FT_STEPS = 6 };

/* A class of NPB: its size and its checksum after each step. */
struct problem {
    size_t      nx, ny, nz;
    struct cell want[FT_STEPS];
};

struct heat;

/* How rows of nx cells get from the ranks of planes z to those of planes y
 * (FORWARD) and back again. */
struct crossing {
    /* Where a rank puts row (y, z), and where another one gets it. */
    struct cell *(*put)(const struct heat *h, enum direction direction,
                        size_t y, size_t z);
    struct cell *(*get)(const struct heat *h, enum direction direction,
                        size_t y, size_t z);
    /* After all puts, before any get.  Collective. */
    void (*start)(struct heat *h, enum direction direction);
    /* After all gets, before any put.  Collective. */
    void (*end)(struct heat *h);
};

/* The planes from .. to - 1 of one rank. */
struct slab {
    size_t from, to;
};

/*
 * The field is in slabs of planes z, each a row of x after the other; its
 * transform in slabs of planes y, each a row of x for every z.
 */
struct heat {
    struct app_run        *run;
    const struct problem  *problem;
    const struct crossing *crossing;
    struct slab            y, z;     /* mine */
    struct cell           *field;    /* first cell of plane z.from */
    struct cell           *spectrum; /* of plane y.from */
    struct cell           *sums;     /* of each step, by plane z */
    void                  *memory;   /* of the version */

    struct fft    fft_x, fft_y, fft_z;
    struct cell  *plane;      /* a plane y at some time */
    struct cell **from, **to; /* rows */
    double       *decay[3];   /* by x, y and z: what is left after a time */
};

/* Fill in what is common, when all else is there. */
void heat_init(struct heat *h);
void heat_free(struct heat *h);

/* The field at time 0. */
void heat_start(struct heat *h);

/* From the field at time 0, all steps: the timed section. */
void heat_run(struct heat *h);

/* From the sums: verification, on rank 0, and the result. */
void heat_report(const struct heat *h);

#endif
