/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_LITMUS_H
#define HEARTH_LITMUS_H

#include "fixture.h"

TCase *litmus_pages(void);
TCase *litmus_homes(void);

#endif
