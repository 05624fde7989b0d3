/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_SCATTERED_H
#define HEARTH_SCATTERED_H

#include <check.h>

void watched_tests(TCase *tc); /* watched.c */

#endif
