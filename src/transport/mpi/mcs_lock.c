/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The MCS queue of a lock between nodes, after Mellor-Crummey and Scott
 * ("Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors",
 * 1991): a word at the lock's manager names the last node of the queue.  A
 * rank that waits swaps its own place in, tells the place before it, and then
 * looks at a word of its own memory, where the rank before puts the grant:
 * three messages, however many wait.  A lock for which no rank waits rests
 * where it was held last, and is taken from there: two messages, or none
 * between nodes if it rests at home.
 *
 * All that happens at a place is one step on one word, which is at each time
 *   REST   the lock rests here, with its token
 *   KEPT   a rank keeps it (lock_delegation.h), and must be rung for
 *   NAME   the rank that waits behind this place
 *   EMPTY  none of these: it is held, or waited for, or was here once
 *   TAKEN  the same: it rested here, and the rank that asked has it
 * A name is added to what is there, and all else is swapped in.  A rank that
 * adds a name takes out the token, if that rests there, and nothing else; a
 * rank that swaps one thing in answers for what it gets out.  The token and
 * the names are never copied, so a rank that has one in its hand has the only
 * one:
 *   - a rank that asks and gets the token is inside;
 *   - a rank that gets out a name, because it puts the lock to rest or was to
 *     take it, puts the name back.  If it gets the token then, the token's
 *     holder has found no name: it is granted to the name.
 * Two that meet at a place may each find nothing of the other in the word: the
 * one that puts its thing back second finds the other's.
 *
 * A try takes the lock where it rests, and does not enter the queue: it swaps
 * EMPTY into the last node of the queue, if that is where the lock is, and
 * releases it there, as a guest.  So a try that fails has nothing to undo but
 * to put back what it got out, and a rank that waits is passed by a try at
 * most once, before its name is at the place before it.
 *
 * CAS would spare the names' way back, but Open MPI 4.1.4 does it wrongly
 * between nodes.
 *
 * A rank uses its places in turn.  It waits at one only after it had the lock
 * at the other, so the rank that waited behind the earlier use of this place
 * has gone; a try that comes late finds nothing in the word, or what is true
 * now.
 *
 * Every step is one atomic step, sums and swaps, also on
 * the rank's own words, but for two that no other step can meet: a place is
 * EMPTY, and its grant 0, before it is in the queue.  All memory is 0 at
 * first, or of a lock that gets a name just then: it rests at the manager's
 * first place, with the token 0.
 *
 * KEPT may be in a try's hand when another rank asks.  The try then rings when
 * it finds the name; should that be lost, a rank that waits for long rings,
 * too.
 *
 * tests/model/chain.c walks through all of it.
 */
#include "config.h"

#include "mcs_lock.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cluster.h"
#include "mcs_grant.h"
#include "mcs_nodes.h"
#include "node/lock_names.h"
#include "node/relax.h"
#include "progress.h"
#include "rma_object.h"
#include "space/heap.h"

static uint8_t *used; /* place that was waited at last; not by a manager */

/* 1 + the rank behind which this one waits, or 0.  Relaxed:
 * hearthi_mcs_lock_lost() reads the number alone. */
static atomic_int *behind;

void
hearthi_mcs_lock_open(char *base, size_t at)
{
    hearthi_mcs_nodes_open(base, at);
    used = hearthi_sparse((size_t)hearthi_turns() * sizeof *used);
    behind = hearthi_sparse((size_t)hearthi_turns() * sizeof *behind);
}

void
hearthi_mcs_lock_close(void)
{
    hearthi_sparse_free(used, (size_t)hearthi_turns() * sizeof *used);
    hearthi_sparse_free(behind, (size_t)hearthi_turns() * sizeof *behind);
}

/* ---- words ---- */

static uint64_t
swap(int lock, int place, uint64_t in)
{
    return hearthi_mcs_node_op(lock, place, HEARTHI_OP_SWAP, in);
}

/* The last one, as its manager's word names it. */
static int
place_named(int lock, uint64_t word)
{
    return word == 0 ? 2 * hearthi_manager(lock, hearthi_cluster.size)
                     : (int)(word - 1);
}

static uint64_t
my_name(void)
{
    return hearthi_item_make(HEARTHI_TAKEN, (uint64_t)hearthi_cluster.rank
                                                << HEARTHI_NAME_AT);
}

/* A name as it is to be added, out of a word. */
static uint64_t
name_in(uint64_t word)
{
    return hearthi_item_make(HEARTHI_TAKEN,
                             word & HEARTHI_ITEM_VALUE & ~HEARTHI_ITEM_KEEPER);
}

static uint64_t
name_add(int lock, int place, uint64_t name)
{
    return hearthi_mcs_node_op(lock, place, HEARTHI_OP_ADD, name);
}

static void
ring_once(int lock, int place)
{
    hearthi_mcs_ring(&(struct hearthi_want){ 0 }, lock, place);
}

/* ---- what is in a hand ---- */

/* Put back a name.  If the token rests there by now, it is for the name. */
static void
name_back(int lock, int place, uint64_t word)
{
    uint64_t name = name_in(word), out = name_add(lock, place, name);

    HEARTHI_ASSERT(hearthi_item_of(out) != HEARTHI_NAME);
    if (hearthi_item_of(out) == HEARTHI_REST)
        hearthi_mcs_grant(lock, name, out & HEARTHI_ITEM_VALUE);
    else if (hearthi_item_of(out) == HEARTHI_KEPT)
        ring_once(lock, place);
}

/* Put back that the lock is kept.  True if the token came out. */
static bool
kept_back(int lock, int place, uint64_t first, uint64_t *token)
{
    uint64_t in = first, out;

    while (out = swap(lock, place, in),
           hearthi_item_of(out) == HEARTHI_KEPT && out != first && out != in)
        in = out; /* another keeps it since */
    if (hearthi_item_of(out) == HEARTHI_NAME)
        name_back(lock, place, out);
    *token = out & HEARTHI_ITEM_VALUE;
    return hearthi_item_of(out) == HEARTHI_REST;
}

/* A hint, without a message: a place of another rank may be anything. */
static bool
may_be(int lock, int place, enum hearthi_item item)
{
    return hearthi_mcs_node_rank(place) != hearthi_cluster.rank ||
           hearthi_item_of(hearthi_mcs_node_look(lock, place)) == item;
}

bool
hearthi_mcs_lock_take(int lock, int place, uint64_t *token)
{
    uint64_t out;

    if (!may_be(lock, place, HEARTHI_REST))
        return false;
    out = swap(lock, place, hearthi_item_make(HEARTHI_EMPTY, 0));
    *token = out & HEARTHI_ITEM_VALUE;
    switch (hearthi_item_of(out)) {
    case HEARTHI_REST: return true;
    case HEARTHI_KEPT: return kept_back(lock, place, out, token);
    case HEARTHI_NAME: name_back(lock, place, out); return false;
    default: return false;
    }
}

void
hearthi_mcs_lock_begin(int lock)
{
    hearthi_mcs_tail_op(lock, HEARTHI_OP_SWAP, 0);
    swap(lock, 2 * hearthi_manager(lock, hearthi_cluster.size),
         hearthi_item_make(HEARTHI_REST, 0));
}

/* ---- waiting ---- */

static void
behind_set(int lock, int name)
{
    atomic_store_explicit(&behind[lock], name, memory_order_relaxed);
}

/* The fence: both stores come before the step that puts the place into the
 * queue, which may be an MPI's. */
static int
place_clear(int lock)
{
    int which = used[lock] ^ 1;

    HEARTHI_ASSERT(which == 0 || which == 1);
    HEARTHI_ASSERT(behind[lock] == 0);
    used[lock] = (uint8_t)which;
    __atomic_store_n(&hearthi_mcs_nodes_own(lock)->word[which],
                     hearthi_item_make(HEARTHI_EMPTY, 0), __ATOMIC_RELAXED);
    __atomic_store_n(&hearthi_mcs_nodes_own(lock)->grant, 0, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_seq_cst);
    return 2 * hearthi_cluster.rank + which;
}

int
hearthi_mcs_lock_wait(int lock, uint64_t *token)
{
    int      mine = place_clear(lock), before;
    uint64_t out;

    before = place_named(
        lock, hearthi_mcs_tail_op(lock, HEARTHI_OP_SWAP, (uint64_t)mine + 1));
    HEARTHI_ASSERT(before != mine &&
                   hearthi_mcs_node_rank(before) < hearthi_cluster.size);
    behind_set(lock, 1 + hearthi_mcs_node_rank(before));
    out = name_add(lock, before, my_name());
    HEARTHI_ASSERT(hearthi_item_of(out) != HEARTHI_NAME);
    if (hearthi_item_of(out) == HEARTHI_KEPT)
        behind_set(lock, 1 + (int)(out & HEARTHI_ITEM_VALUE));
    if (hearthi_item_of(out) == HEARTHI_REST)
        *token = out & HEARTHI_ITEM_VALUE;
    else
        *token = hearthi_mcs_grant_wait(lock, before,
                                        hearthi_item_of(out) == HEARTHI_KEPT);
    behind_set(lock, 0);
    return mine;
}

void
hearthi_mcs_lock_lost(int rank, struct hearthi_abandoned_locks *lost)
{
    for (int i = 0; i < hearthi_syncs_top; i++)
        if (atomic_load_explicit(&behind[i], memory_order_relaxed) == rank + 1)
            hearthi_abandoned_locks_add(lost, hearthi_lock_names_key(i));
}

/* ---- tries ---- */

int
hearthi_mcs_lock_try(int lock, uint64_t *token)
{
    int place =
        place_named(lock, hearthi_mcs_tail_op(lock, HEARTHI_OP_READ, 0));
    uint64_t word = hearthi_mcs_node_look(lock, place); /* may be torn */
    int      keeper;

    if (hearthi_item_of(word) == HEARTHI_KEPT) {
        keeper = (int)(word & HEARTHI_ITEM_KEEPER);
        if (keeper >= hearthi_cluster.size || !hearthi_want_idle(keeper, lock))
            return -1;
        ring_once(lock, place);
        word = hearthi_mcs_node_look(lock, place);
    }
    if (hearthi_item_of(word) != HEARTHI_REST ||
        !hearthi_mcs_lock_take(lock, place, token))
        return -1;
    return place;
}

/* ---- passing on ---- */

bool
hearthi_mcs_lock_is_wanted(int lock, int place)
{
    return hearthi_mcs_node_rank(place) == hearthi_cluster.rank &&
           may_be(lock, place, HEARTHI_NAME);
}

bool
hearthi_mcs_lock_keep(int lock, int place)
{
    uint64_t out;

    if (hearthi_mcs_lock_is_wanted(lock, place))
        return false;
    out =
        swap(lock, place,
             hearthi_item_make(HEARTHI_KEPT, (uint64_t)hearthi_cluster.rank));
    HEARTHI_ASSERT(hearthi_item_of(out) != HEARTHI_REST);
    if (hearthi_item_of(out) != HEARTHI_NAME)
        return true;
    name_add(lock, place, name_in(out));
    return false;
}

bool
hearthi_mcs_lock_leave(int lock, int place, uint64_t token)
{
    uint64_t out;

    HEARTHI_ASSERT(place >= 0 && place / 2 < hearthi_cluster.size);
    HEARTHI_ASSERT(token <= HEARTHI_ITEM_VALUE);
    if (hearthi_mcs_lock_is_wanted(lock, place)) {
        out = swap(lock, place, hearthi_item_make(HEARTHI_EMPTY, 0));
        if (hearthi_item_of(out) == HEARTHI_NAME) { /* no try has it */
            hearthi_mcs_grant(lock, name_in(out), token);
            return false;
        }
    }
    out = swap(lock, place, hearthi_item_make(HEARTHI_REST, token));
    HEARTHI_ASSERT(hearthi_item_of(out) != HEARTHI_REST);
    if (hearthi_item_of(out) != HEARTHI_NAME)
        return true;
    name_back(lock, place, out);
    return false;
}
