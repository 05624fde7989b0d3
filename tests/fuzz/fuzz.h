/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What libFuzzer calls, and the way in which a target says that something does
 * not hold.
 */
#ifndef HEARTH_TEST_FUZZ_H
#define HEARTH_TEST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static inline void
must(bool good)
{
    if (!good)
        abort();
}

#ifdef HEARTHI_DEBUG
/* In place of base/report.c. */
void
hearthi_assert_failed(const char *file, int line, const char *function,
                      const char *condition)
{
    (void)file, (void)line, (void)function, (void)condition;
    abort();
}
#endif

#endif
