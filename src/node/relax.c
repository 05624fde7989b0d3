/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where more threads of a rank wait than it has cores, all of them sleep, each
 * until its own turn: they would keep the cores from the one that has what
 * they wait for.  If a transport needs help at the target of a step, the
 * helper gives it meanwhile; where there is none, or it has to stay out of
 * MPI, the threads that wait go on driving MPI themselves.
 */
#include "config.h"

#include "relax.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/min.h"
#include "base/mpi_call.h"
#include "cluster.h"
#include "world.h"

struct hearthi_relax hearthi_relaxing;

/* ---- one turn ---- */

static void
pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#elif defined(__powerpc64__)
    __asm__ volatile("or 27,27,27"); /* yield */
#elif defined(__riscv)
    __asm__ volatile(".4byte 0x0100000f"); /* pause; nothing on older ones */
#endif
}

/* A rank that waits spins for a few microseconds only if every rank has a
 * core of its own: otherwise the one it waits for may need this core. */
void
hearthi_relax(unsigned *turn)
{
    unsigned spins = hearthi_crowded() ? 4 : 64;

    (*turn)++;
    if (*turn % HEARTHI_RELAX_TURNS != 0) {
        pause_core();
        return;
    }
    hearthi_relaxing.progress();
    hearthi_event_idle_do();
    if (*turn > spins)
        sched_yield();
}

/* ---- threads that wait, and cores ---- */

/* Turns before naps, some 20 us; how long those are, and how long a thread
 * sleeps at an event: nanoseconds. */
enum { TURNS = 256, NAP = 50000, NAP_MOST = 1000000, SLEEP_MOST = 10000000 };

/* Threads that sleep, or are in a turn in which they may give their core away:
 * other turns are over before another thread looks.  Relaxed: the count only
 * decides who sleeps, and need not be exact. */
static atomic_int waiting;

static void
enter(void)
{
    atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed);
}

static void
leave(void)
{
    atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
}

/* A helper that stays out of MPI serves no rank. */
bool
hearthi_relax_are_served(void)
{
    return hearthi_relaxing.may_sleep && !hearthi_mpi_exclusion_is();
}

void
hearthi_relax_serve(void)
{
    HEARTHI_UNCANCELLED;

    if (!hearthi_relax_are_served())
        hearthi_relaxing.progress();
}

bool
hearthi_crowd_may_sleep(void)
{
    int others = atomic_load_explicit(&waiting, memory_order_relaxed);

    return others > 0 &&
           others >= hearthi_cluster.cores / hearthi_cluster.machine_ranks &&
           hearthi_relax_are_served();
}

void
hearthi_crowd_turn(unsigned *turn)
{
    bool gives = (*turn + 1) % HEARTHI_RELAX_TURNS == 0;

    if (gives)
        enter();
    hearthi_relax(turn);
    if (gives)
        leave();
}

/* Messages of the program's own may be under way to this rank, or from it,
 * that wait for its next call of MPI; and the thread that is to end this wait
 * may wait for such a message.  So one of the threads that sleep wakes now and
 * then and calls, less often while nothing moves. */
static atomic_bool driven;

static bool
may_drive(void)
{
    return hearthi_relaxing.drive != NULL && hearthi_may_call_mpi();
}

/* True if something has moved. */
static bool
drive(void)
{
    hearthi_event_idle_do();
    return may_drive() && hearthi_relaxing.drive();
}

/* True if nothing was raised. */
static bool
sleep_for(struct hearthi_event *e, uint32_t seen, uint64_t ns)
{
    enter();
    hearthi_event_nap(e, seen, ns);
    leave();
    return hearthi_event_value(e) == seen;
}

/* The thread that drives may be held up, by a handler of the program's, say:
 * so each that sleeps does it now and then.  True if this one did. */
static bool
sleep_long(struct hearthi_event *e, uint32_t seen)
{
    if (!sleep_for(e, seen, SLEEP_MOST))
        return false;
    drive();
    return true;
}

void
hearthi_crowd_sleep(struct hearthi_event *e, uint32_t seen)
{
    sleep_long(e, seen);
}

static void
sleep_driving(struct hearthi_event *e, uint32_t seen)
{
    static uint64_t nap = NAP; /* of the thread that drives */

    if (sleep_for(e, seen, nap))
        nap = drive() ? NAP : hearthi_min(2 * nap, NAP_MOST);
}

/* In `turn`: this wait is a long one.  A short timer for each of many short
 * waits would cost as much as they do. */
#define LONG (1U << 30)

void
hearthi_crowd_wait(struct hearthi_event *e, uint32_t seen, unsigned *turn)
{
    if (!hearthi_crowd_may_sleep()) {
        hearthi_crowd_turn(turn);
    } else if (*turn < LONG || !may_drive() ||
               atomic_exchange(&driven, true)) {
        if (sleep_long(e, seen))
            *turn |= LONG;
    } else {
        sleep_driving(e, seen);
        atomic_store(&driven, false);
    }
}

void
hearthi_crowd_relax(unsigned *turn, uint64_t ns)
{
    const struct timespec nap = { .tv_nsec = (long)ns < NAP ? NAP : (long)ns };

    if (*turn <= TURNS || !hearthi_crowd_may_sleep()) {
        hearthi_crowd_turn(turn);
        return;
    }
    enter();
    nanosleep(&nap, NULL);
    leave();
    drive();
}

/* Between looks, and between two turns in which this thread serves other ranks
 * where nothing else does: nanoseconds. */
enum { LOOK_MOST = 2000000, SERVE_MOST = 20000 };

static void
nap_and_serve(uint64_t ns)
{
    const struct timespec nap = { .tv_nsec = (long)ns };

    enter();
    nanosleep(&nap, NULL);
    leave();
    hearthi_relaxing.progress();
    drive();
}

void
hearthi_long_relax(unsigned *turn, uint64_t waited, bool near)
{
    uint64_t look = hearthi_min(waited / 16, LOOK_MOST), begun, serve;

    if (waited < (hearthi_crowded() ? NAP : 16 * NAP)) {
        hearthi_relax(turn);
        return;
    }
    begun = hearthi_now();
    serve = hearthi_relax_are_served() ? look : hearthi_min(look, SERVE_MOST);
    do
        nap_and_serve(serve);
    while (!near && hearthi_now() - begun < look);
}
