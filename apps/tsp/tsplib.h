/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instances of the symmetric travelling salesman problem, from files in the
 * format of TSPLIB (G. Reinelt, TSPLIB 95, 1995, and the answers in its
 * TSPFAQ.html).
 */
#ifndef APPS_TSP_TSPLIB_H
#define APPS_TSP_TSPLIB_H

#include <stdint.h>

/* More cities than these are no work for branch and bound by simple bounds;
 * and no distance is longer, so that the length of a tour is an int32_t. */
enum { TSP_CITIES = 32, TSP_LONGEST = 10000000 };

struct tsp {
    char    name[40]; /* without ".tsp" */
    int32_t cities;
    int32_t distance[TSP_CITIES][TSP_CITIES];
};

/* As TSPLIB's EUC_2D. */
int32_t tsp_euclid(const double a[2], const double b[2]);

/*
 * Read a file of TYPE TSP whose EDGE_WEIGHT_TYPE is GEO, EUC_2D or EXPLICIT.
 * Returns NULL, or what is wrong; the text is valid until the next call.
 */
const char *tsplib_read(struct tsp *t, const char *path);

#endif
