/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "slab.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/report.h"
#include "size_class.h"

struct hearthi_slab *
hearthi_slab_new(char *base, size_t bytes, unsigned class, int home)
{
    size_t               size = hearthi_size_class_bytes(class);
    size_t               slots = bytes / size;
    struct hearthi_slab *s = malloc(sizeof *s + slots * sizeof s->slot[0]);

    HEARTHI_ASSERT(slots > 0 && slots < HEARTHI_SLOT_END);
    if (s == NULL)
        hearthi_fatal("hearth_malloc", "no private memory for %zu slots",
                      slots);
    *s = (struct hearthi_slab){
        .base = base,
        .home = home,
        .class = class,
        .size = (uint32_t)size,
        .inverse = (uint32_t)(((UINT64_C(1) << 32) + size - 1) / size),
        .slots = (uint32_t)slots,
        .left = (uint32_t)slots,
        .first = HEARTHI_SLOT_END,
    };
    for (size_t i = 0; i < slots; i++)
        s->slot[i] = HEARTHI_SLOT_END;
    return s;
}

uint32_t
hearthi_slab_take(struct hearthi_slab *s, bool *used)
{
    uint32_t slot = s->first;

    HEARTHI_ASSERT(s->left > 0 && s->left <= s->slots);
    *used = s->used || slot != HEARTHI_SLOT_END;
    if (slot != HEARTHI_SLOT_END)
        s->first = s->slot[slot];
    else
        slot = s->fresh++;
    HEARTHI_ASSERT(slot < s->slots && s->slot[slot] <= HEARTHI_SLOT_END);
    HEARTHI_ASSERT(s->fresh <= s->slots);
    s->left--;
    __atomic_store_n(&s->slot[slot], HEARTHI_SLOT_TAKEN, __ATOMIC_RELAXED);
    return slot;
}

void
hearthi_slab_give(struct hearthi_slab *s, uint32_t slot)
{
    HEARTHI_ASSERT(slot < s->slots && s->left < s->slots);
    HEARTHI_ASSERT(s->slot[slot] == HEARTHI_SLOT_TAKEN);
    __atomic_store_n(&s->slot[slot], (uint16_t)s->first, __ATOMIC_RELAXED);
    s->first = slot;
    s->left++;
}

/* Free slots are listed, the lowest first. */
void
hearthi_slab_fill(struct hearthi_slab *s, const uint64_t *live)
{
    HEARTHI_ASSERT(s->left == s->slots && s->fresh == 0);
    s->fresh = s->slots;
    for (uint32_t slot = s->slots; slot-- > 0;) {
        if (live[slot / 64] >> slot % 64 & 1) {
            s->slot[slot] = HEARTHI_SLOT_LIVE;
            s->left--;
        } else {
            s->slot[slot] = (uint16_t)s->first;
            s->first = slot;
        }
    }
}
