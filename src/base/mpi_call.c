/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "mpi_call.h"

#include <stddef.h>

_Thread_local const char *hearthi_mpi_call;
