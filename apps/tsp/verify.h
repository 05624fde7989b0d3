/* SPDX-License-Identifier: BSD-2-Clause */
/* The shortest tour by other means than a search. */
#ifndef APPS_TSP_VERIFY_H
#define APPS_TSP_VERIFY_H

#include "common.h"
#include "tsplib.h"

/* Can it be told what the shortest tour's length is? */
bool tsp_verifiable(const struct tsp *t);

/* On one rank: is this a tour, so long, and the shortest? */
void tsp_verify(struct app_run *run, const struct tsp *t, const uint8_t *city,
                int32_t length);

#endif
