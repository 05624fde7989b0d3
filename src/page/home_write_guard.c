/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "home_write_guard.h"

#include "base/mutex.h"
#include "notice/diff.h"
#include "space/heap.h"

enum { WORD = 8, BLOCK = 64 };

struct hearthi_home_write_guard *hearthi_home_write_guards;

void
hearthi_home_write_guard_begin(struct hearthi_home_write_guard *p,
                               uint64_t offset, size_t bytes)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(bytes > 0);
    HEARTHI_ASSERT(offset + bytes <= hearthi_heap.bytes);
    *p = (struct hearthi_home_write_guard){ offset, bytes,
                                            hearthi_home_write_guards };
    hearthi_home_write_guards = p;
}

void
hearthi_home_write_guard_end(const struct hearthi_home_write_guard *p)
{
    struct hearthi_home_write_guard **at = &hearthi_home_write_guards;

    HEARTHI_ASSERT_HAS(TABLE);
    while (*at != p) {
        HEARTHI_ASSERT(*at != NULL);
        at = &(*at)->next;
    }
    *at = p->next;
}

bool
hearthi_is_home_write_guarded(uint64_t page)
{
    for (const struct hearthi_home_write_guard *p = hearthi_home_write_guards;
         p != NULL; p = p->next)
        if (page >= p->offset >> hearthi_heap.shift &&
            page <= (p->offset + p->bytes - 1) >> hearthi_heap.shift)
            return true;
    return false;
}

/* The word that has the byte at an offset of the heap, if it is in the page.
 */
static bool
word_exact(uint64_t page, uint64_t offset, const char *now, const char *twin,
           uint64_t *mask)
{
    size_t   at = offset % hearthi_heap.page, block = at / BLOCK;
    uint64_t word = UINT64_C(0xff) << at % BLOCK / WORD * WORD, exact;

    if (offset >> hearthi_heap.shift != page)
        return false;
    hearthi_diff_masks(now + block * BLOCK, twin + block * BLOCK, BLOCK, 1,
                       &exact);
    mask[block] = (mask[block] & ~word) | (exact & word);
    return true;
}

bool
hearthi_home_write_guards_exact(uint64_t page, const char *now,
                                const char *twin, uint64_t *mask)
{
    bool any = false;

    for (const struct hearthi_home_write_guard *p = hearthi_home_write_guards;
         p != NULL; p = p->next) {
        any |= word_exact(page, p->offset, now, twin, mask);
        any |= word_exact(page, p->offset + p->bytes - 1, now, twin, mask);
    }
    return any;
}
