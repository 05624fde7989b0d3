/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Condition variables, as two counts: how many have entered the queue, and how
 * many were woken.  A thread that enters is woken when the second count has
 * passed its place.  So nothing is lost between entering, which is done inside
 * the lock, and looking for the first time.
 *
 * Of several that wake one changes the count at a time; a thread that enters
 * meanwhile has not been there.  On one node it is node_sync.c's.
 *
 * Between nodes a thread that waits leaves its name (wait_slot.h) in the slot
 * of its place, and the thread that wakes the place leaves a mark there, each
 * by a swap.  The one that comes second finds what the first has left: so a
 * waiter sees the mark, or is woken by one message.  There are fewer slots
 * than places, which use them in rounds: the second one ends the round, and no
 * thread of the next round swaps before that.
 *
 * So a thread that wakes a place may wait for the waiter of an earlier one,
 * and a waiter must not wait for that thread before it has come to its own
 * slot.  A waiter that got no name comes there as the others do, says so in
 * the slot, and then looks at the second count.  If it looked at the count
 * first, a thread that wakes all, and adds them to the count in the end, would
 * wait at a place of the next round for this waiter, and the waiter for the
 * count.
 */
#include "config.h"

#include "base/assert.h"
#include "flag.h"
#include "rma_object.h"
#include "wait_slot.h"

enum {
    ENTERED = HEARTHI_NEXT,
    WOKEN = HEARTHI_SERVING,
    WAKES = HEARTHI_WAKES /* not 0 while somebody does */
};

/* A slot: its round, and a name, that the waiter has none, the mark or, as 0,
 * nothing yet. */
enum {
    SLOTS = HEARTHI_COND_SLOTS,
    MARK = UINT32_MAX,
    NAMELESS = UINT32_MAX - 1
};

struct slot {
    uint32_t round, has;
};

static struct slot
slot_op(int sync, uint64_t place, enum hearthi_fabric_op op, uint32_t has,
        uint32_t later)
{
    uint32_t round = (uint32_t)(place / SLOTS) + later;
    uint64_t word =
        hearthi_word_op(sync, HEARTHI_BODY + place % SLOTS * sizeof word, op,
                        (uint64_t)round << 32 | has);

    return (struct slot){ (uint32_t)(word >> 32), (uint32_t)word };
}

static struct slot
slot_look(int sync, uint64_t place)
{
    return slot_op(sync, place, HEARTHI_OP_READ, 0, 0);
}

/* What the other one has left in the slot of a place, where this one ends the
 * round then, or 0. */
static uint32_t
slot_meet(int sync, uint64_t place, uint32_t mine)
{
    struct hearthi_patience p = { 0 };
    struct slot             out;

    while (slot_look(sync, place).round != (uint32_t)(place / SLOTS))
        hearthi_patience_pause(&p, 1);
    out = slot_op(sync, place, HEARTHI_OP_SWAP, mine, 0);
    HEARTHI_ASSERT(out.round == (uint32_t)(place / SLOTS));
    HEARTHI_ASSERT((out.has == MARK) != (mine == MARK) || out.has == 0);
    if (out.has != 0)
        slot_op(sync, place, HEARTHI_OP_SWAP, 0, 1);
    return out.has;
}

static uint64_t
look(int sync, size_t word)
{
    return hearthi_word_op(sync, word, HEARTHI_OP_READ, 0);
}

uint64_t
hearthi_mpi_cond_enter(int sync)
{
    return hearthi_word_op(sync, ENTERED, HEARTHI_OP_ADD, 1);
}

void
hearthi_mpi_cond_wait(int sync, uint64_t place)
{
    struct hearthi_patience p = { 0 };
    uint32_t                name = hearthi_wait_slot_begin();
    bool woken = slot_meet(sync, place, name == 0 ? NAMELESS : name) != 0;

    if (name != 0 && woken)
        hearthi_wait_slot_end(name);
    else if (name != 0)
        hearthi_wait_slot_wait(name);
    while (name == 0 && !woken) {
        hearthi_patience_pause(&p, 1);
        woken = look(sync, WOKEN) > place;
    }
}

void
hearthi_mpi_cond_wake(int sync, bool all)
{
    struct hearthi_patience p = { 0 };
    uint64_t                woken, next;

    while (hearthi_word_op(sync, WAKES, HEARTHI_OP_SWAP, 1) != 0)
        hearthi_patience_pause(&p, 1);
    woken = look(sync, WOKEN);
    next = hearthi_cond_woken_next(look(sync, ENTERED), woken, all);
    HEARTHI_ASSERT(next >= woken);
    for (uint64_t place = woken; place < next; place++) {
        uint32_t name = slot_meet(sync, place, MARK);

        if (name != 0 && name != NAMELESS)
            hearthi_wait_slot(name);
    }
    if (next != woken)
        hearthi_word_op(sync, WOKEN, HEARTHI_OP_SWAP, next);
    hearthi_word_op(sync, WAKES, HEARTHI_OP_SWAP, 0);
}
