/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_SCATTERED_H
#define HEARTH_SCATTERED_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

/* Hearth with HEARTH_<name> = value, and all copies watched by userfaultfd
 * from the first on, unless the kernel or the environment forbids it. */
void watching_start(const char *name, const char *value);

/* Is userfaultfd what watches copies? */
bool watched(void);

/* What is in page i after this turn. */
int64_t value_of(int i, int turn);

/* Calls of the kernel by this process that changed protections, or what is
 * shown, so far (uffd_pages.c). */
extern _Atomic long protections;

void hulls_tests(TCase *tc);      /* hulls.c */
void uffd_pages_tests(TCase *tc); /* uffd_pages.c */
void scattered_many(TCase *tc);   /* scattered_many.c */

#endif
