/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Checkpoints: the calls.
 */
#include "config.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/cancel.h"
#include "base/hash.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "checkpoint/checkpoint.h"
#include "coherence/coherence.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "life/collective_watch.h"
#include "malloc/malloc.h"
#include "node/node.h"
#include "page/fault.h"
#include "page/pin_count.h"
#include "space/heap.h"
#include "thread_state.h"
#include "world.h"

/* ---- a checkpoint ---- */

#ifndef HAVE_XXHASH_H
_Noreturn static void
no_checksums(const char *call)
{
    hearthi_fatal(call, "this library was built without xxhash, which its "
                        "checksums need: configure it with that");
}
#endif

static void
held_check(const char *call)
{
    int      rwlock = hearthi_rwlock_held();
    uint64_t held;

    hearthi_thread_states_check(call);
    if (rwlock >= 0)
        hearthi_fatal(call,
                      "rwlock %d is held by this rank: call hearth_rwunlock "
                      "first",
                      rwlock);
    if (hearthi_opt.races != HEARTHI_RACES_OFF)
        hearthi_fatal(call,
                      "HEARTH_RACES=writes has words of its own in the heap: "
                      "save no run in which races are looked for");
    hearthi_table_lock();
    held = hearthi_pin_count.pages;
    hearthi_table_unlock();
    if (held > 0)
        hearthi_fatal(call,
                      "%llu page%s held by this rank, or by an operation of "
                      "MPI that is under way: call hearth_drop, or complete "
                      "the operation, first",
                      (unsigned long long)held, held == 1 ? " is" : "s are");
}

/* All ranks, at the same folder; NULL is HEARTH_CHECKPOINT. */
static bool
checkpoint_make(const char *call, const char *where)
{
    static const char *const name[HEARTHI_ARGS] = { "a hash of the folder's "
                                                    "name" };
    const char              *folder = where == NULL ? "" : where;
    const uint64_t args[HEARTHI_ARGS] = { hearthi_hash_text(HEARTHI_HASH,
                                                            folder) };

#ifndef HAVE_XXHASH_H
    no_checksums(call);
#endif
    hearthi_args_check(call, name, args);
    held_check(call);
    hearthi_collective_watch_end(); /* a disk takes as long as it takes */
    return hearthi_checkpoint_make(where);
}

/* The job ends as it would by itself: every rank comes here. */
_Noreturn static void
job_end(void)
{
    int down = 0;

    hearth_finalize();
    MPI_Finalized(&down);
    if (!down)
        MPI_Finalize();
    exit(EXIT_SUCCESS);
}

/* All ranks have heard at a barrier what any asks: one is made if it is due.
 */
bool
hearthi_point_save(const char *call, unsigned asks)
{
    bool made;

    if ((asks & (HEARTHI_ASKS_DUE | HEARTHI_ASKS_SIGNAL)) == 0)
        return false;
    made = checkpoint_make(call, NULL);
    if (!made || (asks & HEARTHI_ASKS_SIGNAL) == 0)
        return made;
    hearthi_checkpoint_answered();
    if (hearthi_checkpoint_ends())
        job_end();
    return true;
}

/* A barrier, at which ranks say whether one is due. */
static unsigned
point_pass(const char *call)
{
    unsigned asks;

    hearthi_signal_check();
    hearthi_malloc_settle();
    hearthi_thread_state_waits(call, HEARTHI_OF_ALL);
    hearthi_collective_watch_begin(call, 0, 0, 0);
    asks = hearthi_barrier_asking(hearthi_checkpoint_asks());
    hearthi_collective_watch_end();
    hearthi_thread_state_goes_on();
    hearthi_count(barriers, 1);
    return asks;
}

static void
where_check(const char *call, const char *where)
{
    if (strlen(where) >= HEARTHI_FILE_MAX)
        hearthi_fatal(call, "the folder's name has %zu bytes: give at most %d",
                      strlen(where), HEARTHI_FILE_MAX - 1);
    if (where[0] == '\0')
        hearthi_fatal(call, "the folder's name is empty: give one, or NULL "
                            "for HEARTH_CHECKPOINT");
}

bool
hearth_checkpoint(const char *where)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_checkpoint";
    uint64_t    start = hearthi_time_begin();
    bool        made = false;

    hearthi_require_thread(call);
    hearthi_one_cluster(call);
    if (where != NULL)
        where_check(call, where);
    if (where != NULL)
        made = checkpoint_make(call, where);
    else
        made = hearthi_point_save(call, point_pass(call));
    hearthi_interval_begin(hearthi_time_end(barrier_ns, start), false);
    return made;
}

bool
hearth_checkpoint_done(void)
{
    hearthi_require_up("hearth_checkpoint_done");
    return true; /* the call has waited */
}

bool
hearth_checkpoint_wait(void)
{
    HEARTHI_UNCANCELLED;
    static const char *const name[HEARTHI_ARGS] = { "nothing" };
    const uint64_t           args[HEARTHI_ARGS] = { 0 };

    hearthi_require_thread("hearth_checkpoint_wait");
    hearthi_args_check("hearth_checkpoint_wait", name, args);
    hearthi_collective_watch_end();
    return true;
}

/* ---- private memory ---- */

static void
name_check(const char *call, const char *name)
{
    size_t n = name == NULL ? 0 : strlen(name);

    if (n == 0 || n >= HEARTHI_PRIVATE_NAME || strchr(name, '/') != NULL)
        hearthi_fatal(call,
                      "%s%s%s is no name: give one of 1 to %d bytes without "
                      "'/'",
                      name == NULL ? "" : "\"", name == NULL ? "NULL" : name,
                      name == NULL ? "" : "\"", HEARTHI_PRIVATE_NAME - 1);
}

static void
memory_check(const char *call, const void *p, size_t bytes)
{
    const char *from = p, *heap = hearthi_heap.base;

    if (p == NULL || bytes == 0)
        hearthi_fatal(call, "%zu bytes at %p are nothing: give memory", bytes,
                      p);
    if (from < heap + hearthi_heap.bytes && from + bytes > heap)
        hearthi_fatal(call,
                      "%p lies in the heap, whose contents are saved "
                      "anyway: give private memory",
                      p);
}

bool
hearth_checkpoint_add(void *p, size_t bytes, const char *name)
{
    const char             *call = "hearth_checkpoint_add";
    struct hearthi_restart *r = &hearthi_restart;

    hearthi_require_up(call);
    name_check(call, name);
    memory_check(call, p, bytes);
    if (!hearthi_registered_add(p, bytes, name))
        hearthi_fatal(call,
                      "the name %s is taken on this rank: give each memory "
                      "one of its own, or call hearth_checkpoint_remove",
                      name);
    return r->is && hearthi_restart_private(call,
                                            (uint64_t)hearthi_world.rank %
                                                r->meta.head.ranks,
                                            name, p, bytes);
}

void
hearth_checkpoint_remove(const char *name)
{
    const char *call = "hearth_checkpoint_remove";

    hearthi_require_up(call);
    name_check(call, name);
    if (!hearthi_registered_remove(name))
        hearthi_fatal(call, "this rank has given no memory the name %s", name);
}

void
hearth_checkpoint_read(int rank, const char *name, void *to, size_t bytes)
{
    const char                   *call = "hearth_checkpoint_read";
    const struct hearthi_restart *r = &hearthi_restart;

    hearthi_require_up(call);
    name_check(call, name);
    if (!r->is)
        hearthi_fatal(call, "this run was not restarted: ask hearth_restarted "
                            "first");
    memory_check(call, to, bytes);
    if (rank < 0 || (uint64_t)rank >= r->meta.head.ranks)
        hearthi_fatal(call,
                      "rank %d does not exist in the run that was saved: "
                      "ranks were 0 to %d",
                      rank, (int)r->meta.head.ranks - 1);
    if (!hearthi_restart_private(call, (uint64_t)rank, name, to, bytes))
        hearthi_fatal(call, "rank %d had given no memory the name %s", rank,
                      name);
}

int
hearth_restarted(void)
{
    hearthi_require_up("hearth_restarted");
    return hearthi_restart.is ? (int)hearthi_restart.meta.head.ranks : 0;
}
