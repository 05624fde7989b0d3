/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "checksum.h"

#ifdef HAVE_XXHASH_H
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t
hearthi_checksum(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}

static XXH3_state_t *
state_of(struct hearthi_sum *s)
{
    return (XXH3_state_t *)(void *)s;
}

struct hearthi_sum *
hearthi_sum_new(void)
{
    XXH3_state_t *s = XXH3_createState();

    if (s != NULL)
        XXH3_64bits_reset(s);
    return (struct hearthi_sum *)(void *)s;
}

void
hearthi_sum_add(struct hearthi_sum *s, const void *bytes, size_t n)
{
    XXH3_64bits_update(state_of(s), bytes, n);
}

uint64_t
hearthi_sum_end(struct hearthi_sum *s)
{
    uint64_t sum = XXH3_64bits_digest(state_of(s));

    XXH3_freeState(state_of(s));
    return sum;
}
#else
/* No checkpoint is made then (api/api_checkpoint.c). */
uint64_t
hearthi_checksum(const void *bytes, size_t n)
{
    (void)bytes, (void)n;
    return 0;
}

struct hearthi_sum *
hearthi_sum_new(void)
{
    return NULL;
}

void
hearthi_sum_add(struct hearthi_sum *s, const void *bytes, size_t n)
{
    (void)s, (void)bytes, (void)n;
}

uint64_t
hearthi_sum_end(struct hearthi_sum *s)
{
    (void)s;
    return 0;
}
#endif
