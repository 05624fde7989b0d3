/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "remote_word.h"

#include "base/assert.h"
#include "space/segment.h"
#include "transport.h"
#include "world.h"

static uint64_t *
near(int rank, size_t at)
{
    HEARTHI_ASSERT(at % sizeof(uint64_t) == 0);
    HEARTHI_ASSERT(at + sizeof(uint64_t) <= hearthi_segments.bytes);
    return (uint64_t *)(void *)(hearthi_segments
                                    .base[hearthi_world.node_rank_of[rank]] +
                                at);
}

/* The acquire pairs with the release of a put, and with steps, which are
 * seq_cst here as those of a transport (atomic_op.h). */
uint64_t
hearthi_remote_word_get(int rank, size_t at)
{
    if (hearthi_world.node_of[rank] == hearthi_world.node)
        return __atomic_load_n(near(rank, at), __ATOMIC_ACQUIRE);
    return hearthi_transport->data.atomic(
        rank, at, &(struct hearthi_atomic_op){ .kind = HEARTHI_ADD });
}

void
hearthi_remote_word_put(int rank, size_t at, uint64_t value)
{
    if (hearthi_world.nodes == 1)
        __atomic_store_n(near(rank, at), value, __ATOMIC_RELEASE);
    else
        hearthi_remote_word_swap(rank, at, value);
}

uint64_t
hearthi_remote_word_swap(int rank, size_t at, uint64_t value)
{
    if (hearthi_world.nodes == 1)
        return __atomic_exchange_n(near(rank, at), value, __ATOMIC_SEQ_CST);
    return hearthi_transport->data.atomic(
        rank, at,
        &(struct hearthi_atomic_op){ .kind = HEARTHI_SWAP, .value = value });
}

bool
hearthi_remote_word_cas(int rank, size_t at, uint64_t *expected,
                        uint64_t value)
{
    struct hearthi_atomic_op step = { .kind = HEARTHI_CAS,
                                      .value = value,
                                      .expected = *expected };
    uint64_t                 was = hearthi_world.nodes == 1
                                       ? hearthi_atomic_op_here(near(rank, at), &step)
                                       : hearthi_transport->data.atomic(rank, at, &step);
    bool                     done = was == *expected;

    *expected = was;
    return done;
}

uint64_t
hearthi_remote_word_add(int rank, size_t at, uint64_t value)
{
    if (hearthi_world.nodes == 1)
        return __atomic_fetch_add(near(rank, at), value, __ATOMIC_SEQ_CST);
    return hearthi_transport->data.atomic(
        rank, at,
        &(struct hearthi_atomic_op){ .kind = HEARTHI_ADD, .value = value });
}
