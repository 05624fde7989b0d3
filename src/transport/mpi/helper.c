/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread that serves others while the program computes: it does active
 * messages (am_mailbox.h), and drives the progress engine where the MPI needs
 * that.  It sleeps until its doorbell rings, then looks for as long as there
 * is something to serve and a little longer.  While threads of the program are
 * inside MPI or Hearth, they serve, and it sleeps: it may have to share a core
 * with them, and as long as it looks there they do not run.  It touches
 * neither the heap's application view nor any lock of the library, so a thread
 * that waits inside a page fault may rely on it.
 */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <time.h>

#include "am_mailbox.h"
#include "base/mpi_call.h"
#include "base/option.h"
#include "base/report.h"
#include "base/thread.h"
#include "base/timing.h"
#include "cluster.h"
#include "diff_aggregate.h"
#include "fabric.h"
#include "front/direct.h"
#include "mpi.h"
#include "node/lock_delegation.h"
#include "node/relax.h"
#include "progress.h"
#include "world.h"

/* In nanoseconds.  HOT, and PAGES times what a page takes, is how long the
 * helper goes on looking after it was rung for or has served a rank: long
 * enough for the next of a row of faults, but less where ranks share cores,
 * and one that waits may need this one to answer.  At other times it just has
 * a BRIEF look. */
enum { PAGES = 3, AM_LOOKS = 8 };
enum { HOT = 20000, HOT_CROWDED = 10000, BRIEF = 10000 };

/* A rank that rings at one inside MPI is given a FEW looks.  GIVE is how long
 * the helper keeps its core from the rank, in nanoseconds. */
enum { FEW = 2, GIVE = 200000 };

/* Naps: after an announcement, or without a doorbell, they start at SHORT and
 * double up to LONG.  LONG costs 0.1 % of a core.  INSIDE is how late this
 * thread sees that a rank has left MPI: at 0.5 ms hearth-perf's lock_handover
 * took 2.8 us instead of 1.1. */
enum {
    NAP_SHORT = 20000,
    NAP_INSIDE = 5000000,
    NAP_MIDDLE = 1000000,
    NAP_LONG = 20000000
};
static const uint64_t NAP_LONGEST =
    1000000000; /* who only does active messages */

static pthread_t   thread;
static atomic_bool stop;
static bool        runs, sleeps_at_doorbell, serves_am;

/* ---- the thread ---- */

/* How long it took if it has served a rank, or 0.  Where MPI is to be left
 * alone, this rank serves others when the program calls MPI or Hearth. */
static uint64_t
look(void)
{
    uint64_t took;

    if (!hearthi_mpi_exclusion_enter())
        return 0;
    took = hearthi_progress_serve();
    hearthi_mpi_exclusion_leave();
    return took;
}

/* A rank that rings meanwhile is not made to wait until this thread sleeps
 * again.  An announcement is kept for the next nap. */
static bool announced;

static enum hearthi_rung
doorbell_look(void)
{
    enum hearthi_rung rung = hearthi_doorbell_look();

    announced |= rung == HEARTHI_ANNOUNCED;
    return rung;
}

static uint64_t
hot(void)
{
    return hearthi_crowded() ? HOT_CROWDED : HOT;
}

/* It may be true for as long as the program calls MPI, and longer. */
static bool
am_serve(unsigned looks)
{
    bool rung = looks % AM_LOOKS == 0 && doorbell_look() != HEARTHI_SILENT;

    return hearthi_am_mailbox_serve() || rung;
}

/* True if a rank was served.  The first looks after a sleep are slow in any
 * case.  A rank that drives progress itself does not need this thread, which
 * may have its core. */
static bool
serve(bool rung)
{
    uint64_t more = hot() + PAGES * hearthi_help.page_time;
    uint64_t now = hearthi_now(), end = now + (rung ? more : BRIEF);
    uint64_t give = now + GIVE;
    uint32_t count = hearthi_progress_count();
    bool     any = false;

    for (unsigned looks = 0; now < end && !stop; looks++) {
        bool     waiting = hearthi_is_waiting();
        uint64_t one = look();

        if (serves_am && am_serve(looks))
            end = hearthi_now() + more;
        now = hearthi_now();
        if (one > 0 && looks > 1) {
            any = true;
            end = now + more;
            hearthi_served(one, waiting);
        }
        if (now >= give) {
            if (hearthi_progress_is_driven(count))
                break;
            give = hearthi_now() + GIVE;
        }
    }
    return any;
}

/* Where MPI needs no help.  A rank that has rung is served before this thread
 * sleeps again: none rings twice while it believes this one to be awake. */
static void
am_loop(void)
{
    while (!stop) {
        bool     rung = hearthi_doorbell_wait(NAP_LONGEST) != HEARTHI_SILENT;
        uint64_t end = hearthi_now() + hot();

        while (rung) {
            hearthi_doorbell_look();
            if (hearthi_am_mailbox_serve())
                end = hearthi_now() + hot();
            rung = !stop && hearthi_now() < end;
        }
        hearthi_am_mailbox_rest();
    }
}

/* True if a rank was served at length.  A rank that rang while this thread
 * looked has been served by then, or is by the last look. */
static bool
doorbell_serve(bool inside, bool asked)
{
    bool served;

    for (int i = 0; inside && i < FEW; i++)
        look();
    if (inside || hearthi_progress_is_waiting())
        return false;
    served = serve(asked);
    doorbell_look();
    look();
    if (serves_am)
        hearthi_am_mailbox_serve();
    return served;
}

/* Where the helper is unwanted, but locks stay. */
static void
listen_loop(void)
{
    while (!stop)
        hearthi_doorbell_wait(NAP_LONGEST);
}

/* How long to sleep next.  An announced operation may come late, since its
 * rank may have had to give its core to this very thread: so the naps after it
 * are short at first.  So are they once this rank has left MPI: those that
 * found it inside, or came unannounced because it was, are owed an answer. */
static uint64_t
nap_after(uint64_t nap, bool inside, bool was_inside, enum hearthi_rung rung)
{
    bool late = rung == HEARTHI_ANNOUNCED || announced;

    announced = false;
    if (inside)
        return rung == HEARTHI_SILENT ? NAP_INSIDE : NAP_SHORT;
    if (late || was_inside)
        return NAP_SHORT;
    return nap < NAP_LONG ? 2 * nap : nap;
}

static void
doorbell_loop(void)
{
    uint64_t nap = NAP_LONG;
    bool     inside = false;

    while (!stop) {
        uint64_t          start = hearthi_now();
        enum hearthi_rung rung = hearthi_doorbell_wait(nap);
        bool              was_inside = inside, asked;

        inside = hearthi_progress_slept(hearthi_now() - start);
        asked =
            was_inside || rung == HEARTHI_RUNG || rung == HEARTHI_AM_MAILED;
        if (serves_am)
            hearthi_am_mailbox_serve();
        nap = nap_after(nap, inside, was_inside, rung);
        if (doorbell_serve(inside, asked) && nap < NAP_LONG)
            nap = NAP_SHORT;
        if (serves_am)
            hearthi_am_mailbox_rest();
    }
}

static void
nap_loop(void)
{
    struct timespec nap = { .tv_nsec = NAP_SHORT };

    while (!stop) {
        nanosleep(&nap, NULL);
        if (serve(false))
            nap.tv_nsec = NAP_SHORT;
        else if (nap.tv_nsec < NAP_MIDDLE)
            nap.tv_nsec *= 2;
    }
}

static void *
run(void *unused)
{
    (void)unused;
    prctl(PR_SET_TIMERSLACK, 1L); /* 50 us otherwise; only delays if refused */
    /* or the kernel keeps it waiting for its own rank, which spins in MPI */
    hearthi_sched_slice_short();
    for (int i = 0; hearthi_mpi.helper && i < 100; i++)
        look();
    if (!hearthi_mpi.helper && !serves_am)
        listen_loop();
    else if (!hearthi_mpi.helper)
        am_loop();
    else if (sleeps_at_doorbell)
        doorbell_loop();
    else
        nap_loop();
    return NULL;
}

static void
thread_start(void)
{
    stop = false;
    hearthi_thread_start(&thread, run, "hearth_init", "helper thread",
                         "HEARTH_PROGRESS=none");
}

/* ---- whether ---- */

static bool
every_rank_multiple(void)
{
    return hearthi_cluster.unthreaded == hearthi_cluster.size;
}

/* What waits for a rank that computes, or NULL. */
static const char *
what_waits(void)
{
    const enum hearthi_need *need = hearthi_help.need;

    if (need[HEARTHI_PAGE] != HEARTHI_FREE)
        return "a page fault";
    if (need[HEARTHI_LOCK] != HEARTHI_FREE)
        return "a lock";
    if (need[HEARTHI_WORD] != HEARTHI_FREE)
        return "hearth_fetch_add or another atomic step";
    return NULL;
}

static void
cost_warn(const char *what)
{
    static bool said; /* once, however often Hearth is started */

    if (hearthi_cluster.rank == 0 && !said)
        hearthi_warn(
            "hearth_init",
            "with this MPI %s waits until the rank at the other end calls MPI "
            "or Hearth: initialise MPI with MPI_THREAD_MULTIPLE or let "
            "hearth_init do it, so that a helper thread can answer, or use a "
            "fabric with RMA in hardware (HEARTH_PROGRESS=none: no such "
            "warning)",
            what);
    said = true;
}

/* All ranks have seen it; rank 0 says so for all. */
_Noreturn static void
thread_impossible(void)
{
    if (hearthi_cluster.rank == 0)
        hearthi_fatal("hearth_init",
                      "HEARTH_PROGRESS=thread needs MPI_THREAD_MULTIPLE: ask "
                      "MPI_Init_thread for it or let hearth_init initialise "
                      "MPI");
    for (;;)
        pause(); /* until rank 0 has ended the job */
}

static bool
helper_wanted(void)
{
    bool        multiple = every_rank_multiple();
    const char *what = what_waits();

    switch ((enum hearthi_progress)hearthi_opt.progress) {
    case HEARTHI_NONE: return false;
    case HEARTHI_THREAD:
        if (!multiple)
            thread_impossible();
        return true;
    case HEARTHI_AUTO: break;
    }
    if (what != NULL && !multiple)
        cost_warn(what);
    return what != NULL && multiple;
}

/* The giver of a lock that stays calls MPI beside the program
 * (lock_recall.c). */
static bool
may_stay(void)
{
    return hearthi_opt.lock_stay && every_rank_multiple();
}

static bool
may_serve_am(void)
{
    return hearthi_opt.progress != HEARTHI_NONE &&
           (hearthi_mpi.helper ||
            hearthi_help.need[HEARTHI_PAGE] == HEARTHI_FREE);
}

void
hearthi_helper_open(void)
{
    hearthi_mpi_exclusion_open();
    if (hearthi_cluster.nodes == 1)
        return;
    hearthi_fabric->probe();
    hearthi_mpi.helper = helper_wanted();
    serves_am = may_serve_am();
    sleeps_at_doorbell = (hearthi_mpi.helper || serves_am || may_stay()) &&
                         hearthi_doorbell_open();
    serves_am &= sleeps_at_doorbell;
    runs = hearthi_mpi.helper || sleeps_at_doorbell;
    hearthi_diff_aggregate_open(serves_am);
    if (serves_am)
        hearthi_am_mailbox_open();
    if (runs)
        thread_start();
    hearthi_help.doorbells = hearthi_mpi.helper && sleeps_at_doorbell;
    hearthi_help.listens = sleeps_at_doorbell;
    hearthi_relaxing.may_sleep =
        hearthi_help.doorbells || hearthi_needs_nobody();
    if (sleeps_at_doorbell)
        hearthi_delegation_open();
}

void
hearthi_helper_close(void)
{
    if (!runs)
        return;
    hearthi_relaxing.may_sleep = hearthi_needs_nobody();
    stop = true;
    if (sleeps_at_doorbell)
        hearthi_doorbell_ring(hearthi_cluster.rank);
    pthread_join(thread, NULL);
    hearthi_help.doorbells = hearthi_help.listens = false;
    hearthi_diff_aggregate_close();
    if (serves_am)
        hearthi_am_mailbox_close();
    hearthi_doorbell_close();
    hearthi_mpi.helper = serves_am = runs = false;
}
