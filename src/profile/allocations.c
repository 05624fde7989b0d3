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
static struct hearthi_allocated *
slot_fill(const void *p, size_t bytes, uint64_t collective)
{
    struct hearthi_allocated *to = a.of == NULL ? NULL : slot_new();

    if (to == NULL)
        return NULL;
    to->at = hearthi_caller_here();
    to->bytes = bytes;
    to->collective = collective;
    __atomic_store_n(&to->from, (uintptr_t)p, __ATOMIC_RELEASE);
    return to;
}

void
hearthi_allocations_add(const void *p, size_t bytes, uint64_t collective)
{
    slot_fill(p, bytes, collective);
}

/* The i-th, if there are so many.  What is behind its address is read behind
 * that, by the acquire. */
static struct hearthi_allocated *
slot_of(size_t i, uintptr_t *from)
{
    if (a.of == NULL || i >= __atomic_load_n(&a.n, __ATOMIC_RELAXED))
        return NULL;
    *from = __atomic_load_n(&a.of[i].from, __ATOMIC_ACQUIRE);
    return &a.of[i];
}

/* The youngest that has a byte, or begins with it. */
static struct hearthi_allocated *
slot_find(const void *p, bool begins)
{
    size_t                    i = __atomic_load_n(&a.n, __ATOMIC_RELAXED);
    struct hearthi_allocated *of;
    uintptr_t                 from;

    while (i > 0 && (of = slot_of(--i, &from)) != NULL)
        if (begins ? from == (uintptr_t)p : (uintptr_t)p - from < of->bytes)
            return of;
    return NULL;
}

void
hearthi_allocations_element(const void *p, size_t size)
{
    struct hearthi_allocated *of = slot_find(p, true);

    if (of != NULL)
        of->element = size;
}

/* Of threads that name one at once each frees what it got out: the exchange
 * releases the new name's bytes, and acquires the old one's. */
void
hearthi_allocations_name(const void *p, const char *name)
{
    struct hearthi_allocated *to = slot_find(p, false);
    char                     *copy = NULL, *before;

    if (to == NULL)
        to = slot_fill(p, 1, 0);
    if (to == NULL)
        return;
    if (name != NULL)
        copy = strndup(name, HEARTHI_ALLOCATION_NAME - 1);
    before = __atomic_exchange_n(&to->name, copy, __ATOMIC_ACQ_REL);
    free(before);
}

/* An entry that had no address when it was looked at is none: it may have got
 * one since, and its other fields may be older. */
const struct hearthi_allocated *
hearthi_allocations_get(size_t i)
{
    static const struct hearthi_allocated none;
    uintptr_t                             from;
    struct hearthi_allocated             *of = slot_of(i, &from);

    return of != NULL && from == 0 ? &none : of;
}

uint64_t
hearthi_allocations_dropped(void)
{
    return a.dropped;
}
