/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_LOG_H
#define HEARTH_LOG_H

#include "harness.h"
#include "transport/log.h"

void logs_with_notices(TCase *tc);

#endif
