/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Over several clusters, with MPI_TEST_CLUSTERS (split.h).
 */
#ifndef HEARTH_WORLDS_H
#define HEARTH_WORLDS_H

#include "fixture.h"

void worlds_apart_tests(TCase *tc); /* worlds_apart.c */
void worlds_door_tests(TCase *tc);  /* worlds_door.c */
void worlds_ahead_tests(TCase *tc); /* worlds_ahead.c */
void worlds_mates_tests(TCase *tc); /* worlds_mates.c */
void worlds_fault_tests(TCase *tc); /* worlds_fault.c */

#endif
