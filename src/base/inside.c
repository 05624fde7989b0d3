/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "inside.h"

#include <stddef.h>

_Thread_local const char *hearthi_inside;
