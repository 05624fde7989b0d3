/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_SCATTERED_H
#define HEARTH_SCATTERED_H

#include <check.h>

/* Hearth with HEARTH_<name> = value, and all copies watched by userfaultfd
 * from the first on, unless the kernel or the environment forbids it. */
void watching_start(const char *name, const char *value);

void watched_tests(TCase *tc); /* watched.c */

#endif
