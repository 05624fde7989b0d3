/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_FLAGS_H
#define HEARTH_FLAGS_H

#include "fixture.h"

TCase *flags_and_atomics(void);
TCase *flag_logs(void);       /* flag_log.c */
TCase *full_lists(void);      /* full.c */
TCase *tries_and_rests(void); /* tries.c */

#endif
