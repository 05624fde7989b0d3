/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Waiters are a chain: a word at the manager names who entered last, and each
 * who enters swaps his own name in and remembers the one that came out.  Who
 * wakes swaps it out, and wakes that one only.
 *
 * Nobody is missed.  Who enters looks afterwards, so either he sees what ends
 * the wait, or that was done after he entered, and who did it finds him, or
 * somebody who has him behind; who sees it himself wakes all, so he is in what
 * he or somebody else takes out.  So each name is woken once, and nobody goes
 * before he was: then the chain behind him would not be.
 */
#include "config.h"

#include "wait_slot.h"

#include <stdatomic.h>
#include <string.h>

#include "cluster.h"
#include "rma_object.h"

enum { WORDS = 64 };

static _Atomic uint64_t in_use;
static char            *own;    /* this rank's words */
static size_t           own_at; /* in everybody's window */

size_t
hearthi_wait_slot_bytes(void)
{
    return WORDS * sizeof(uint64_t);
}

void
hearthi_wait_slot_open(char *base, size_t at)
{
    own = base;
    own_at = at;
    memset(base, 0, hearthi_wait_slot_bytes());
    atomic_store(&in_use, 0);
}

static uint64_t *
own_word(uint32_t name)
{
    return (uint64_t *)(void *)own + (name - 1) % WORDS;
}

uint32_t
hearthi_wait_slot_begin(void)
{
    uint64_t used = atomic_load(&in_use), bit;
    uint32_t name;

    do {
        if (used == UINT64_MAX)
            return 0;
        bit = ~used & (used + 1);
    } while (!atomic_compare_exchange_weak(&in_use, &used, used | bit));
    name = (uint32_t)hearthi_cluster.rank * WORDS +
           (uint32_t)__builtin_ctzll(bit) + 1;
    __atomic_store_n(own_word(name), 0, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_seq_cst);
    return name;
}

void
hearthi_wait_slot_end(uint32_t name)
{
    atomic_fetch_and(&in_use, ~(UINT64_C(1) << (name - 1) % WORDS));
}

void
hearthi_wait_slot_wait(uint32_t name)
{
    unsigned turn = 0;

    while (__atomic_load_n(own_word(name), __ATOMIC_ACQUIRE) == 0)
        hearthi_relax(&turn);
    hearthi_wait_slot_end(name);
}

void
hearthi_wait_slot(uint32_t name)
{
    size_t at = own_at + (name - 1) % WORDS * sizeof(uint64_t);

    hearthi_fetch_op(hearthi_mpi.sync, (int)((name - 1) / WORDS), at,
                     MPI_REPLACE, 1);
}

/* ---- chains ---- */

void
hearthi_waiters_enter(int sync, uint32_t name, uint32_t *before)
{
    *before =
        (uint32_t)hearthi_word_op(sync, HEARTHI_WAITERS, MPI_REPLACE, name);
}

void
hearthi_waiters_wake(int sync)
{
    uint32_t last =
        (uint32_t)hearthi_word_op(sync, HEARTHI_WAITERS, MPI_REPLACE, 0);

    if (last != 0)
        hearthi_wait_slot(last);
}

void
hearthi_waiters_wait(uint32_t name, uint32_t before)
{
    hearthi_wait_slot_wait(name);
    if (before != 0)
        hearthi_wait_slot(before);
}
