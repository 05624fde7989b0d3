/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_LEVELS_H
#define HEARTH_LEVELS_H

#include <check.h>

/* Starts and stops Hearth by itself. */
void levels_tests(TCase *tc); /* levels.c */

#endif
