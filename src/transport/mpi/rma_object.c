/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks and flags as their manager's memory has them.
 */
#include "config.h"

#include "rma_object.h"

#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/min.h"
#include "base/report.h"
#include "cluster.h"
#include "fabric.h"
#include "mcs_lock.h"
#include "mcs_nodes.h"
#include "node/lock_names.h"
#include "wait_slot.h"

_Static_assert(HEARTHI_LOG <= UINT8_MAX, "serving tells how much is whole");

/* Objects from a number on whose bodies have the same size, in bytes, and
 * where in its manager's window those begin; `first_at` is managed_at() of the
 * first.  Of each kind (log.h) there are two, those that have long logs and
 * the others, who may be none. */
static struct run {
    int    first;
    size_t first_at, each, at;
} run[2 * HEARTHI_SYNC_KINDS];

enum { RUNS = sizeof run / sizeof *run, CONDS = 2 * HEARTHI_SYNC_COND };

static int
manager(int sync)
{
    return hearthi_manager(sync, hearthi_cluster.size);
}

/* Of those with names, as of those without, a manager has one in `size`. */
static size_t
managed_at(int sync)
{
    return hearthi_managed_at(sync, hearthi_cluster.size);
}

static const struct run *
run_of(int sync)
{
    int i = RUNS - 1;

    HEARTHI_ASSERT(sync >= 0 && sync < hearthi_syncs);
    while (sync < run[i].first)
        i--;
    return &run[i];
}

/* Heads of those that have names lie behind the others. */
static size_t
head_at(int sync)
{
    size_t before = hearthi_is_named(sync)
                        ? hearthi_managed_count(hearthi_cluster.size)
                        : 0;

    HEARTHI_ASSERT(sync >= 0 && sync < hearthi_syncs);
    return (before + managed_at(sync)) * HEARTHI_BODY;
}

static size_t
body_in(const struct run *r, int sync)
{
    return r->at + (managed_at(sync) - r->first_at) * r->each;
}

static size_t
body_at(int sync)
{
    return body_in(run_of(sync), sync);
}

/* The bytes of all heads. */
static size_t
heads_bytes(void)
{
    return (hearthi_managed_count(hearthi_cluster.size) +
            hearthi_lock_names_each) *
           HEARTHI_BODY;
}

static size_t
body_bytes(int sync)
{
    return hearthi_sync_kind(sync) == HEARTHI_SYNC_COND
               ? HEARTHI_COND_SLOTS * sizeof(uint64_t)
               : hearthi_log_room(sync) * sizeof(struct hearthi_notice);
}

/* Bodies of the objects from `first` up to `end`, from a place on.  Gives
 * where they end. */
static size_t
run_place(struct run *r, int first, int end, size_t at)
{
    *r = (struct run){ first, managed_at(first), body_bytes(first), at };
    HEARTHI_ASSERT(r->each % 16 == 0); /* what follows is in line */
    return first < end ? at + (managed_at(end - 1) - r->first_at + 1) * r->each
                       : at;
}

/* All bodies; the same for every rank. */
static size_t
bodies_place(size_t at)
{
    for (int k = 0; k < HEARTHI_SYNC_KINDS; k++) {
        int first = hearthi_sync_first[k];
        int end = k < HEARTHI_SYNC_KINDS - 1 ? hearthi_sync_first[k + 1]
                                             : hearthi_syncs;
        int more = (int)hearthi_min((uint64_t)first + HEARTHI_LOGS_LONG,
                                    (uint64_t)end);

        at = run_place(&run[2 * k], first, more, at);
        at = run_place(&run[2 * k + 1], more, end, at);
    }
    return at;
}

uint64_t
hearthi_word_op(int sync, size_t word, enum hearthi_fabric_op op,
                uint64_t value)
{
    size_t at = word < HEARTHI_BODY ? head_at(sync) + word
                                    : body_at(sync) + word - HEARTHI_BODY;

    return hearthi_fabric_sync_step(manager(sync), at, op, value);
}

/* As it is at first, and its place.  Its memory is not touched before, as
 * there may be more of it than is ever in use. */
void
hearthi_mpi_begin(int sync)
{
    for (size_t word = 0; word < HEARTHI_BODY; word += sizeof(uint64_t))
        hearthi_word_op(sync, word, HEARTHI_OP_SWAP, 0);
    hearthi_mcs_lock_begin(sync);
}

static char *base; /* of those that this rank manages */

void
hearthi_sync_open(void)
{
    size_t objects = bodies_place(heads_bytes());
    size_t bytes =
        objects + hearthi_mcs_nodes_bytes() + hearthi_wait_slot_bytes();

    if (hearthi_cluster.nodes > HEARTHI_NODES_MOST)
        hearthi_fatal("hearth_init",
                      "%d nodes are more than %d: set HEARTH_NODE_SIZE higher",
                      hearthi_cluster.nodes, HEARTHI_NODES_MOST);
    base = hearthi_fabric->sync_open(bytes);
    memset(base, 0,
           hearthi_managed_count(hearthi_cluster.size) * HEARTHI_BODY);
    memset(base + run[CONDS].at, 0, run[CONDS + 2].at - run[CONDS].at);
    hearthi_mcs_lock_open(base + objects, objects);
    objects += hearthi_mcs_nodes_bytes();
    hearthi_wait_slot_open(base + objects, objects);
    hearthi_fabric->sync_ready();
}

void
hearthi_sync_close(void)
{
    hearthi_fabric->sync_close();
    hearthi_mcs_lock_close();
}

/* ---- serving ---- */

#define FLAG_SET (UINT64_C(1) << 63)
enum { AHEAD_MOST = 2 };

struct hearthi_serving
hearthi_serving_read(uint64_t word)
{
    return (struct hearthi_serving){
        (word & FLAG_SET) != 0, (uint16_t)(word >> 47),
        (uint8_t)(word >> 40 & (HEARTHI_EPOCHS - 1)), (uint8_t)(word >> 32),
        (uint32_t)word
    };
}

uint64_t
hearthi_serving_make(struct hearthi_serving s)
{
    HEARTHI_ASSERT(s.epoch < HEARTHI_EPOCHS);
    return (s.set ? FLAG_SET : 0) | (uint64_t)s.ticket << 47 |
           (uint64_t)s.epoch << 40 | (uint64_t)s.whole << 32 | s.end;
}

uint64_t
hearthi_serving_get(int sync)
{
    return hearthi_word_op(sync, HEARTHI_SERVING, HEARTHI_OP_READ, 0);
}

/* The word is loaded with acquire, as if by a step that reads it. */
struct hearthi_serving
hearthi_serving_own(int sync)
{
    HEARTHI_ASSERT(manager(sync) == hearthi_cluster.rank);
    return hearthi_serving_read(__atomic_load_n(
        (uint64_t *)(void *)(base + head_at(sync) + HEARTHI_SERVING),
        __ATOMIC_ACQUIRE));
}

/* ---- the log ---- */

enum direction { READ, WRITE };

/* Started; to be waited for. */
static void
bytes_move(int sync, size_t at, enum direction dir, void *bytes, size_t len)
{
    HEARTHI_ASSERT(len > 0);
    if (dir == READ)
        hearthi_fabric_sync_get(manager(sync), at, bytes, len);
    else
        hearthi_fabric_sync_put(manager(sync), at, bytes, len);
}

static void
log_move(int sync, enum direction dir, const struct hearthi_ring_span *span,
         struct hearthi_notice *notice)
{
    const struct run *r = run_of(sync);
    size_t            body = body_in(r, sync);

    for (int i = 0; i < 2; i++) {
        size_t at = span[i].at * sizeof *notice;
        size_t len = span[i].n * sizeof *notice;

        HEARTHI_ASSERT(at + len <= r->each);
        if (len > 0)
            bytes_move(sync, body + at, dir, notice, len);
        notice += span[i].n;
    }
}

/* The same for the log's epoch. */
static void
epoch_move(int sync, enum direction dir, uint64_t *epoch)
{
    bytes_move(sync, head_at(sync) + HEARTHI_EPOCH, dir, epoch, sizeof *epoch);
}

/* How many epochs a log seems to be ahead, or more than AHEAD_MOST if it is
 * past.  `epoch` must have been read after s, or a log that is far ahead of it
 * would be taken for one that is past. */
static unsigned
epochs_ahead(struct hearthi_serving s, uint64_t epoch)
{
    return (s.epoch - (unsigned)epoch) & (HEARTHI_EPOCHS - 1);
}

void
hearthi_grant_refresh(struct hearthi_grant *g)
{
    uint64_t now = hearthi_epochs.acquire;

    if (g->epoch != now)
        g->pos = 0;
    g->epoch = now;
    g->n = 0;
    g->invalidate_all = false;
    g->ahead = 0;
}

/* Nothing is to be read if the end is where it was in this epoch: then the log
 * was of this epoch, since it was not past and is not ahead now. */
bool
hearthi_log_get(int sync, struct hearthi_serving s, struct hearthi_grant *g,
                struct hearthi_log *log)
{
    struct hearthi_ring_span span[2];
    enum hearthi_log_news    news;
    unsigned                 ahead;

    ahead = epochs_ahead(s, g->epoch);
    *log = (struct hearthi_log){ 0, s.end, s.whole };
    if (s.end == 0 || ahead > AHEAD_MOST) {
        g->pos = 0;
        return false;
    }
    log->epoch = g->epoch + ahead;
    if (ahead == 0 && hearthi_log_is_unchanged(log, g->pos))
        return false;
    news = hearthi_log_read(log, hearthi_log_room(sync), g->epoch,
                            &(uint32_t){ g->pos }, span);
    if (news == HEARTHI_LOG_NEWS)
        log_move(sync, READ, span, g->notice);
    epoch_move(sync, READ, &log->epoch);
    hearthi_fabric_sync_wait(manager(sync));
    news =
        hearthi_log_read(log, hearthi_log_room(sync), g->epoch, &g->pos, span);
    g->n = span[0].n + span[1].n;
    HEARTHI_ASSERT(g->n <= hearthi_log_room(sync));
    HEARTHI_ASSERT(g->pos == s.end || g->pos == 0);
    g->ahead = news == HEARTHI_LOG_AHEAD ? log->epoch : 0;
    g->invalidate_all = g->ahead > 0 || news == HEARTHI_LOG_LOST;
    return true;
}

/* What a log is that the rank with its turn has not read.  One that looks as
 * if it were of this epoch is marked as that, since `epoch` is written again:
 * should it be an old one, some readers get more than they need.  It is not
 * marked as of a later epoch than this rank's, on which the limit of two
 * rests. */
static struct hearthi_log
log_find(int sync, struct hearthi_serving s, uint64_t epoch)
{
    struct hearthi_log log = { 0, s.end, s.whole };
    unsigned           ahead = epochs_ahead(s, epoch);

    if (ahead == 0) {
        log.epoch = epoch;
    } else if (ahead <= AHEAD_MOST) {
        epoch_move(sync, READ, &log.epoch);
        hearthi_fabric_sync_wait(manager(sync));
    }
    return log;
}

/* A full log is read, merged and written anew by the rank that has the turn.
 * What is written must be there until the caller has flushed it, in `all` too,
 * which has room for twice a log: MPI may read it no sooner (MPI-3.1, 11.3).
 */
static void
log_add(int sync, struct hearthi_log *log, uint64_t epoch,
        const struct hearthi_notice *n, uint32_t count,
        struct hearthi_notice *all)
{
    struct hearthi_ring_span span[2];
    uint32_t                 room = hearthi_log_room(sync);

    if (hearthi_log_is_full(log, room, epoch, count, span)) {
        log_move(sync, READ, span, all);
        hearthi_fabric_sync_wait(manager(sync));
        hearthi_log_merge(log, room, all, n, count, span);
        log_move(sync, WRITE, span, all);
    } else if (hearthi_log_append(log, room, epoch, count, span)) {
        log_move(sync, WRITE, span, (struct hearthi_notice *)n);
    }
}

void
hearthi_log_put(int sync, struct hearthi_serving *s,
                const struct hearthi_log *known, uint64_t now,
                const struct hearthi_notice *n, size_t count)
{
    struct hearthi_notice all[2 * HEARTHI_LOG];
    struct hearthi_log    log;

    if (count == 0)
        return;
    log = known != NULL ? *known : log_find(sync, *s, now);
    HEARTHI_ASSERT(known == NULL || known->end == s->end);
    log_add(sync, &log, now, n, (uint32_t)count, all);
    if (known == NULL || log.epoch != known->epoch)
        epoch_move(sync, WRITE, &log.epoch);
    hearthi_fabric_sync_wait(manager(sync));
    /* On one machine the MPI may have stored the log by this processor: the
     * step that publishes it comes after it. */
    atomic_thread_fence(memory_order_release);
    HEARTHI_ASSERT(known == NULL || log.epoch >= known->epoch);
    s->epoch = (uint8_t)(log.epoch & (HEARTHI_EPOCHS - 1));
    s->whole = (uint8_t)log.whole;
    s->end = log.end;
    HEARTHI_ASSERT(s->whole <= hearthi_log_room(sync) && s->whole <= s->end);
}
