/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Over several clusters, with MPI_TEST_CLUSTERS (split.h).
 */
#ifndef HEARTH_WORLDS_H
#define HEARTH_WORLDS_H

#include "fixture.h"

void worlds_remote_io_tests(TCase *tc);  /* worlds_remote_io.c */
void worlds_listener_tests(TCase *tc);   /* worlds_listener.c */
void worlds_ahead_tests(TCase *tc);      /* worlds_ahead.c */
void worlds_node_cache_tests(TCase *tc); /* worlds_node_cache.c */
void worlds_fault_tests(TCase *tc);      /* worlds_fault.c */
void worlds_reset_tests(TCase *tc);      /* worlds_reset.c */

#endif
