/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reader-writer locks, phase-fair: the ticket lock PF-T of Brandenburg and
 * Anderson ("Spin-Based Reader-Writer Synchronization for Multiprocessor
 * Real-Time Systems", 2010), and tries.  Three words at the manager, or in the
 * node's memory where that is all there is, which are only added to:
 *
 *   arrived  readers that have come (44 bits), phase (20)
 *   left     readers that have gone (44), tries of readers under way (20)
 *   writers  tickets drawn (32), writers that are there (32)
 *
 * The writer whose turn it is, when as many are there as have drawn a ticket
 * from his on, makes the phase odd, which tells him how many readers have come
 * before, and waits for as many to have gone.  A reader who finds the phase
 * odd waits until it is another, so that he waits for one writer at most: the
 * next one waits for him.  When a writer leaves, first the phase becomes even
 * and then the next writer has his turn, who would find it odd.
 *
 * A try must not come where it would have to wait.
 *
 * To read it announces itself in `left`, and only then looks whether the phase
 * is even.  If so any writer who comes later waits until the try is over, and
 * it becomes a reader in the step that ends it: since it was not counted as
 * one who has come, one less has gone.  If not it leaves no trace.  Who finds
 * the phase odd before that does not announce himself, so that those who try
 * again and again do not detain a writer.
 *
 * To write it takes part without a ticket: that moves back the turn of
 * everybody, and it has the lock if no writer was there.  Then it makes the
 * phase odd as others do; if readers are inside it makes the phase even again
 * and leaves.  It waits for tries of readers that are under way, each a step
 * or two, or both might fail, which is to be kept from those who find the
 * lock free.  It looks before all that, too.
 *
 * A phase that such a try has ended may have seen readers come that still look
 * for its end.  They find it as long as the phase has not gone round: while
 * they wait as if inside no writer gets further than to make it odd once, and
 * no try does who has looked since.  So that takes as many threads with a try
 * under way.
 *
 * What is told is in a log.  It is written before the step by which others
 * come in, and read after that.  A writer is alone with it, as a holder is
 * with a lock's; readers may write and read it at the same time, as a flag's.
 */
#include "config.h"

#include "flag.h"
#include "managed.h"
#include "queue.h"
#include "world.h"

/* In the managed object, where locks have words of theirs. */
enum { ARRIVED = 40, LEFT = 48, WRITERS = 56, FIRST = ARRIVED };

_Static_assert(WRITERS + sizeof(uint64_t) <= HEARTHI_LOG_AT,
               "its words are before the log");

enum { PHASE_BITS = HEARTHI_BOUND(20, 6), TICKET_BITS = 32 };

#define PHASES (((uint64_t)1 << PHASE_BITS) - 1)
#define READER ((uint64_t)1 << PHASE_BITS) /* in `arrived` and in `left` */
#define TRIER  ((uint64_t)1)               /* in `left` */
#define TICKET ((uint64_t)1 << TICKET_BITS)
#define WRITER ((uint64_t)1)

/* What the writer of each knows, if he is of this rank: his phase, and the log
 * as he has found it. */
static struct known {
    uint64_t               phase;
    struct hearthi_serving serving;
    struct hearthi_log     log;
} known[HEARTH_RWLOCKS];

/* ---- steps ---- */

static struct known *
known_of(int sync)
{
    return &known[sync - HEARTHI_RWS_AT];
}

static _Atomic uint64_t *
near_word(int sync, size_t word)
{
    return &hearthi_mpi.node->rw[sync - HEARTHI_RWS_AT]
                .word[(word - FIRST) / sizeof(uint64_t)];
}

static uint64_t
look(int sync, size_t word)
{
    if (hearthi_world.nodes == 1)
        return atomic_load(near_word(sync, word));
    return hearthi_word_op(sync, word, MPI_NO_OP, 0);
}

static uint64_t
add(int sync, size_t word, uint64_t value)
{
    if (hearthi_world.nodes == 1)
        return atomic_fetch_add(near_word(sync, word), value);
    return hearthi_word_op(sync, word, MPI_SUM, value);
}

static void
wait_some(struct hearthi_patience *p, uint32_t before)
{
    if (hearthi_world.nodes == 1)
        hearthi_relax(&p->turn);
    else
        hearthi_patience_pause(p, before);
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
    add(sync, LEFT, free ? -READER - TRIER : -TRIER);
    return free;
}

static bool
read_enter(int sync, bool try)
{
    struct hearthi_patience p = { 0 };
    uint64_t                phase;

    if (try)
        return read_try(sync);
    phase = add(sync, ARRIVED, READER) & PHASES;
    while (is_odd(phase) && (look(sync, ARRIVED) & PHASES) == phase)
        wait_some(&p, 1);
    return true;
}

/* ---- writers ---- */

/* How many come before this ticket. */
static uint32_t
before(uint32_t ticket, uint64_t writers)
{
    return ticket - ((uint32_t)(writers >> TICKET_BITS) - (uint32_t)writers);
}

static void
turn_wait(int sync)
{
    struct hearthi_patience p = { 0 };
    uint64_t                writers = add(sync, WRITERS, TICKET + WRITER);
    uint32_t                ticket = (uint32_t)(writers >> TICKET_BITS), n;

    for (; (n = before(ticket, writers)) > 0; writers = look(sync, WRITERS))
        wait_some(&p, n);
}

static bool
seems_free(int sync)
{
    uint64_t arrived;

    if ((uint32_t)look(sync, WRITERS) != 0)
        return false;
    arrived = look(sync, ARRIVED);
    return arrived >> PHASE_BITS == look(sync, LEFT) >> PHASE_BITS;
}

static bool
turn_try(int sync)
{
    if (!seems_free(sync))
        return false;
    if ((uint32_t)add(sync, WRITERS, WRITER) == 0)
        return true;
    add(sync, WRITERS, -WRITER);
    return false;
}

/* The phase goes round without a carry: its writer alone moves it. */
static void
write_leave(int sync)
{
    uint64_t phase = known_of(sync)->phase;

    add(sync, ARRIVED, phase == PHASES ? -PHASES : 1);
    add(sync, WRITERS, -WRITER);
}

/* Those that were there when the phase became odd. */
static bool
readers_wait(int sync, uint64_t arrived, bool try)
{
    struct hearthi_patience p = { 0 };
    uint64_t                left;

    while ((left = look(sync, LEFT)) != (arrived & ~PHASES)) {
        if (try && left >> PHASE_BITS != arrived >> PHASE_BITS)
            return false;
        wait_some(&p, 1);
    }
    return true;
}

static bool
write_enter(int sync, bool try)
{
    uint64_t arrived;

    if (try && !turn_try(sync))
        return false;
    if (!try)
        turn_wait(sync);
    arrived = add(sync, ARRIVED, 1);
    known_of(sync)->phase = (arrived & PHASES) + 1;
    if (readers_wait(sync, arrived, try))
        return true;
    write_leave(sync);
    return false;
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
        hearthi_word_op(sync, HEARTHI_SERVING, MPI_REPLACE,
                        hearthi_serving_make(k->serving));
    } else {
        hearthi_flag_change(sync, false, n, count); /* its value is nothing */
    }
}

/* ---- both ---- */

bool
hearthi_mpi_rw_acquire(int sync, bool write, bool try, struct hearthi_grant *g)
{
    if (!(write ? write_enter(sync, try) : read_enter(sync, try)))
        return false;
    if (hearthi_world.nodes > 1)
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
        add(sync, LEFT, READER);
}
