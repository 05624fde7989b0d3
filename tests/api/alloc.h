/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_ALLOC_H
#define HEARTH_ALLOC_H

#include "fixture.h"

TCase *allocations(void);
TCase *allocations_in_little_memory(void);

#endif
