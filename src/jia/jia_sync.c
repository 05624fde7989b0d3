/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JIAJIA's locks are a stack: the critical sections of a thread are nested,
 * and the last one entered is the first one left.
 */
#include "config.h"

#include "base/cancel.h"
#include "base/report.h"
#include "base/timing.h"
#include "cluster.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "hearth/jia.h"
#include "jia_hosts.h"
#include "jia_start.h"
#include "transport/transport.h"

enum {
    LOCKS = Maxlocks,
    DEPTH = HEARTHI_JIA_DEPTH,
    CONDITIONS = HEARTHI_JIA_CONDITIONS,
    COUNTERS = HEARTHI_JIA_COUNTERS
};

static _Thread_local int held[DEPTH], depth;

static int64_t *counter[COUNTERS]; /* of GSINIT */
static int      counters;

void
hearthi_jia_sync_open(void)
{
    depth = 0;
    counters = 0;
}

/* One of those that have a number, or of LOCKINIT's others. */
static void
lock_check(const char *call, int lock)
{
    if (lock <= JIA_MORE_LOCKS)
        hearthi_jia_number(call, "lock", lock, LOCKS);
}

void
jia_lock(int lock)
{
    hearthi_jia_require("jia_lock");
    lock_check("jia_lock", lock);
    for (int i = 0; i < depth; i++)
        if (held[i] == lock)
            hearthi_fatal("jia_lock",
                          "lock %d is held already: unlock it first", lock);
    if (depth == DEPTH)
        hearthi_fatal("jia_lock",
                      "lock %d would be number %d of nested locks: hold at "
                      "most %d",
                      lock, DEPTH + 1, DEPTH);
    hearthi_jia_wait_begin();
    hearth_lock(lock);
    hearthi_jia_wait_end();
    held[depth++] = lock;
}

void
jia_unlock(int lock)
{
    hearthi_jia_require("jia_unlock");
    lock_check("jia_unlock", lock);
    if (depth == 0)
        hearthi_fatal("jia_unlock", "lock %d is not held: lock it first",
                      lock);
    if (held[depth - 1] != lock)
        hearthi_fatal("jia_unlock",
                      "lock %d is not the one acquired last: unlock %d first",
                      lock, held[depth - 1]);
    depth--;
    hearthi_jia_wait_begin();
    hearth_unlock(lock);
    hearthi_jia_wait_end();
}

void
hearthi_jia_outside(const char *call)
{
    hearthi_jia_require(call);
    if (depth > 0)
        hearthi_fatal(call, "called while lock %d is held: unlock first",
                      held[depth - 1]);
}

void
jia_barrier(void)
{
    hearthi_jia_outside("jia_barrier");
    hearthi_jia_wait_begin();
    hearth_barrier();
    hearthi_jia_wait_end();
}

void
jia_wait(void)
{
    HEARTHI_UNCANCELLED;
    MPI_Request all;
    uint64_t    start;

    hearthi_jia_require("jia_wait");
    hearthi_jia_wait_begin();
    start = hearthi_time_begin();
    HEARTHI_MPI(MPI_Ibarrier(hearthi_jia.comm, &all));
    hearthi_requests_wait(&all, 1);
    hearthi_time_end(barrier_ns, start);
    hearthi_jia_wait_end();
}

static void
condition_check(const char *call, int cv)
{
    hearthi_jia_require(call);
    hearthi_jia_number(call, "condition variable", cv, CONDITIONS);
}

void
jia_setcv(int cv)
{
    condition_check("jia_setcv", cv);
    hearth_flag_set(cv);
}

void
jia_resetcv(int cv)
{
    condition_check("jia_resetcv", cv);
    hearth_flag_reset(cv);
}

void
jia_waitcv(int cv)
{
    condition_check("jia_waitcv", cv);
    if (jia_hosts == 1)
        return;
    hearthi_jia_wait_begin();
    hearth_flag_wait(cv);
    hearthi_jia_wait_end();
}

int
jia_gs_new(void)
{
    hearthi_jia_require("jia_gs_new");
    if (counters == COUNTERS)
        hearthi_fatal("jia_gs_new", "no more than %d counters of GSINIT",
                      COUNTERS);
    counter[counters] =
        hearth_alloc(1, sizeof(int64_t), hearth_on(counters % jia_hosts));
    return counters++;
}

/* A host that finds nothing left waits for the others; host 0 then starts
 * afresh. */
int
jia_gs_next(int number, int most, int hosts)
{
    int64_t next;

    hearthi_jia_outside("jia_gs_next");
    hearthi_jia_number("jia_gs_next", "counter", number, counters);
    if (hosts != jia_hosts)
        hearthi_fatal("jia_gs_next",
                      "GETSUB for %d processes, and there are %d hosts: give "
                      "jiahosts",
                      hosts, jia_hosts);
    next = hearth_fetch_add(counter[number], 1);
    if (next <= most)
        return (int)next;
    jia_barrier();
    if (jia_pid == 0)
        hearth_swap(counter[number], 0);
    jia_barrier();
    return -1;
}
