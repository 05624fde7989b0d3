/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_RANDOM_LATE_H
#define HEARTH_RANDOM_LATE_H

#include <stdint.h>

/* From now on, until hearth_finalize, every second barrier or so is left late,
 * by up to MPI_TEST_LATE_BARRIERS microseconds; without that, none. */
void barriers_leave_late(uint64_t seed);

#endif
