/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef APPS_CHOLESKY_VERIFY_H
#define APPS_CHOLESKY_VERIFY_H

#include "plan.h"

/*
 * L (L^T x) beside A x for some random x, over the largest element of A x: an
 * entry of L L^T - A that is not small would have to be missed by all of them.
 * Values are those of the factor, all panels'.
 */
double factor_error(const struct plan *p, const double *values);

#endif
