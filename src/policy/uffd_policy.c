/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "uffd_policy.h"

#include <stddef.h>

#include "base/min.h"
#include "base/option.h"
#include "page/page.h"
#include "page/pin_count.h"
#include "page/uffd_pages.h"

/* Runs shorter than SHORT count as scattered, and of LONG ones the granule is
 * let off half of what it has; so many make it scattered. */
enum { SHORT = 8, LONG = 32, MANY = 16 };

static uint8_t *shorts; /* of each granule: short runs there */

static size_t
granules(void)
{
    return hearthi_heap.pages / HEARTHI_UFFD_GRANULE + 1;
}

void
hearthi_uffd_policy_open(void)
{
    shorts = hearthi_sparse(granules());
}

void
hearthi_uffd_policy_close(void)
{
    hearthi_sparse_free(shorts, granules());
    shorts = NULL;
}

void
hearthi_uffd_policy_note(uint64_t page, uint64_t count)
{
    uint8_t *n = &shorts[page / HEARTHI_UFFD_GRANULE];

    if (count < SHORT && *n < MANY)
        ++*n;
    else if (count >= LONG && *n > 0)
        *n /= 2;
}

static bool
are_many(long parts)
{
    return hearthi_table.areas > hearthi_table.areas_max / parts;
}

bool
hearthi_uffd_policy_scattered(uint64_t page)
{
    return hearthi_opt.protect == HEARTHI_PROTECT_USERFAULTFD ||
           shorts[page / HEARTHI_UFFD_GRANULE] >= MANY || are_many(8);
}

void
hearthi_uffd_policy_forget(uint64_t page, uint64_t count)
{
    uint64_t first = (page + HEARTHI_UFFD_GRANULE - 1) / HEARTHI_UFFD_GRANULE;
    uint64_t end = (page + count) / HEARTHI_UFFD_GRANULE;

    if (first < end)
        hearthi_sparse_clear(shorts + first, end - first);
}

/* Granules that lie far from each other are a mapping each, and so is what is
 * between: where a quarter of the kernel's mappings is in use, they are so
 * large that no more than another quarter follows. */
static uint64_t
size_now(void)
{
    const struct hearthi_table *t = &hearthi_table;
    uint64_t quarter = t->areas_max > 4 ? (uint64_t)t->areas_max / 4 : 1;
    uint64_t n = HEARTHI_UFFD_GRANULE;

    while (are_many(4) && n < 2 * t->top / quarter)
        n *= 2;
    return n;
}

/* A copy that is held must not go for a moment, and the kernel must find it.
 */
bool
hearthi_may_watch(uint64_t page)
{
    enum hearthi_state state;

    if (hearthi_uffd_pages.page[page] != 0 || hearthi_table.shown[page] != 0)
        return false;
    state = hearthi_state_of(page);
    return state == HEARTHI_INVALID || hearthi_is_in_flight(state) ||
           state == HEARTHI_PREFETCHED || state == HEARTHI_HOME_AWAY ||
           (hearthi_is_copy(state) && !hearthi_is_pinned(page));
}

void
hearthi_uffd_policy_around(uint64_t page, uint64_t *first, uint64_t *end)
{
    uint64_t size = size_now(), low = page / size * size;
    uint64_t most = hearthi_min(low + size, hearthi_table.top);

    *first = page;
    *end = page + 1;
    while (*first > low && hearthi_may_watch(*first - 1))
        --*first;
    while (*end < most && hearthi_may_watch(*end))
        ++*end;
}
