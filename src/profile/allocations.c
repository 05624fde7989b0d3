/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "allocations.h"

#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "space/heap.h"

static struct {
    struct hearthi_allocated *of; /* NULL: none is kept */
    size_t                    n;
    uint64_t                  dropped;
} a;

void
hearthi_allocations_open(void)
{
    a.of = hearthi_sparse(HEARTHI_ALLOCATIONS * sizeof *a.of);
    a.n = 0;
    a.dropped = 0;
}

void
hearthi_allocations_close(void)
{
    if (a.of == NULL)
        return;
    for (size_t i = 0; i < a.n; i++)
        free(a.of[i].name);
    hearthi_sparse_free(a.of, HEARTHI_ALLOCATIONS * sizeof *a.of);
    a.of = NULL;
}

/* Relaxed: an index is taken here, and nothing is read by it. */
static struct hearthi_allocated *
slot_new(void)
{
    size_t i = __atomic_load_n(&a.n, __ATOMIC_RELAXED);

    while (i < HEARTHI_ALLOCATIONS &&
           !__atomic_compare_exchange_n(&a.n, &i, i + 1, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
    if (i < HEARTHI_ALLOCATIONS)
        return &a.of[i];
    __atomic_fetch_add(&a.dropped, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Readers look at it from its address on.  Its address is stored last, by a
 * release. */
void
hearthi_allocations_add(const void *p, size_t bytes, uint64_t collective)
{
    struct hearthi_allocated *to = a.of == NULL ? NULL : slot_new();

    if (to == NULL)
        return;
    to->at = hearthi_caller_here();
    to->bytes = bytes;
    to->collective = collective;
    __atomic_store_n(&to->from, (uintptr_t)p, __ATOMIC_RELEASE);
}

void
hearthi_allocations_element(const void *p, size_t size)
{
    size_t i = a.of == NULL ? 0 : a.n;

    while (i > 0 && a.of[i - 1].from != (uintptr_t)p)
        i--;
    if (i > 0)
        a.of[i - 1].element = size;
}

/* Of threads that name one at once each frees what it got out: the exchange
 * releases the new name's bytes, and acquires the old one's. */
void
hearthi_allocations_name(const void *p, const char *name)
{
    struct hearthi_allocated *to = NULL;
    char                     *copy = NULL, *before;

    for (size_t i = a.of == NULL ? 0 : a.n; i > 0 && to == NULL; i--)
        if ((uintptr_t)p - a.of[i - 1].from < a.of[i - 1].bytes)
            to = &a.of[i - 1];
    if (to == NULL && a.of != NULL && (to = slot_new()) != NULL) {
        to->at = hearthi_caller_here();
        to->bytes = 1;
        to->from = (uintptr_t)p;
    }
    if (to == NULL)
        return;
    if (name != NULL)
        copy = strndup(name, HEARTHI_ALLOCATION_NAME - 1);
    before = __atomic_exchange_n(&to->name, copy, __ATOMIC_ACQ_REL);
    free(before);
}

/* Relaxed: an entry that has no address yet covers no byte of the heap. */
const struct hearthi_allocated *
hearthi_allocations_get(size_t i)
{
    return a.of != NULL && i < __atomic_load_n(&a.n, __ATOMIC_RELAXED)
               ? &a.of[i]
               : NULL;
}

uint64_t
hearthi_allocations_dropped(void)
{
    return a.dropped;
}
