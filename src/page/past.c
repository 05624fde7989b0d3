/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "past.h"

#include "space/heap.h"

enum { WORD = 8, BLOCK = 64 };

static struct hearthi_past *first;

void
hearthi_past_begin(struct hearthi_past *p, uint64_t offset, size_t bytes)
{
    *p = (struct hearthi_past){ offset, bytes, first };
    first = p;
}

void
hearthi_past_end(const struct hearthi_past *p)
{
    struct hearthi_past **at = &first;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
}

/* The word that has the byte at an offset of the heap, if it is in the page.
 */
static bool
word_exact(uint64_t page, uint64_t offset, const char *now, const char *twin,
           uint64_t *mask)
{
    size_t   at = offset % hearthi_heap.page / WORD * WORD;
    uint64_t bits = 0;

    if (offset >> hearthi_heap.shift != page)
        return false;
    for (unsigned i = 0; i < WORD; i++)
        bits |= (uint64_t)(now[at + i] != twin[at + i]) << i;
    mask[at / BLOCK] &= ~(UINT64_C(0xff) << at % BLOCK);
    mask[at / BLOCK] |= bits << at % BLOCK;
    return true;
}

bool
hearthi_past_exact(uint64_t page, const char *now, const char *twin,
                   uint64_t *mask)
{
    bool any = false;

    for (const struct hearthi_past *p = first; p != NULL; p = p->next) {
        any |= word_exact(page, p->offset, now, twin, mask);
        any |= word_exact(page, p->offset + p->bytes - 1, now, twin, mask);
    }
    return any;
}
