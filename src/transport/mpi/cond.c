/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Condition variables, as two counts: how many have entered the queue, and how
 * many were woken.  Who enters is woken when the second count has passed his
 * place.  So nothing is lost between entering, which is done inside the lock,
 * and looking for the first time.
 *
 * Of several that wake one changes the count at a time; who enters meanwhile
 * has not been there.  On one node both counts lie in its memory.
 */
#include "config.h"

#include "managed.h"
#include "near.h"
#include "queue.h"
#include "world.h"

enum {
    ENTERED = HEARTHI_NEXT,
    WOKEN = HEARTHI_SERVING,
    WAKES = HEARTHI_WAKES /* not 0 while somebody does */
};

static uint64_t
look(int sync, size_t word)
{
    return hearthi_word_op(sync, word, MPI_NO_OP, 0);
}

uint64_t
hearthi_mpi_cond_enter(int sync)
{
    if (hearthi_world.nodes == 1)
        return atomic_fetch_add(&hearthi_node_lock_of(sync)->next, 1);
    return hearthi_word_op(sync, ENTERED, MPI_SUM, 1);
}

void
hearthi_mpi_cond_wait(int sync, uint64_t place)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_patience   p = { 0 };
    unsigned                  turn = 0;

    if (hearthi_world.nodes > 1) {
        while (look(sync, WOKEN) <= place)
            hearthi_patience_pause(&p, 1);
        return;
    }
    while (atomic_load(&l->serving) <= place)
        hearthi_relax(&turn);
}

/* How many are woken after this. */
static uint64_t
woken_next(uint64_t entered, uint64_t woken, bool all)
{
    if (woken >= entered)
        return woken;
    return all ? entered : woken + 1;
}

static void
near_wake(struct hearthi_node_lock *l, bool all)
{
    uint64_t woken = atomic_load(&l->serving);

    while (!atomic_compare_exchange_weak(
        &l->serving, &woken, woken_next(atomic_load(&l->next), woken, all)))
        ;
}

void
hearthi_mpi_cond_wake(int sync, bool all)
{
    struct hearthi_patience p = { 0 };
    uint64_t                woken, next;

    if (hearthi_world.nodes == 1) {
        near_wake(hearthi_node_lock_of(sync), all);
        return;
    }
    while (hearthi_word_op(sync, WAKES, MPI_REPLACE, 1) != 0)
        hearthi_patience_pause(&p, 1);
    woken = look(sync, WOKEN);
    next = woken_next(look(sync, ENTERED), woken, all);
    if (next != woken)
        hearthi_word_op(sync, WOKEN, MPI_REPLACE, next);
    hearthi_word_op(sync, WAKES, MPI_REPLACE, 0);
}
