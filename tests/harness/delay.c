/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "delay.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "seen.h"

/* Milliseconds. */
static _Thread_local double   replace_late, most_late;
static _Thread_local unsigned late_one_in;
static _Thread_local uint64_t random_state;
static void (*before_get)(void);

void
delay_replace(double ms)
{
    replace_late = ms;
}

void
delay_next_get(void (*meanwhile)(void))
{
    before_get = meanwhile;
}

void
delay_some(uint64_t seed, unsigned one_in, double most_ms)
{
    random_state = seed;
    late_one_in = one_in;
    most_late = most_ms;
}

void
delay_here(double ms)
{
    double until = MPI_Wtime() + ms / 1000;
    int    arrived;

    while (MPI_Wtime() < until) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &arrived,
                   MPI_STATUS_IGNORE);
        sched_yield();
    }
}

static void
late_perhaps(void)
{
    if (late_one_in == 0 || hearthi_random(&random_state) % late_one_in != 0)
        return;
    delay_here(most_late * (double)(hearthi_random(&random_state) % 1000) /
               1000);
}

static atomic_uint      call_one_in;
static _Atomic uint64_t call_random;
static _Atomic double   call_most;

void
delay_calls(uint64_t seed, unsigned one_in, double most_ms)
{
    call_random = seed;
    call_most = most_ms;
    call_one_in = one_in;
}

static void
call_late(void)
{
    uint64_t state;

    if (atomic_load_explicit(&call_one_in, memory_order_relaxed) == 0)
        return;
    state = atomic_fetch_add(&call_random, UINT64_C(0x9e3779b97f4a7c15));
    if (hearthi_random(&state) % call_one_in == 0)
        usleep(
            (useconds_t)(call_most * (double)(hearthi_random(&state) % 1000)));
}

/* These stand before the library's, which tools may call by second names. */

SEEN int
MPI_Fetch_and_op(const void *value, void *result, MPI_Datatype type, int rank,
                 MPI_Aint at, MPI_Op op, MPI_Win win)
{
    int code;

    if (op == MPI_REPLACE && replace_late > 0)
        delay_here(replace_late);
    late_perhaps();
    call_late();
    code = PMPI_Fetch_and_op(value, result, type, rank, at, op, win);
    late_perhaps();
    call_late();
    return code;
}

/* ---- transfers that begin when they are flushed ---- */

enum { LATER = 512 };

struct transfer {
    bool         put;
    const void  *from;
    void        *to;
    int          n, rank, there;
    MPI_Datatype type, type_there;
    MPI_Aint     at;
    MPI_Win      win;
};

static pthread_mutex_t transfers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct transfer transfer[LATER];
static int             transfers;
static atomic_bool     transfers_late;

void
delay_transfers(bool yes)
{
    transfers_late = yes;
}

/* False: there is no room, or all begin at once. */
static bool
transfer_later(struct transfer t)
{
    bool room;

    if (!transfers_late)
        return false;
    pthread_mutex_lock(&transfers_lock);
    room = transfers < LATER;
    if (room)
        transfer[transfers++] = t;
    pthread_mutex_unlock(&transfers_lock);
    return room;
}

/* The next MPI_Get may be that of a library that was loaded before MPI's. */
static int
get_next(const struct transfer *t)
{
    static __typeof__(MPI_Get) *next;

    if (next == NULL) {
        void *found = dlsym(RTLD_NEXT, "MPI_Get");

        memcpy(&next, &found, sizeof next);
    }
    return next(t->to, t->n, t->type, t->rank, t->at, t->there, t->type_there,
                t->win);
}

static int
transfer_begin(const struct transfer *t)
{
    return t->put ? PMPI_Put(t->from, t->n, t->type, t->rank, t->at, t->there,
                             t->type_there, t->win)
                  : get_next(t);
}

/* What functions that have returned had on the stack is gone. */
static __attribute__((noinline)) void
stack_spoil(void)
{
    volatile unsigned char below[16384];

    for (size_t i = 0; i < sizeof below; i++)
        below[i] = 0xa5;
}

/* Those to a rank, or to any if it is negative. */
static void
transfers_begin(MPI_Win win, int rank)
{
    int left = 0;

    if (transfers_late)
        stack_spoil();
    pthread_mutex_lock(&transfers_lock);
    for (int i = 0; i < transfers; i++)
        if (transfer[i].win == win && (rank < 0 || transfer[i].rank == rank))
            transfer_begin(&transfer[i]);
        else
            transfer[left++] = transfer[i];
    transfers = left;
    pthread_mutex_unlock(&transfers_lock);
}

SEEN int
MPI_Win_flush_all(MPI_Win win)
{
    transfers_begin(win, -1);
    return PMPI_Win_flush_all(win);
}

static _Atomic double flush_late;
static atomic_int     flushes, flushes_most;

int
delay_flush(double ms)
{
    flush_late = ms;
    return atomic_exchange(&flushes_most, 0);
}

SEEN int
MPI_Win_flush(int rank, MPI_Win win)
{
    int most = flushes_most, now = ++flushes, code;

    while (now > most &&
           !atomic_compare_exchange_weak(&flushes_most, &most, now))
        ;
    if (flush_late > 0)
        usleep((useconds_t)(flush_late * 1000));
    call_late();
    transfers_begin(win, rank);
    code = PMPI_Win_flush(rank, win);
    call_late();
    flushes--;
    return code;
}

SEEN int
MPI_Get(void *to, int n, MPI_Datatype type, int rank, MPI_Aint at, int there,
        MPI_Datatype type_there, MPI_Win win)
{
    struct transfer t = { .to = to,
                          .n = n,
                          .type = type,
                          .rank = rank,
                          .at = at,
                          .there = there,
                          .type_there = type_there,
                          .win = win };
    void (*meanwhile)(void) = before_get;

    before_get = NULL;
    if (meanwhile != NULL)
        meanwhile();
    call_late();
    return transfer_later(t) ? MPI_SUCCESS : get_next(&t);
}

SEEN int
MPI_Put(const void *from, int n, MPI_Datatype type, int rank, MPI_Aint at,
        int there, MPI_Datatype type_there, MPI_Win win)
{
    struct transfer t = { .put = true,
                          .from = from,
                          .n = n,
                          .type = type,
                          .rank = rank,
                          .at = at,
                          .there = there,
                          .type_there = type_there,
                          .win = win };
    int             code;

    call_late();
    if (transfer_later(t))
        return MPI_SUCCESS;
    code = transfer_begin(&t);
    call_late();
    return code;
}

SEEN int
MPI_Rget(void *to, int n, MPI_Datatype type, int rank, MPI_Aint at, int there,
         MPI_Datatype type_there, MPI_Win win, MPI_Request *request)
{
    int code;

    call_late();
    code = PMPI_Rget(to, n, type, rank, at, there, type_there, win, request);
    call_late();
    return code;
}

SEEN int
MPI_Compare_and_swap(const void *value, const void *expected, void *result,
                     MPI_Datatype type, int rank, MPI_Aint at, MPI_Win win)
{
    int code;

    call_late();
    code = PMPI_Compare_and_swap(value, expected, result, type, rank, at, win);
    call_late();
    return code;
}

SEEN int
MPI_Isend(const void *from, int n, MPI_Datatype type, int rank, int tag,
          MPI_Comm comm, MPI_Request *request)
{
    call_late();
    return PMPI_Isend(from, n, type, rank, tag, comm, request);
}

SEEN int
MPI_Irecv(void *to, int n, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
          MPI_Request *request)
{
    call_late();
    return PMPI_Irecv(to, n, type, rank, tag, comm, request);
}
