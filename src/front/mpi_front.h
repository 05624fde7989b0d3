/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the calls in front of MPI (mpi_calls.c, made of mpi.table) are made
 * with, and what the rest of the library asks of them.
 */
#ifndef HEARTHI_MPI_FRONT_H
#define HEARTHI_MPI_FRONT_H

#include "base/mpi_call.h"
#include "front/buffer_pin.h"
#include "front/datatype_walk.h"
#include "front/mpi_next.h"
#include "front/request_pins.h"
#include "front/session.h"
#include "hearth/hearth.h"

#define HEARTHI_RARE(condition) __builtin_expect(!!(condition), 0)

/* Open MPI (4.1.4, 5.0.11) crashes in mca_common_ompio_progress, which walks a
 * list of requests without a lock, where another thread calls MPI while one is
 * there: of nonblocking and of collective calls on files, in the heap or not.
 */
#ifdef OPEN_MPI
enum { HEARTHI_FILES_ALONE = 1 };
#else
enum { HEARTHI_FILES_ALONE = 0 };
#endif

/* Weak: a program that defines MPI_X itself, and calls PMPI_X, is in front.
 * Exported, whatever mpi.h says of its functions. */
#define FRONT(name, function)    \
    extern __typeof__(name) name \
        __attribute__((weak, alias(#function), visibility("default")))

#endif
