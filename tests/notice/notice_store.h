/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_KNOWN_H
#define HEARTH_KNOWN_H

#include "harness.h"
#include "notice/notice.h"

/* The rank whose knowledge it is, and how many write and how many locks there
 * are. */
enum { ME = 2, WRITERS = 4, LOCKS = 4 };

void known_against_a_list(TCase *tc);
void known_when_merged(TCase *tc);

#endif
