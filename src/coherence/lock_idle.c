/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "lock_idle.h"

#include <stdatomic.h>
#include <stdint.h>

#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "space/heap.h"
#include "transport/transport.h"

/* Locks that are kept, and some that were; how many. */
enum { WORD = 64 };
static _Atomic uint64_t *kept;
static atomic_int        kept_count;

/* The epoch at whose end a lock was kept and idle, and how often it had been
 * entered then. */
static struct left {
    uint64_t epoch;
    uint32_t uses;
} * left;

static size_t
kept_bytes(void)
{
    return ((size_t)hearthi_syncs / WORD + 1) * sizeof *kept;
}

static size_t
left_bytes(void)
{
    return (size_t)hearthi_syncs * sizeof *left;
}

void
hearthi_lock_idle_open(void)
{
    kept = hearthi_sparse(kept_bytes());
    left = hearthi_sparse(left_bytes());
    kept_count = 0;
}

void
hearthi_lock_idle_close(void)
{
    hearthi_sparse_free(kept, kept_bytes());
    hearthi_sparse_free(left, left_bytes());
}

void
hearthi_lock_idle_note(int lock, bool is)
{
    uint64_t bit = UINT64_C(1) << lock % WORD;
    uint64_t old;

    if (is)
        left[lock].epoch = 0;
    old = is ? atomic_fetch_or(&kept[lock / WORD], bit)
             : atomic_fetch_and(&kept[lock / WORD], ~bit);
    if (is != ((old & bit) != 0))
        atomic_fetch_add(&kept_count, is ? 1 : -1);
}

static uint32_t
uses_of(int lock)
{
    return __atomic_load_n(&hearthi_delegation_uses[lock], __ATOMIC_ACQUIRE);
}

void
hearthi_lock_idle_begin(void)
{
    if (atomic_load(&kept_count) == 0)
        return;
    for (int i = 0; i * WORD < hearthi_syncs_top; i++)
        for (uint64_t set = kept[i]; set != 0; set &= set - 1) {
            int      lock = i * WORD + __builtin_ctzll(set);
            uint32_t uses = uses_of(lock); /* before the byte: lock_recall.c */

            left[lock].epoch = 0;
            if (!hearthi_delegation_is_idle(hearthi_delegation_byte(lock)))
                continue;
            left[lock].epoch = hearthi_epochs.release;
            left[lock].uses = uses;
        }
}

bool
hearthi_lock_is_idle(int lock)
{
    return hearthi_epochs.release != hearthi_epochs.acquire &&
           left[lock].epoch == hearthi_epochs.acquire &&
           left[lock].uses == uses_of(lock);
}
