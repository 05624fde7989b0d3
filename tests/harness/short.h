/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the program says to short.c.
 */
#ifndef HEARTH_TEST_SHORT_H
#define HEARTH_TEST_SHORT_H

#include <stdbool.h>

/* Is this the rank whose calls count? */
bool short_is(int rank);

/* From now on; before hearth_init(). */
void short_open(int rank);

/* On that rank: what became of it, and unless a call was to fail how many
 * there were of each. */
void short_print(const char *verdict);

#endif
