/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "slab.h"

#include <stdlib.h>

#include "base/report.h"
#include "size_class.h"

struct hearthi_slab *
hearthi_slab_new(char *base, size_t bytes, unsigned class, int home)
{
    size_t               size = hearthi_size_class_bytes(class);
    size_t               slots = bytes / size;
    struct hearthi_slab *s = malloc(sizeof *s + slots * sizeof s->slot[0]);

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

    *used = s->used || slot != HEARTHI_SLOT_END;
    if (slot != HEARTHI_SLOT_END)
        s->first = s->slot[slot];
    else
        slot = s->fresh++;
    s->left--;
    __atomic_store_n(&s->slot[slot], HEARTHI_SLOT_TAKEN, __ATOMIC_RELAXED);
    return slot;
}

void
hearthi_slab_give(struct hearthi_slab *s, uint32_t slot)
{
    __atomic_store_n(&s->slot[slot], (uint16_t)s->first, __ATOMIC_RELAXED);
    s->first = slot;
    s->left++;
}
