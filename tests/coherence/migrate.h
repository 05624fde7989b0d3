/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTH_TESTS_MIGRATE_H
#define HEARTH_TESTS_MIGRATE_H

#include "fixture.h"

/* Words of a page each, at home on a rank. */
static inline int64_t *
words_on(int rank, int pages)
{
    return hearth_alloc((size_t)pages * page_bytes() / 8, 8, hearth_on(rank));
}

/* Pages that this rank has asked for, and that moved. */
uint64_t moves_so_far(void);

TCase *first_touch_tests(void);
TCase *new_tests(void);
TCase *beside_tests(void (*start)(void));
TCase *seam_tests(void (*start)(void));

#endif
