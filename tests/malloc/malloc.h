/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tests of hearth_malloc, between their files.
 */
#ifndef MALLOC_H
#define MALLOC_H

#include <check.h>

void malloc_reused(TCase *tc);  /* malloc_reused.c */
void malloc_threads(TCase *tc); /* malloc_threads.c */

#endif
