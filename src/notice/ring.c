/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "base/assert.h"
#include "notice.h"

/* [pos, pos + n), with n at most cap, as it lies in the storage. */
static void
spans_set(uint32_t cap, uint32_t pos, uint32_t n,
          struct hearthi_ring_span span[2])
{
    HEARTHI_ASSERT(cap > 0 && n <= cap);
    uint32_t at = pos % cap;
    uint32_t some = n < cap - at ? n : cap - at;

    span[0] = (struct hearthi_ring_span){ at, some };
    span[1] = (struct hearthi_ring_span){ 0, n - some };
}

bool
hearthi_ring_read(uint32_t cap, uint32_t pos, uint32_t tail,
                  struct hearthi_ring_span span[2])
{
    bool lost = tail < pos || tail - pos > cap;

    spans_set(cap, pos, lost ? 0 : tail - pos, span);
    return !lost;
}

/* More than fits moves the end so far that no reader can think it has all. */
bool
hearthi_ring_write(uint32_t cap, uint32_t *tail, uint32_t count,
                   struct hearthi_ring_span span[2])
{
    bool lost = count > cap;

    spans_set(cap, *tail, lost ? 0 : count, span);
    *tail += lost ? cap + 1 : count;
    return !lost;
}
