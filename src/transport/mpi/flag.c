/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Flags.
 */
#include "config.h"

#include "managed.h"
#include "queue.h"
#include "world.h"

/* Change a flag's value under its own lock. */
static void
flag_change(int sync, bool set, uint16_t epoch, const struct hearthi_notice *n,
            size_t count)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);

    atomic_thread_fence(memory_order_release);
    hearthi_queue_enter(sync, false);
    if (hearthi_world.nodes > 1) {
        l->word = hearthi_log_put(sync, l->word, epoch, n, count);
        l->word =
            set ? l->word | HEARTHI_FLAG_SET : l->word & ~HEARTHI_FLAG_SET;
        /* waiters look at the manager's word, so it goes there now */
        hearthi_queue_yield(sync);
        return;
    }
    atomic_store_explicit(&l->value, set, memory_order_release);
    hearthi_queue_leave(sync);
}

void
hearthi_mpi_flag_set(int sync, uint16_t epoch, const struct hearthi_notice *n,
                     size_t count)
{
    flag_change(sync, true, epoch, n, count);
}

void
hearthi_mpi_flag_reset(int sync)
{
    flag_change(sync, false, 0, NULL, 0);
}

/* Waiters read the log without the lock, so another set may overwrite what
 * they read: they look at the word again afterwards, and if the ring went
 * round meanwhile they have read too little. */
void
hearthi_mpi_flag_wait(int sync, struct hearthi_grant *g)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    unsigned                  turn = 0;
    uint32_t                  from = g->pos;
    uint64_t                  word;
    struct hearthi_serving    again;

    if (hearthi_world.nodes == 1) {
        while (!atomic_load_explicit(&l->value, memory_order_acquire))
            hearthi_relax(&turn);
        return;
    }
    while (word = hearthi_serving_get(sync), !(word & HEARTHI_FLAG_SET))
        hearthi_relax(&turn);
    hearthi_log_get(sync, word, g);
    if (g->n == 0)
        return;
    again = hearthi_serving_read(hearthi_serving_get(sync));
    if (again.log.epoch != hearthi_serving_read(word).log.epoch ||
        again.log.end - from > HEARTHI_LOG) {
        g->everything = true;
        g->n = 0;
    }
    atomic_thread_fence(memory_order_acquire);
}
