/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks and flags.
 *
 * Inside a node a ticket lock on C11 atomics stands in front; the rank that
 * has it competes for the lock between nodes, or inherits it from the rank of
 * its node that had it last if no other node waits.
 *
 * Between nodes the lock is a ticket lock, a fair queue, of two words at its
 * manager, moved by MPI_Fetch_and_op only:
 *
 *   next     tickets given (48 bits) and tries under way (16 bits above)
 *   serving  ticket served (16 bits), epoch (16 bits), end of the log (32)
 *
 * One Fetch_and_op on `serving` therefore tells whether it is our turn and
 * whether the log has news.  Only the holder writes `serving` and the log;
 * the log is written and flushed first.
 *
 * A try adds one to the tries.  It has the lock if no other try was under way
 * and every ticket given had been served; else it takes its one back: it
 * never holds a ticket that it would have to wait for.  A rank that draws a
 * ticket while a try is under way waits until there is none: from then on
 * tries fail, since its ticket is not served.  `serving` is read in a flush of
 * its own after `next` was changed: read in the same one it might come first
 * and miss what a try appended in between.
 */
#include "config.h"

#include <string.h>

#include "base/report.h"
#include "mpi.h"
#include "world.h"

/* Within a managed object at its manager. */
enum { NEXT = 0, SERVING = 8, LOG = 64, OBJECT = 4096 };

_Static_assert(LOG + HEARTHI_LOG * sizeof(struct hearthi_notice) <= OBJECT,
               "a log fits its object");

#define TRY      (UINT64_C(1) << 48)
#define NO_TRIES (TRY - 1)

/* A flag's value sits where a lock's ticket does not reach: flags are locked
 * by tickets too, so their serving word keeps 15 bits for the ticket. */
#define FLAG_SET (UINT64_C(1) << 63)
#define TICKETS  UINT16_C(0x7fff)

struct word {
    bool               set;
    uint16_t           ticket;
    struct hearthi_log log;
};

static struct word
word_read(uint64_t w)
{
    return (struct word){ (w & FLAG_SET) != 0,
                          (uint16_t)(w >> 48 & TICKETS),
                          { (uint16_t)(w >> 32), (uint32_t)w } };
}

static uint64_t
word_make(struct word w)
{
    return (w.set ? FLAG_SET : 0) | (uint64_t)(w.ticket & TICKETS) << 48 |
           (uint64_t)w.log.epoch << 32 | w.log.end;
}

static int
manager(int sync)
{
    return hearthi_manager(sync, hearthi_world.size);
}

static size_t
object_at(int sync)
{
    return hearthi_managed_at(sync, hearthi_world.size) * OBJECT;
}

static uint64_t
word_op(int sync, size_t word, MPI_Op op, uint64_t value)
{
    return hearthi_fetch_op(hearthi_mpi.sync, manager(sync),
                            object_at(sync) + word, op, value);
}

/* MPICH 4.0.2 misplaces data unless a window's size is a multiple of 16. */
void
hearthi_sync_open(void)
{
    size_t   bytes = hearthi_managed_count(hearthi_world.size) * OBJECT;
    MPI_Info info = hearthi_window_info();
    char    *base;

    HEARTHI_MPI(MPI_Win_allocate((MPI_Aint)bytes, 1, info,
                                 hearthi_world.comm, &base,
                                 &hearthi_mpi.sync));
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(hearthi_mpi.sync, MPI_ERRORS_RETURN);
    for (size_t at = 0; at < bytes; at += OBJECT)
        memset(base + at, 0, LOG);
    HEARTHI_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, hearthi_mpi.sync));
    HEARTHI_MPI(MPI_Win_sync(hearthi_mpi.sync));
    HEARTHI_MPI(MPI_Barrier(hearthi_world.comm));
}

void
hearthi_sync_close(void)
{
    MPI_Win_unlock_all(hearthi_mpi.sync);
    MPI_Win_free(&hearthi_mpi.sync);
}

/* ---- inside the node ---- */

static struct hearthi_node_lock *
node_lock(int sync)
{
    return &hearthi_mpi.node->lock[sync];
}

static bool
node_acquire(struct hearthi_node_lock *l, bool try)
{
    unsigned mine, turn = 0;

    if (try) {
        mine = atomic_load(&l->serving);
        return atomic_compare_exchange_strong(&l->next, &mine, mine + 1);
    }
    mine = atomic_fetch_add(&l->next, 1);
    while (atomic_load_explicit(&l->serving, memory_order_acquire) != mine)
        hearthi_relax(&turn);
    return true;
}

static void
node_release(struct hearthi_node_lock *l)
{
    atomic_fetch_add_explicit(&l->serving, 1, memory_order_release);
}

static bool
node_mate_waits(const struct hearthi_node_lock *l)
{
    return atomic_load(&l->next) - atomic_load(&l->serving) > 1;
}

/* ---- between nodes ---- */

/* Wait in step with the number of tickets that come before ours, so that a
 * crowd does not load the manager. */
static void
queue_pause(unsigned before, unsigned *turn)
{
    for (unsigned i = 0; i < 16 * before; i++)
        hearthi_relax(turn);
}

static uint64_t
serving_read(int sync)
{
    return word_op(sync, SERVING, MPI_NO_OP, 0);
}

static uint64_t
turn_wait(int sync, uint16_t ticket)
{
    uint64_t serving;
    unsigned turn = 0;

    while (serving = serving_read(sync), word_read(serving).ticket != ticket)
        queue_pause((ticket - word_read(serving).ticket) & TICKETS, &turn);
    return serving;
}

static void
queue_acquire(int sync, struct hearthi_node_lock *l)
{
    uint64_t next = word_op(sync, NEXT, MPI_SUM, 1);
    unsigned turn = 0;

    l->ticket = (uint16_t)(next & TICKETS);
    l->word = turn_wait(sync, l->ticket);
    l->tried = false;
    if (next <= NO_TRIES)
        return;
    while (word_op(sync, NEXT, MPI_NO_OP, 0) > NO_TRIES)
        queue_pause(1, &turn);
    l->word = serving_read(sync);
}

static bool
queue_try(int sync, struct hearthi_node_lock *l)
{
    uint64_t next = word_op(sync, NEXT, MPI_SUM, TRY);
    uint64_t serving = serving_read(sync);

    l->ticket = (uint16_t)(next & TICKETS);
    if (next > NO_TRIES || word_read(serving).ticket != l->ticket) {
        word_op(sync, NEXT, MPI_SUM, -TRY);
        return false;
    }
    l->word = serving;
    l->tried = true;
    return true;
}

/* Has another node drawn a ticket behind the one that we hold? */
static bool
other_node_waits(int sync, const struct hearthi_node_lock *l)
{
    uint64_t next = word_op(sync, NEXT, MPI_NO_OP, 0);

    return (next & TICKETS) != ((l->ticket + !l->tried) & TICKETS);
}

/* A try leaves the ticket as it is, for the rank that may have drawn it. */
static void
queue_release(int sync, struct hearthi_node_lock *l)
{
    struct word w = word_read(l->word);

    if (!l->tried)
        w.ticket++;
    word_op(sync, SERVING, MPI_REPLACE, word_make(w));
    if (l->tried)
        word_op(sync, NEXT, MPI_SUM, -TRY);
}

static bool
sync_enter(int sync, bool try)
{
    struct hearthi_node_lock *l = node_lock(sync);

    if (!node_acquire(l, try))
        return false;
    if (hearthi_world.nodes == 1 || l->ours)
        return true;
    if (!try)
        queue_acquire(sync, l);
    else if (!queue_try(sync, l)) {
        node_release(l);
        return false;
    }
    l->ours = true;
    return true;
}

static void
sync_leave(int sync)
{
    struct hearthi_node_lock *l = node_lock(sync);

    if (hearthi_world.nodes > 1 &&
        (!node_mate_waits(l) || other_node_waits(sync, l))) {
        queue_release(sync, l);
        l->ours = false;
    }
    node_release(l);
}

/* ---- the log ---- */

enum direction { READ, WRITE };

static void
log_move(int sync, enum direction dir, const struct hearthi_span *span,
         struct hearthi_notice *notice)
{
    for (int i = 0; i < 2; i++) {
        int      len = (int)(span[i].n * sizeof *notice);
        MPI_Aint where =
            (MPI_Aint)(object_at(sync) + LOG + span[i].at * sizeof *notice);

        if (len == 0)
            continue;
        if (dir == READ)
            HEARTHI_MPI(MPI_Get(notice, len, MPI_BYTE, manager(sync), where,
                                len, MPI_BYTE, hearthi_mpi.sync));
        else
            HEARTHI_MPI(MPI_Put(notice, len, MPI_BYTE, manager(sync), where,
                                len, MPI_BYTE, hearthi_mpi.sync));
        hearthi_mpi_count(manager(sync), (size_t)len);
        notice += span[i].n;
    }
    hearthi_flush(hearthi_mpi.sync, manager(sync));
}

static void
log_read(int sync, uint64_t serving, struct hearthi_grant *g)
{
    struct word           w = word_read(serving);
    struct hearthi_span   span[2];
    enum hearthi_log_news news =
        hearthi_log_read(&w.log, g->epoch, &g->pos, span);

    g->n = span[0].n + span[1].n;
    g->ahead = news == HEARTHI_LOG_AHEAD;
    g->everything = g->ahead || news == HEARTHI_LOG_LOST;
    if (g->n > 0)
        log_move(sync, READ, span, g->notice);
}

/* Append and return the serving word that says so. */
static uint64_t
log_append(int sync, uint64_t serving, uint16_t epoch,
           const struct hearthi_notice *n, size_t count)
{
    struct word         w = word_read(serving);
    struct hearthi_span span[2];

    if (hearthi_log_append(&w.log, epoch, (uint32_t)count, span))
        log_move(sync, WRITE, span, (struct hearthi_notice *)n);
    return word_make(w);
}

/* ---- the transport's functions ---- */

/* What RMA wrote here, and what we wrote for RMA to read, is ordered as by
 * MPI_Win_sync: in the unified model that is a fence. */

bool
hearthi_mpi_acquire(int sync, bool try, struct hearthi_grant *g)
{
    if (!sync_enter(sync, try))
        return false;
    if (hearthi_world.nodes > 1)
        log_read(sync, node_lock(sync)->word, g);
    atomic_thread_fence(memory_order_acquire);
    return true;
}

void
hearthi_mpi_release(int sync, uint16_t epoch, const struct hearthi_notice *n,
                    size_t count)
{
    struct hearthi_node_lock *l = node_lock(sync);

    atomic_thread_fence(memory_order_release);
    if (hearthi_world.nodes > 1)
        l->word = log_append(sync, l->word, epoch, n, count);
    sync_leave(sync);
}

/* Change a flag's value under its own lock. */
static void
flag_change(int sync, bool set, uint16_t epoch, const struct hearthi_notice *n,
            size_t count)
{
    struct hearthi_node_lock *l = node_lock(sync);

    atomic_thread_fence(memory_order_release);
    sync_enter(sync, false);
    if (hearthi_world.nodes > 1) {
        l->word = log_append(sync, l->word, epoch, n, count);
        l->word = set ? l->word | FLAG_SET : l->word & ~FLAG_SET;
        /* waiters look at the manager's word, so it goes there now */
        queue_release(sync, l);
        l->ours = false;
        node_release(l);
        return;
    }
    atomic_store_explicit(&l->value, set, memory_order_release);
    sync_leave(sync);
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
    struct hearthi_node_lock *l = node_lock(sync);
    unsigned                  turn = 0;
    uint32_t                  from = g->pos;
    uint64_t                  word;
    struct word               again;

    if (hearthi_world.nodes == 1) {
        while (!atomic_load_explicit(&l->value, memory_order_acquire))
            hearthi_relax(&turn);
        return;
    }
    while (word = serving_read(sync), !(word & FLAG_SET))
        hearthi_relax(&turn);
    log_read(sync, word, g);
    if (g->n == 0)
        return;
    again = word_read(serving_read(sync));
    if (again.log.epoch != word_read(word).log.epoch ||
        again.log.end - from > HEARTHI_LOG) {
        g->everything = true;
        g->n = 0;
    }
    atomic_thread_fence(memory_order_acquire);
}
