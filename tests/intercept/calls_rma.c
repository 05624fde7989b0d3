/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One-sided calls whose origin is on the heap; the window is MPI's memory, on
 * the right neighbour, and what came into it is copied where all look for it.
 */
#include <string.h>

#include "calls.h"

enum { ROOM = 8 << 20, WORD = 8 };

/* How the calls are ordered. */
enum epoch { FENCE, LOCK, FLUSH, PSCW, REQUEST };

static MPI_Win   window, locked; /* the latter is in an epoch all the time */
static char     *memory, *locked_memory;
static MPI_Group to, from;

static MPI_Win
window_of(const struct operation *o)
{
    return o->call->how == FLUSH || o->call->how == REQUEST ? locked : window;
}

static char *
memory_of(const struct operation *o)
{
    return window_of(o) == locked ? locked_memory : memory;
}

static void
memory_fill(const struct operation *o)
{
    if (window_of(o) == window)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window);
    for (size_t i = 0; i < o->bytes; i++)
        memory_of(o)[i] = (char)(i * 7 + i / 256 + (size_t)me);
    if (window_of(o) == window)
        MPI_Win_unlock(me, window);
    else
        MPI_Win_sync(locked);
    MPI_Barrier(o->comm);
}

static void
epoch_begin(const struct operation *o)
{
    switch ((enum epoch)o->call->how) {
    case FENCE: MPI_Win_fence(0, window); return;
    case LOCK: MPI_Win_lock(MPI_LOCK_SHARED, o->right, 0, window); return;
    case PSCW:
        MPI_Win_post(from, 0, window);
        MPI_Win_start(to, 0, window);
        return;
    default: return;
    }
}

static void
epoch_end(struct operation *o)
{
    switch ((enum epoch)o->call->how) {
    case FENCE: MPI_Win_fence(0, window); return;
    case LOCK: MPI_Win_unlock(o->right, window); return;
    case FLUSH:
        if (o->turn % 2 == 0)
            MPI_Win_flush_local(o->right, locked);
        MPI_Win_flush(o->right, locked);
        return;
    case PSCW:
        MPI_Win_complete(window);
        MPI_Win_wait(window);
        return;
    case REQUEST:
        requests_wait(o);
        MPI_Win_flush_all(locked);
        return;
    }
}

/* Each: the call, with a request or without. */
#define REQUESTED(lower, upper, ...)                           \
    static void lower(struct operation *o)                     \
    {                                                          \
        int n = (int)o->bytes;                                 \
                                                               \
        memory_fill(o);                                        \
        epoch_begin(o);                                        \
        if (o->call->how == REQUEST)                           \
            EITHER(o, MPI_R##lower, __VA_ARGS__, window_of(o), \
                   request_new(o));                            \
        else                                                   \
            EITHER(o, MPI_##upper, __VA_ARGS__, window_of(o)); \
    }
#define WORDS n / WORD, MPI_UINT64_T

REQUESTED(put, Put, o->send, n, MPI_BYTE, o->right, 0, n, MPI_BYTE)
REQUESTED(get, Get, o->recv, n, MPI_BYTE, o->right, 0, n, MPI_BYTE)
REQUESTED(accumulate, Accumulate, o->send, WORDS, o->right, 0, WORDS, MPI_SUM)
REQUESTED(get_accumulate, Get_accumulate, o->send, WORDS, o->recv, WORDS,
          o->right, 0, WORDS, MPI_SUM)

static void
fetch_and_op(struct operation *o)
{
    memory_fill(o);
    epoch_begin(o);
    MPI_Fetch_and_op(o->send, o->recv, MPI_INT32_T, o->right, 0, MPI_SUM,
                     window_of(o));
}

#ifndef MPICH_VERSION
static void
compare_and_swap(struct operation *o)
{
    memory_fill(o);
    epoch_begin(o);
    MPI_Compare_and_swap(o->send, o->send + WORD, o->recv, MPI_INT32_T,
                         o->right, 0, window_of(o));
}
#endif

static void
got(struct operation *o)
{
    epoch_end(o);
    MPI_Barrier(o->comm);
}

/* What was put here, in the second half where the first is something else. */
static void
put_seen(struct operation *o)
{
    epoch_end(o);
    MPI_Barrier(o->comm);
    if (window_of(o) == window)
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    else
        MPI_Win_sync(locked);
    memcpy(o->recv, memory_of(o), o->bytes);
    if (window_of(o) == window)
        MPI_Win_unlock(me, window);
    MPI_Barrier(o->comm);
}

const struct call calls_rma[] = {
    { "Put, Win_fence", CALL_TOGETHER, put, put_seen, NULL, FENCE },
    { "Put, Win_lock", CALL_TOGETHER, put, put_seen, NULL, LOCK },
    { "Put, Win_flush", CALL_TOGETHER, put, put_seen, NULL, FLUSH },
    { "Put, Win_start", CALL_TOGETHER, put, put_seen, NULL, PSCW },
    { "Rput", CALL_TOGETHER, put, put_seen, NULL, REQUEST },
    { "Get, Win_fence", CALL_TOGETHER, get, got, NULL, FENCE },
    { "Get, Win_lock", CALL_TOGETHER, get, got, NULL, LOCK },
    { "Get, Win_flush", CALL_TOGETHER, get, got, NULL, FLUSH },
    { "Get, Win_start", CALL_TOGETHER, get, got, NULL, PSCW },
    { "Rget", CALL_TOGETHER, get, got, NULL, REQUEST },
    { "Accumulate, Win_fence", CALL_TOGETHER, accumulate, put_seen, NULL,
      FENCE },
    { "Accumulate, Win_lock", CALL_TOGETHER, accumulate, put_seen, NULL,
      LOCK },
    { "Raccumulate", CALL_TOGETHER, accumulate, put_seen, NULL, REQUEST },
    { "Rget_accumulate", CALL_TOGETHER, get_accumulate, got, NULL, REQUEST },
    { "Fetch_and_op, Win_flush", CALL_TOGETHER, fetch_and_op, got, NULL,
      FLUSH },
#ifndef MPICH_VERSION /* 4.0.2 hangs with 4 ranks, with HEARTH_INTERPOSE=no \
                       * too                                                \
                       */
    { "Get_accumulate, Win_lock", CALL_TOGETHER, get_accumulate, got, NULL,
      LOCK },
    { "Fetch_and_op, Win_lock", CALL_TOGETHER, fetch_and_op, got, NULL, LOCK },
    { "Compare_and_swap, Win_lock", CALL_TOGETHER, compare_and_swap, got, NULL,
      LOCK },
#endif
    { 0 },
};

void
calls_rma_begin(MPI_Comm comm)
{
    int       left = (me + ranks - 1) % ranks, right = (me + 1) % ranks;
    MPI_Group all;

    MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, comm, &memory, &window);
    MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, comm, &locked_memory, &locked);
    MPI_Win_lock_all(0, locked);
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 1, &left, &from);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_free(&all);
}

void
calls_rma_end(void)
{
    MPI_Win_unlock_all(locked);
    MPI_Win_free(&locked);
    MPI_Win_free(&window);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}
