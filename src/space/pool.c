/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "pool.h"

#include <string.h>

#include "base/assert.h"
#include "heap.h"

static size_t
table_bytes(const struct hearthi_pool *p)
{
    return p->numbers * sizeof *p->length;
}

void
hearthi_pool_open(struct hearthi_pool *p, uint64_t numbers)
{
    memset(p, 0, sizeof *p);
    p->numbers = numbers;
    p->length = hearthi_sparse(table_bytes(p));
    p->next = hearthi_sparse(table_bytes(p));
    p->prev = hearthi_sparse(table_bytes(p));
}

void
hearthi_pool_close(struct hearthi_pool *p)
{
    hearthi_sparse_free(p->length, table_bytes(p));
    hearthi_sparse_free(p->next, table_bytes(p));
    hearthi_sparse_free(p->prev, table_bytes(p));
    memset(p, 0, sizeof *p);
}

/* All runs of a class are at least 2^class long. */
static unsigned
class_of(uint64_t count)
{
    return 63U - (unsigned)__builtin_clzll(count);
}

static void
run_link(struct hearthi_pool *p, uint64_t first, uint64_t count)
{
    uint32_t *head = &p->head[class_of(count)];

    p->length[first] = p->length[first + count - 1] = (uint32_t)count;
    p->next[first] = *head;
    p->prev[first] = 0;
    if (*head > 0)
        p->prev[*head - 1] = (uint32_t)first + 1;
    *head = (uint32_t)first + 1;
}

/* Returns its length. */
static uint64_t
run_unlink(struct hearthi_pool *p, uint64_t first)
{
    uint64_t count = p->length[first];
    uint32_t next = p->next[first], prev = p->prev[first];

    HEARTHI_ASSERT(count > 0 && p->length[first + count - 1] == count);
    p->length[first] = p->length[first + count - 1] = 0;
    if (next > 0)
        p->prev[next - 1] = prev;
    if (prev > 0)
        p->next[prev - 1] = next;
    else
        p->head[class_of(count)] = next;
    return count;
}

/* What lies before and behind is in use, with length 0, or the end of a run:
 * inner numbers are next to free ones only. */
void
hearthi_pool_give(struct hearthi_pool *p, uint64_t first, uint64_t count)
{
    HEARTHI_ASSERT(count > 0 && first + count <= p->numbers);
    HEARTHI_ASSERT(p->length[first] == 0 && p->length[first + count - 1] == 0);
    p->left += count;
    if (first > 0 && p->length[first - 1] > 0) {
        uint64_t before = p->length[first - 1];

        run_unlink(p, first - before);
        first -= before;
        count += before;
    }
    if (first + count < p->numbers && p->length[first + count] > 0)
        count += run_unlink(p, first + count);
    run_link(p, first, count);
}

/* The first run of the smallest class whose runs are long enough, else of the
 * largest that there is. */
static uint64_t
run_for(const struct hearthi_pool *p, uint64_t count)
{
    unsigned enough = class_of(count) + ((count & (count - 1)) != 0);

    for (unsigned k = enough; k < HEARTHI_POOL_CLASSES; k++)
        if (p->head[k] > 0)
            return p->head[k] - 1;
    for (unsigned k = enough; k > 0; k--)
        if (p->head[k - 1] > 0)
            return p->head[k - 1] - 1;
    return UINT64_MAX;
}

uint64_t
hearthi_pool_take(struct hearthi_pool *p, uint64_t count, uint64_t *first)
{
    uint64_t got;

    *first = run_for(p, count);
    if (*first == UINT64_MAX)
        return 0;
    got = run_unlink(p, *first);
    if (got > count) {
        run_link(p, *first + count, got - count);
        got = count;
    }
    HEARTHI_ASSERT(got > 0 && got <= p->left);
    p->left -= got;
    return got;
}
