/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_GETS_H
#define HEARTH_GETS_H

#include <check.h>

TCase *gets(void);

#endif
