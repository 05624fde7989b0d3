/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a rank reads column k, which another has finished: as memory, or through
 * the explicit interface between clusters, as the program of Nanri, Sato and
 * Shimasaki did (Preliminary Investigation of Distributed Shared Memory System
 * on a Cluster of High Performance Clusters, section 5.3).  There nothing is
 * kept between two reads but what the program keeps itself.
 */
#ifndef APPS_LU_READING_H
#define APPS_LU_READING_H

#include <stdbool.h>

#include "columns.h"
#include "common.h"

/* The words of --read. */
#define READING_MEMORY  "memory"
#define READING_COLUMNS "columns" /* what is left of it, once a step */
#define READING_BLOCKS  "blocks"  /* each block, each time it is used */

struct reading {
    const struct app_run *run;
    const struct layout  *l;
    bool                  by_read, by_blocks;
    double               *room; /* for what was read */

    /* Of column k, from its block k on: where it is, whether each block of it
     * is to be read there, and in which cluster. */
    const double *panel;
    bool          apart;
    int           cluster;
};

/* how: a word of --read.  Its room is to be freed. */
struct reading reading_make(const struct app_run *run, const struct layout *l,
                            const char *how);

/* Step k begins: column k of the matrix is finished. */
void reading_begin(struct reading *r, const double *lu, size_t k);

/* column_update() by that column. */
void reading_update(struct reading *r, double *column, size_t k);

#endif
