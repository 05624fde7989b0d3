/* SPDX-License-Identifier: BSD-2-Clause */
/* A binary heap, ordered by tour.order. */
#include <config.h>

#include "pool.h"

static void
heap_swap(struct pool *p, int32_t i, int32_t j)
{
    struct tour t = p->heap[i];

    p->heap[i] = p->heap[j];
    p->heap[j] = t;
}

void
pool_push(struct pool *p, const struct tour *t)
{
    int32_t i = p->count++;

    p->heap[i] = *t;
    for (; i > 0 && p->heap[i].order < p->heap[(i - 1) / 2].order;
         i = (i - 1) / 2)
        heap_swap(p, i, (i - 1) / 2);
}

struct tour
pool_pop(struct pool *p)
{
    struct tour top = p->heap[0];

    p->heap[0] = p->heap[--p->count];
    for (int32_t i = 0, child; (child = 2 * i + 1) < p->count; i = child) {
        if (child + 1 < p->count &&
            p->heap[child + 1].order < p->heap[child].order)
            child++;
        if (p->heap[i].order <= p->heap[child].order)
            break;
        heap_swap(p, i, child);
    }
    return top;
}
