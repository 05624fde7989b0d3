/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_JIA_ALLOC_H
#define HEARTH_JIA_ALLOC_H

#include "harness.h"

void jia_alloc_tests(TCase *c);

#endif
