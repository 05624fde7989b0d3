/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Waiters are a list: a word at the manager names the waiter that entered
 * last, and each that enters swaps its own name in and remembers the one that
 * came out.  The thread that wakes swaps the name out, and wakes that waiter
 * only.
 *
 * No waiter is missed.  A waiter that enters looks afterwards.  So either it
 * sees what ends the wait, or that was done after it entered, and the thread
 * that did it finds this waiter, or another one with this one behind it.  A
 * waiter that sees the end itself wakes all, so it is in what it or another
 * takes out.  So each name is woken once, and no waiter goes before it was
 * woken: then the list behind it would not be.
 */
#include "config.h"

#include "wait_slot.h"

#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "cluster.h"
#include "node/relax.h"
#include "rma_object.h"

enum { WORDS = HEARTHI_WAIT_WORDS };

#define NO_WORDS (UINT64_MAX << (WORDS - 1) << 1) /* bits that none has */

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
    atomic_store(&in_use, NO_WORDS);
}

static uint64_t *
own_word(uint32_t name)
{
    HEARTHI_ASSERT((name - 1) / WORDS == (uint32_t)hearthi_cluster.rank);
    return (uint64_t *)(void *)own + (name - 1) % WORDS;
}

/* The fence: its word is 0 before a step, maybe an MPI's, tells its name to
 * other ranks. */
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
    HEARTHI_ASSERT(in_use >> (name - 1) % WORDS & 1);
    atomic_fetch_and(&in_use, ~(UINT64_C(1) << (name - 1) % WORDS));
}

/* ---- waiting ----
 *
 * A word that another rank writes wakes no thread.  Where more threads wait
 * than have cores, one of them looks at the words of all, and the others sleep
 * at events of their own.  No wake-up is lost: a thread says that it sleeps
 * before it sees that another looks; one that leaves says that none looks, and
 * then wakes one of those that sleep, which looks on.  So does one that was
 * woken because its word was set, if it finds that none looks.  The one that
 * looks may be held up, by a handler of the program's, say: so each sleeps for
 * a short time only, and then sees its own word (tests/model/asleep.c). */

static struct hearthi_event event[WORDS];
static _Atomic uint64_t     asleep; /* a bit each */
static atomic_bool          looking;

/* The acquire pairs with the swap of hearthi_wait_slot(). */
static bool
is_woken(uint32_t name)
{
    return __atomic_load_n(own_word(name), __ATOMIC_ACQUIRE) != 0;
}

/* It is asleep no more, so that it is woken once. */
static void
sleeper_wake(unsigned i)
{
    atomic_fetch_and(&asleep, ~(UINT64_C(1) << i));
    hearthi_event_raise(&event[i]);
}

static void
looks_on(void)
{
    uint64_t who = atomic_load(&asleep);

    if (who != 0 && !atomic_load(&looking))
        sleeper_wake((unsigned)__builtin_ctzll(who));
}

static bool
is_crowd(void)
{
    return hearthi_crowd_may_sleep() || atomic_load(&asleep) != 0;
}

static void
look_for_all(uint32_t name)
{
    uint32_t first = (uint32_t)hearthi_cluster.rank * WORDS + 1;
    unsigned turn = 0;

    while (!is_woken(name) && is_crowd()) {
        for (uint64_t who = atomic_load(&asleep); who != 0; who &= who - 1)
            if (is_woken(first + (uint32_t)__builtin_ctzll(who)))
                sleeper_wake((unsigned)__builtin_ctzll(who));
        hearthi_crowd_turn(&turn);
    }
    atomic_store(&looking, false);
}

static void
sleep_behind(uint32_t name)
{
    unsigned i = (name - 1) % WORDS;
    uint32_t seen = hearthi_event_value(&event[i]);

    atomic_fetch_or(&asleep, UINT64_C(1) << i);
    if (!is_woken(name) && atomic_load(&looking))
        hearthi_crowd_sleep(&event[i], seen);
    atomic_fetch_and(&asleep, ~(UINT64_C(1) << i));
}

void
hearthi_wait_slot_wait(uint32_t name)
{
    unsigned turn = 0;

    while (!is_woken(name))
        if (!is_crowd())
            hearthi_crowd_turn(&turn);
        else if (atomic_exchange(&looking, true))
            sleep_behind(name);
        else
            look_for_all(name);
    looks_on();
    hearthi_wait_slot_end(name);
}

void
hearthi_wait_slot(uint32_t name)
{
    size_t at = own_at + (name - 1) % WORDS * sizeof(uint64_t);

    HEARTHI_ASSERT((int)((name - 1) / WORDS) < hearthi_cluster.size);
    hearthi_fabric_sync_step((int)((name - 1) / WORDS), at, HEARTHI_OP_SWAP,
                             1);
}

/* ---- chains ---- */

void
hearthi_waiters_enter(int sync, uint32_t name, uint32_t *before)
{
    *before = (uint32_t)hearthi_word_op(sync, HEARTHI_WAITERS, HEARTHI_OP_SWAP,
                                        name);
}

void
hearthi_waiters_wake(int sync)
{
    uint32_t last =
        (uint32_t)hearthi_word_op(sync, HEARTHI_WAITERS, HEARTHI_OP_SWAP, 0);

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
