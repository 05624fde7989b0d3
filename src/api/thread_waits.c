/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the threads of this rank wait for, and have, for life/deadlock.h.
 *
 * A thread waits if it is in a call of Hearth's that does nothing but wait for
 * another thread, or in such a call of MPI's (front/mpi_waits.c).  Calls for
 * memory are none: they may clear much of it.  Hearth's own threads act for
 * others only.  All other threads of the process might go on and end a wait,
 * also those that have never called Hearth: but not one that joins another of
 * them (pthread_join), which it goes on behind, and not one that is blocked in
 * the kernel with nothing of the program on its stack, as MPI's own are, and
 * OpenMP's that have nothing to do.  One that cannot be looked at may be
 * anything.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "front/mpi_next.h"
#include "hearth/hearth.h"
#include "life/deadlock.h"
#include "node/lock_names.h"
#include "profile/caller.h"
#include "thread_state.h"
#include "transport/transport.h"
#include "world.h"

/* ---- one thread ---- */

/* RANK: it may be doing something else.  A call that has no number yet asks
 * for that of a lock's name. */
static enum hearthi_wait_kind
kind_of(const char *call, int number)
{
    static const struct {
        const char            *call;
        enum hearthi_wait_kind kind;
    } calls[] = {
        { "hearth_lock", HEARTHI_WAIT_LOCK },
        { "hearth_rdlock", HEARTHI_WAIT_READ },
        { "hearth_wrlock", HEARTHI_WAIT_WRITE },
        { "hearth_flag_wait", HEARTHI_WAIT_FLAG },
        { "hearth_cond_wait", HEARTHI_WAIT_COND },
        { "hearth_wait_until", HEARTHI_WAIT_OTHER },
        { "hearth_team_barrier", HEARTHI_WAIT_OTHER },
        { "hearth_team_alloc", HEARTHI_WAIT_OTHER },
    };

    if (number == HEARTHI_OF_ALL)
        return HEARTHI_WAIT_ALL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(call, calls[i].call) == 0 &&
            (number >= 0 || calls[i].kind == HEARTHI_WAIT_OTHER))
            return calls[i].kind;
    return HEARTHI_WAIT_RANK;
}

/* What this rank looks for, and has found. */
struct search {
    uint64_t              least;
    bool                  first;
    int                   all; /* the thread in a call of all ranks, or 0 */
    struct hearthi_waits *to;  /* or NULL */
    int                   loose, threads;
    bool                  full;

    int   *waits; /* threads that do */
    size_t n, room;
};

static void
wait_note(struct search *s, const struct hearthi_thread_wait *w)
{
    if (s->to != NULL && !hearthi_waits_add(s->to, w))
        s->full = true;
}

static bool
here_find(struct hearthi_thread_state *u, uint64_t least,
          struct hearthi_thread_wait *w)
{
    int         number;
    const char *call = hearthi_thread_state_call(u, &number);
    bool        seen = (atomic_load(&u->call) & HEARTHI_SEEN) != 0;

    if (call == NULL || !seen || u->waited < least)
        return false;
    w->kind = (int32_t)kind_of(call, number);
    w->what = w->kind == HEARTHI_WAIT_LOCK ? hearthi_lock_names_key(number)
                                           : (uint64_t)(unsigned)number;
    snprintf(w->call, sizeof w->call, "%s", call);
    return w->kind != HEARTHI_WAIT_RANK;
}

static bool
mpi_find(struct hearthi_thread_state *u, uint64_t least,
         struct hearthi_thread_wait *w)
{
    uintptr_t call = atomic_load(&u->mpi_call);

    if ((call & HEARTHI_SEEN) == 0 || u->mpi_waited < least)
        return false;
    w->kind = HEARTHI_WAIT_MPI;
    w->peer = atomic_load(&u->mpi_peer);
    w->mpi = hearthi_mpi_waits_count();
    snprintf(w->call, sizeof w->call, "%s",
             (const char *)(call & ~HEARTHI_SEEN));
    return true;
}

static void
waiter_add(struct search *s, int thread)
{
    if (s->n == s->room) {
        size_t room = 2 * s->room + 16;
        void  *more = realloc(s->waits, room * sizeof *s->waits);

        if (more == NULL) {
            s->full = true;
            return;
        }
        s->waits = more;
        s->room = room;
    }
    s->waits[s->n++] = thread;
}

static void
thread_look(struct hearthi_thread_state *u, void *to)
{
    struct search             *s = to;
    struct hearthi_thread_wait w = { .rank = hearthi_world.rank,
                                     .thread = u->tid };

    s->threads++;
    if (!here_find(u, s->least, &w) && !mpi_find(u, s->least, &w))
        return;
    if (!s->first && !u->marked)
        return;
    u->marked = true;
    waiter_add(s, u->tid);
    if (w.kind == HEARTHI_WAIT_ALL)
        s->all = u->tid;
    else
        wait_note(s, &w);
}

/* ---- all threads of the process ---- */

static bool
task_look(int thread, void *to)
{
    struct search *s = to;

    for (size_t i = 0; i < s->n; i++)
        if (s->waits[i] == thread)
            return true;
    if (!hearthi_thread_is_own(thread) && !hearthi_task_joins(thread) &&
        hearthi_caller_of(thread) != HEARTHI_CALLER_SERVES)
        s->loose++;
    return s->loose <= 1;
}

/* ---- what they have ---- */

static void
has_note(struct search *s, enum hearthi_wait_kind kind, uint64_t what,
         int thread)
{
    wait_note(s, &(struct hearthi_thread_wait){ .kind = (int32_t)kind,
                                                .rank = hearthi_world.rank,
                                                .thread = thread,
                                                .what = what });
}

/* Relaxed: a thread that has waited for beats stored what it holds before. */
static void
thread_has(struct hearthi_thread_state *u, void *to)
{
    enum { BITS = 64 };
    struct search *s = to;

    for (int i = 0; u->held > 0 && i < hearthi_syncs_top; i++)
        if (atomic_load_explicit(&hearthi_holder[i], memory_order_relaxed) ==
            u->identity)
            has_note(s, HEARTHI_HAS_LOCK, hearthi_lock_names_key(i), u->tid);
    for (int i = 0; i < HEARTH_RWLOCKS; i++) {
        if (hearthi_rwlock_writer(i) == u->identity)
            has_note(s, HEARTHI_HAS_WRITE, (uint64_t)i, u->tid);
        if (u->reads != NULL && (u->reads[i / BITS] >> i % BITS & 1))
            has_note(s, HEARTHI_HAS_READ, (uint64_t)i, u->tid);
    }
}

/* A rank that has one thread has no need to name it. */
static void
many_note(struct hearthi_waits *to)
{
    for (size_t i = 0; i < to->n; i++)
        to->wait[i].many = 1;
}

/* ---- the view ---- */

static int
loose(uint64_t least, bool first, struct hearthi_waits *to, int *all)
{
    struct search s = { .least = least, .first = first, .to = to };

    hearthi_thread_states_each(thread_look, &s);
    if (to != NULL)
        hearthi_thread_states_each(thread_has, &s);
    if (!hearthi_tasks_each(task_look, &s) || s.full)
        s.loose = 2;
    if (to != NULL && s.threads > 1)
        many_note(to);
    free(s.waits);
    *all = s.all;
    return s.loose;
}

static bool
flag_is_set(int flag)
{
    int sync = HEARTH_LOCKS + flag;

    return hearthi_world.gather == NULL &&
           hearthi_manager(sync, hearthi_world.size) == hearthi_world.rank &&
           hearthi_transport->sync.flag_is_set != NULL &&
           hearthi_transport->sync.flag_is_set(sync);
}

const struct hearthi_deadlock_view hearthi_thread_waits = {
    .loose = loose,
    .place = hearthi_thread_place,
    .mpi_calls = hearthi_mpi_waits_count,
    .flag_is_set = flag_is_set,
};
