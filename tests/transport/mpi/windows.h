/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Allocations and their windows, between the files of their tests.
 */
#ifndef HEARTH_TEST_WINDOWS_H
#define HEARTH_TEST_WINDOWS_H

#include <check.h>

void windows_freed(TCase *tc); /* windows_freed.c */

#endif
