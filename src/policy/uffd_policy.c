/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "uffd_policy.h"

#include <stddef.h>

#include "base/option.h"
#include "space/heap.h"

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
are_many(struct hearthi_areas areas, long parts)
{
    return areas.used > areas.max / parts;
}

bool
hearthi_uffd_policy_scattered(uint64_t page, struct hearthi_areas areas)
{
    return hearthi_opt.protect == HEARTHI_PROTECT_USERFAULTFD ||
           shorts[page / HEARTHI_UFFD_GRANULE] >= MANY || are_many(areas, 8);
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
uint64_t
hearthi_uffd_policy_size(struct hearthi_areas areas, uint64_t top)
{
    uint64_t quarter = areas.max > 4 ? (uint64_t)areas.max / 4 : 1;
    uint64_t n = HEARTHI_UFFD_GRANULE;

    while (are_many(areas, 4) && n < 2 * top / quarter)
        n *= 2;
    return n;
}
