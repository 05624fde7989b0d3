/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_FLAGS_H
#define HEARTH_FLAGS_H

#include "fixture.h"

TCase *flags_and_atomics(void);

#endif
