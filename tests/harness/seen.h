/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Functions of a test that stand before MPI's own.  Hearth looks for them by
 * their names, and not every mpi.h says that they are visible.
 */
#ifndef HEARTH_SEEN_H
#define HEARTH_SEEN_H

#define SEEN __attribute__((visibility("default")))

#endif
