/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Condition variables, as two counts: how many have entered the queue, and how
 * many were woken.  Who enters is woken when the second count has passed his
 * place.  So nothing is lost between entering, which is done inside the lock,
 * and looking for the first time.
 *
 * Of several that wake one changes the count at a time; who enters meanwhile
 * has not been there.  On one node both counts lie in its memory.
 *
 * Between nodes who waits leaves his name (wait_slot.h) in the slot of his
 * place, and who wakes the place leaves a mark there, each by a swap.  The one
 * who comes second finds what the first has left: so a waiter sees the mark,
 * or is woken by one message.  There are fewer slots than places, which use
 * them in rounds: the second one ends the round, and nobody of the next one
 * swaps before that.
 */
#include "config.h"

#include "base/test_limits.h"
#include "cluster.h"
#include "flag_ticket.h"
#include "node/node_lock.h"
#include "rma_object.h"
#include "wait_slot.h"

enum {
    ENTERED = HEARTHI_NEXT,
    WOKEN = HEARTHI_SERVING,
    WAKES = HEARTHI_WAKES /* not 0 while somebody does */
};

/* A slot: its round, and a name, the mark or, as 0, nothing yet. */
enum { SLOTS = HEARTHI_TEST_LIMIT(56, 2), MARK = UINT32_MAX };

_Static_assert(HEARTHI_LOG_AT + SLOTS * sizeof(uint64_t) <= HEARTHI_ZERO,
               "slots are 0 at first");

struct slot {
    uint32_t round, has;
};

static struct slot
slot_op(int sync, uint64_t place, MPI_Op op, uint32_t has, uint32_t later)
{
    uint32_t round = (uint32_t)(place / SLOTS) + later;
    uint64_t word =
        hearthi_word_op(sync, HEARTHI_LOG_AT + place % SLOTS * sizeof word, op,
                        (uint64_t)round << 32 | has);

    return (struct slot){ (uint32_t)(word >> 32), (uint32_t)word };
}

static struct slot
slot_look(int sync, uint64_t place)
{
    return slot_op(sync, place, MPI_NO_OP, 0, 0);
}

/* What the other one has left in the slot of a place, who ends the round then,
 * or 0. */
static uint32_t
slot_meet(int sync, uint64_t place, uint32_t mine)
{
    struct hearthi_patience p = { 0 };
    struct slot             out;

    while (slot_look(sync, place).round != (uint32_t)(place / SLOTS))
        hearthi_patience_pause(&p, 1);
    out = slot_op(sync, place, MPI_REPLACE, mine, 0);
    if (out.has != 0)
        slot_op(sync, place, MPI_REPLACE, 0, 1);
    return out.has;
}

static uint64_t
look(int sync, size_t word)
{
    return hearthi_word_op(sync, word, MPI_NO_OP, 0);
}

uint64_t
hearthi_mpi_cond_enter(int sync)
{
    if (hearthi_cluster.nodes == 1)
        return atomic_fetch_add(&hearthi_node_lock_of(sync)->next, 1);
    return hearthi_word_op(sync, ENTERED, MPI_SUM, 1);
}

/* Who has no word to be woken at comes when the mark is there. */
static void
far_wait(int sync, uint64_t place)
{
    struct hearthi_patience p = { 0 };
    uint32_t                name = hearthi_wait_slot_begin();

    while (name == 0 && look(sync, WOKEN) <= place)
        hearthi_patience_pause(&p, 1);
    if (slot_meet(sync, place, name == 0 ? MARK : name) == 0)
        hearthi_wait_slot_wait(name);
    else if (name != 0)
        hearthi_wait_slot_end(name);
}

void
hearthi_mpi_cond_wait(int sync, uint64_t place)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    unsigned                  turn = 0;

    if (hearthi_cluster.nodes > 1) {
        far_wait(sync, place);
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

    if (hearthi_cluster.nodes == 1) {
        near_wake(hearthi_node_lock_of(sync), all);
        return;
    }
    while (hearthi_word_op(sync, WAKES, MPI_REPLACE, 1) != 0)
        hearthi_patience_pause(&p, 1);
    woken = look(sync, WOKEN);
    next = woken_next(look(sync, ENTERED), woken, all);
    for (uint64_t place = woken; place < next; place++) {
        uint32_t name = slot_meet(sync, place, MARK);

        if (name != 0)
            hearthi_wait_slot(name);
    }
    if (next != woken)
        hearthi_word_op(sync, WOKEN, MPI_REPLACE, next);
    hearthi_word_op(sync, WAKES, MPI_REPLACE, 0);
}
