/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_GETS_H
#define HEARTH_GETS_H

#include <check.h>
#include <stdatomic.h>

TCase *gets(void);

/* Each MPI_Win_flush takes three milliseconds. */
extern atomic_bool gets_slow_flush;

#endif
