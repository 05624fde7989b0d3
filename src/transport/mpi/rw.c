/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reader-writer locks, phase-fair: the ticket lock PF-T of Brandenburg and
 * Anderson ("Spin-Based Reader-Writer Synchronization for Multiprocessor
 * Real-Time Systems", 2010), with tries, and with writers that take turns as
 * ranks do that take a lock (mcs_lock.h).  Two words at the manager, or in the
 * node's memory where that is all there is, which are only added to:
 *
 *   arrived  readers that have come (44 bits), phase (20)
 *   left     readers that have gone (44), a writer waits (1), tries of
 *            readers under way (19)
 *
 * The writer whose turn it is makes the phase odd, which tells it how many
 * readers have come before, and waits for as many to have gone.  A reader that
 * finds the phase odd waits until it is another, so that the reader waits for
 * one writer at most: the next one waits for the reader.  When a writer
 * leaves, first the phase becomes even and then the next writer has its turn,
 * which would find it odd.
 *
 * No thread polls a manager, where there are several nodes.  Writers wait for
 * their turn in an MCS queue.
 *
 * Readers wait as threads do that wait for a flag (wait_slot.h).  A writer
 * knows from `arrived` whether any came in its phase, and wakes them then.  A
 * reader that is woken looks again: that may have been meant for those of an
 * earlier phase.
 *
 * A writer that has to wait for readers says so in `left`, and takes away how
 * many it waits for: the reader whose step makes the rest of that word 0 is
 * the last one, and wakes the writer.  For that the reader takes the writer's
 * name out of a third word, so that each name is woken once.  A writer that
 * has left its name looks again: if all have gone it takes its name back,
 * unless the last one has it.  Nor may it trust that it was woken: a try that
 * finds itself refused may have been the last one before, for another writer,
 * and be late.
 *
 * On one node each looks at the words in the node's memory, and the same two
 * steps raise an event at which threads sleep that are more than cores.
 *
 * A try must not come where it would have to wait.
 *
 * To read it announces itself in `left`, and only then looks whether the phase
 * is even.  If so any writer that comes later waits until the try is over, and
 * it becomes a reader in the step that ends it: since it was not counted as
 * one that has come, one less has gone.  If not it leaves no trace.  A try
 * that finds the phase odd before that does not announce itself, so that
 * threads that try again and again do not detain a writer.
 *
 * To write it takes the writers' turn if that rests.  Then it makes the phase
 * odd as others do; if readers are inside it makes the phase even again and
 * leaves.  It waits for tries of readers that are under way, each a step or
 * two, or both might fail, which must not happen to threads that find the lock
 * free.  It looks before all that, too.
 *
 * A phase that such a try has ended may have seen readers come that still look
 * for its end.  They find it as long as the phase has not gone round: while
 * they wait as if inside no writer gets further than to make it odd once, and
 * no try does that has looked since.  So that takes as many threads with a try
 * under way.
 *
 * What is told is in a log.  It is written before the step by which others
 * come in, and read after that.  A writer is alone with it, as a holder is
 * with a lock's; readers may write and read it at the same time, as a flag's.
 */
#include "config.h"

#include "base/assert.h"
#include "cluster.h"
#include "flag.h"
#include "node/node.h"
#include "node/relax.h"
#include "rma_object.h"
#include "wait_slot.h"

/* In the managed object: WAITS has the name of a writer that waits, or 0. */
enum { ARRIVED = 40, LEFT = 48, WAITS = 56, FIRST = ARRIVED };

_Static_assert(WAITS + sizeof(uint64_t) <= HEARTHI_BODY,
               "its words are in the head");

enum { PHASE_BITS = HEARTHI_TEST_LIMIT(20, 6) };

#define PHASES (((uint64_t)1 << PHASE_BITS) - 1)
#define READER ((uint64_t)1 << PHASE_BITS) /* in `arrived` and in `left` */
#define TRIER  ((uint64_t)1)               /* in `left` */
#define WAITED (READER / 2)                /* in `left` */

/* What the writer of each knows, if it is of this rank: the word before it
 * made the phase odd, and the log as it has found it. */
static struct known {
    uint64_t               arrived;
    struct hearthi_serving serving;
    struct hearthi_log     log;
} known[HEARTH_RWLOCKS];

/* ---- steps ---- */

static struct known *
known_of(int sync)
{
    HEARTHI_ASSERT(hearthi_is_rw(sync));
    return &known[sync - HEARTHI_RWS_AT];
}

static _Atomic uint64_t *
near_word(int sync, size_t word)
{
    return &hearthi_node.area->rw[sync - HEARTHI_RWS_AT]
                .word[(word - FIRST) / sizeof(uint64_t)];
}

static uint64_t
look(int sync, size_t word)
{
    if (hearthi_cluster.nodes == 1)
        return atomic_load(near_word(sync, word));
    return hearthi_word_op(sync, word, HEARTHI_OP_READ, 0);
}

static uint64_t
add(int sync, size_t word, uint64_t value)
{
    if (hearthi_cluster.nodes == 1)
        return atomic_fetch_add(near_word(sync, word), value);
    return hearthi_word_op(sync, word, HEARTHI_OP_ADD, value);
}

/* Where there is one node its threads wait at events. */
enum { READERS, WRITER };

/* A step that may be what a writer waits for. */
static void
left_add(int sync, uint64_t value)
{
    uint32_t name;

    if (add(sync, LEFT, value) + value != WAITED)
        return;
    if (hearthi_cluster.nodes == 1) {
        hearthi_event_raise(hearthi_node_lock_event(sync, WRITER));
        return;
    }
    name = (uint32_t)hearthi_word_op(sync, WAITS, HEARTHI_OP_SWAP, 0);
    if (name != 0)
        hearthi_wait_slot(name);
}

static void
readers_wake(int sync)
{
    if (hearthi_cluster.nodes == 1)
        hearthi_event_raise(hearthi_node_lock_event(sync, READERS));
    else
        hearthi_waiters_wake(sync);
}

/* A name to be woken by, or 0 after a pause. */
static uint32_t
name_begin(struct hearthi_patience *p)
{
    uint32_t name = hearthi_wait_slot_begin();

    if (name == 0)
        hearthi_patience_pause(p, 1);
    return name;
}

static bool
is_odd(uint64_t arrived)
{
    return arrived % 2 != 0;
}

/* ---- readers ---- */

static bool
read_try(int sync)
{
    bool free;

    if (is_odd(look(sync, ARRIVED)))
        return false;
    add(sync, LEFT, TRIER);
    free = !is_odd(look(sync, ARRIVED));
    left_add(sync, free ? -READER - TRIER : -TRIER);
    return free;
}

static bool
is_phase(int sync, uint64_t phase)
{
    return (look(sync, ARRIVED) & PHASES) == phase;
}

static void
near_phase_wait(int sync, uint64_t phase)
{
    struct hearthi_event *e = hearthi_node_lock_event(sync, READERS);
    unsigned              turn = 0;
    uint32_t              seen;

    while (seen = hearthi_event_value(e), is_phase(sync, phase))
        hearthi_crowd_wait(e, seen, &turn);
}

static void
phase_wait(int sync, uint64_t phase)
{
    struct hearthi_patience p = { 0 };
    uint32_t                name, before;

    if (hearthi_cluster.nodes == 1) {
        near_phase_wait(sync, phase);
        return;
    }
    do {
        name = name_begin(&p);
        if (name == 0)
            continue;
        hearthi_waiters_enter(sync, name, &before);
        if (!is_phase(sync, phase))
            hearthi_waiters_wake(sync);
        hearthi_waiters_wait(name, before);
    } while (is_phase(sync, phase));
}

static bool
read_enter(int sync, bool try)
{
    uint64_t phase;

    if (try)
        return read_try(sync);
    phase = add(sync, ARRIVED, READER) & PHASES;
    if (is_odd(phase))
        phase_wait(sync, phase);
    return true;
}

/* ---- writers ---- */

static bool
seems_free(int sync)
{
    uint64_t arrived = look(sync, ARRIVED);

    return !is_odd(arrived) &&
           arrived >> PHASE_BITS == look(sync, LEFT) >> PHASE_BITS;
}

/* The phase goes round without a carry: its writer alone moves it. */
static void
write_leave(int sync)
{
    uint64_t came = known_of(sync)->arrived, now;

    HEARTHI_ASSERT(!is_odd(came) && is_odd(look(sync, ARRIVED)));
    now = add(sync, ARRIVED, (came & PHASES) + 1 == PHASES ? -PHASES : 1);
    if (now >> PHASE_BITS != came >> PHASE_BITS)
        readers_wake(sync);
    hearthi_turn_leave(hearthi_turn_of(sync));
}

static void
near_readers_wait(int sync)
{
    struct hearthi_event *e = hearthi_node_lock_event(sync, WRITER);
    unsigned              turn = 0;
    uint32_t              seen;

    while (seen = hearthi_event_value(e), look(sync, LEFT) != WAITED)
        hearthi_crowd_wait(e, seen, &turn);
}

static void
far_readers_wait(int sync)
{
    struct hearthi_patience p = { 0 };
    uint32_t                name;

    do {
        name = name_begin(&p);
        if (name == 0)
            continue;
        hearthi_word_op(sync, WAITS, HEARTHI_OP_SWAP, name);
        if (look(sync, LEFT) == WAITED &&
            hearthi_word_op(sync, WAITS, HEARTHI_OP_SWAP, 0) != 0)
            hearthi_wait_slot_end(name);
        else
            hearthi_wait_slot_wait(name);
    } while (look(sync, LEFT) != WAITED);
}

/* All of `gone` must have: those that were there when the phase became odd. */
static void
readers_wait(int sync, uint64_t gone)
{
    if (look(sync, LEFT) == gone)
        return;
    add(sync, LEFT, WAITED - gone);
    if (hearthi_cluster.nodes == 1)
        near_readers_wait(sync);
    else
        far_readers_wait(sync);
    add(sync, LEFT, gone - WAITED);
}

/* Tries are soon over. */
static bool
readers_try(int sync, uint64_t gone)
{
    struct hearthi_patience p = { 0 };
    uint64_t                left;

    while ((left = look(sync, LEFT)) != gone) {
        if (left >> PHASE_BITS != gone >> PHASE_BITS)
            return false;
        hearthi_patience_pause(&p, 1);
    }
    return true;
}

static bool
write_enter(int sync, bool try)
{
    uint64_t arrived;

    if ((try && !seems_free(sync)) ||
        !hearthi_turn_take(hearthi_turn_of(sync), try))
        return false;
    arrived = add(sync, ARRIVED, 1);
    HEARTHI_ASSERT(!is_odd(arrived));
    known_of(sync)->arrived = arrived;
    if (!try)
        readers_wait(sync, arrived & ~PHASES);
    else if (!readers_try(sync, arrived & ~PHASES)) {
        write_leave(sync);
        return false;
    }
    return true;
}

/* ---- the log ---- */

static void
learn(int sync, bool write, struct hearthi_grant *g)
{
    struct hearthi_serving s = hearthi_serving_now(sync);

    if (write) {
        known_of(sync)->serving = s;
        hearthi_grant_refresh(g);
        hearthi_log_get(sync, s, g, &known_of(sync)->log);
    } else {
        hearthi_flag_log(sync, s, g);
    }
}

static void
tell(int sync, bool write, const struct hearthi_notice *n, size_t count)
{
    struct known *k = known_of(sync);

    if (write) {
        hearthi_log_put(sync, &k->serving, &k->log, hearthi_epochs.release, n,
                        count);
        hearthi_word_op(sync, HEARTHI_SERVING, HEARTHI_OP_SWAP,
                        hearthi_serving_make(k->serving));
    } else {
        hearthi_flag_change(sync, false, n, count); /* its value is nothing */
    }
}

/* ---- both; the fences are as those of locks (sync.c) ---- */

bool
hearthi_mpi_rw_acquire(int sync, bool write, bool try, struct hearthi_grant *g)
{
    if (!(write ? write_enter(sync, try) : read_enter(sync, try)))
        return false;
    if (hearthi_cluster.nodes > 1)
        learn(sync, write, g);
    atomic_thread_fence(memory_order_acquire);
    return true;
}

void
hearthi_mpi_rw_release(int sync, bool write, const struct hearthi_notice *n,
                       size_t count)
{
    atomic_thread_fence(memory_order_release);
    if (count > 0)
        tell(sync, write, n, count);
    if (write)
        write_leave(sync);
    else
        left_add(sync, READER);
}
