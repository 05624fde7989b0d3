/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nested dissection of any graph (George, Liu: An automatic nested dissection
 * algorithm for irregular finite element problems, SIAM J. Numer. Anal. 15(5),
 * 1978): the points are put into levels by their distance from one that is
 * far from another, and a level about the middle separates what is nearer from
 * what is further.  What is not connected is separated by nothing.
 */
#ifndef APPS_CHOLESKY_DISSECT_H
#define APPS_CHOLESKY_DISSECT_H

#include "plan.h"

/* Order the rows of p->matrix. */
void dissect(struct plan *p, long piece);

#endif
