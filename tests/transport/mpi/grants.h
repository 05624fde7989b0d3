/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_GRANTS_H
#define HEARTH_GRANTS_H

#include <check.h>

TCase *grants(void);

#endif
