/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread that serves others while the program computes: it does letters
 * (am_mailbox.h), and drives the progress engine where the MPI needs that.  It
 * sleeps until its bell rings, then looks for as long as there is something to
 * serve and a little longer.  It touches neither the heap's application view
 * nor any lock of the library, so a thread that waits inside a page fault may
 * rely on it.
 */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "am_mailbox.h"
#include "base/mpi_call.h"
#include "base/option.h"
#include "base/report.h"
#include "base/thread.h"
#include "base/thread.h"
#include "base/timing.h"
#include "cluster.h"
#include "diff_aggregate.h"
#include "front/direct.h"
#include "mpi.h"
#include "node/lock_delegation.h"
#include "progress.h"
#include "world.h"

/* In nanoseconds.  HOT, and PAGES times what a page takes, is how long the
 * helper goes on looking after it was rung for or has served somebody: long
 * enough for the next of a row of faults, but less where ranks share cores,
 * and one that waits may need this one to answer.  At other times it just has
 * a BRIEF look. */
enum { PAGES = 3, MAIL_LOOKS = 8 };
enum { HOT = 20000, HOT_CROWDED = 10000, BRIEF = 10000, WATCH = 2000 };

/* Naps: after an announcement, or without a bell, they start at SHORT and
 * double up to LONG.  LONG costs 0.1 % of a core. */
enum { NAP_SHORT = 20000, NAP_MIDDLE = 1000000, NAP_LONG = 20000000 };
static const uint64_t NAP_LONGEST = 1000000000; /* who only does mail */

static pthread_t   thread;
static atomic_bool stop;
static bool        sleeps_at_bell, does_mail;

/* ---- the thread ---- */

/* A look that took several times the shortest one has served somebody: how
 * long it took, or 0.  Where MPI is to be left alone, this rank serves others
 * when the program calls MPI or Hearth. */
static uint64_t
look(void)
{
    static uint64_t shortest = UINT64_MAX;
    uint64_t        start = hearthi_now(), took;

    if (!hearthi_mpi_exclusion_enter())
        return 0;
    hearthi_progress_look();
    hearthi_mpi_exclusion_leave();
    took = hearthi_now() - start;
    if (took < shortest)
        shortest = took;
    return took > 4 * shortest + 100 ? took : 0;
}

/* A thread of the program that waits drives progress itself: two would only
 * be in each other's way. */
static bool
others_look(void)
{
    uint32_t count = hearthi_progress_count();
    uint64_t end = hearthi_now() + WATCH;

    while (hearthi_now() < end)
        if (hearthi_progress_count() - count > 1)
            return true;
    return false;
}

/* Who rings meanwhile is not made to wait until this thread sleeps again.  An
 * announcement is kept for the next nap. */
static bool announced;

static enum hearthi_rung
bell_look(void)
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

/* True if somebody was served.  The first looks after a sleep are slow in any
 * case. */
static bool
serve(bool rung)
{
    uint64_t more = hot() + PAGES * hearthi_help.page_time;
    uint64_t now = hearthi_now(), end = now + (rung ? more : BRIEF);
    bool     any = false;

    for (unsigned looks = 0; now < end && !stop; looks++) {
        bool     waiting = hearthi_is_waiting();
        uint64_t one = look();

        /* This may go on for as long as the program calls MPI, and longer. */
        if (does_mail) {
            if (looks % MAIL_LOOKS == 0 && bell_look() != HEARTHI_SILENT)
                end = hearthi_now() + more;
            if (hearthi_am_mailbox_serve())
                end = hearthi_now() + more;
        }
        now = hearthi_now();
        if (one > 0 && looks > 1) {
            any = true;
            end = now + more;
            hearthi_served(one, waiting);
        }
    }
    return any;
}

/* Where MPI needs nobody.  Who has rung is served before this thread sleeps
 * again: nobody rings twice as long as it believes this one to be awake. */
static void
mail_loop(void)
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

/* An announced operation may come late, since its rank may have had to give
 * its core to this very thread: so the naps after it are short at first. */
static void
bell_loop(void)
{
    uint64_t nap = NAP_LONG;

    while (!stop) {
        enum hearthi_rung rung = hearthi_doorbell_wait(nap);

        if (does_mail)
            hearthi_am_mailbox_serve();
        if (rung == HEARTHI_ANNOUNCED || announced)
            nap = NAP_SHORT;
        else if (nap < NAP_LONG)
            nap *= 2;
        announced = false;
        if (!others_look() &&
            serve(rung == HEARTHI_RUNG || rung == HEARTHI_AM_MAILED) &&
            nap < NAP_LONG)
            nap = NAP_SHORT;
        if (does_mail)
            hearthi_am_mailbox_rest();
    }
}

/* Without a bell. */
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
    if (!hearthi_mpi.helper)
        mail_loop();
    else if (sleeps_at_bell)
        bell_loop();
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

void
hearthi_helper_open(void)
{
    hearthi_mpi_exclusion_open();
    if (hearthi_cluster.nodes == 1)
        return;
    hearthi_probe();
    hearthi_mpi.helper = helper_wanted();
    does_mail = hearthi_opt.progress != HEARTHI_NONE &&
                (hearthi_mpi.helper ||
                 hearthi_help.need[HEARTHI_PAGE] == HEARTHI_FREE);
    sleeps_at_bell =
        (hearthi_mpi.helper || does_mail) && hearthi_doorbell_open();
    does_mail = does_mail && sleeps_at_bell;
    hearthi_diff_aggregate_open(does_mail);
    if (does_mail)
        hearthi_am_mailbox_open();
    if (hearthi_mpi.helper || does_mail)
        thread_start();
    hearthi_help.bells = hearthi_mpi.helper && sleeps_at_bell;
    hearthi_help.listens = sleeps_at_bell;
    if (sleeps_at_bell)
        hearthi_delegation_open();
}

void
hearthi_helper_close(void)
{
    if (!hearthi_mpi.helper && !does_mail)
        return;
    stop = true;
    if (sleeps_at_bell)
        hearthi_doorbell_ring(hearthi_cluster.rank);
    pthread_join(thread, NULL);
    hearthi_help.bells = hearthi_help.listens = false;
    hearthi_diff_aggregate_close();
    if (does_mail)
        hearthi_am_mailbox_close();
    hearthi_doorbell_close();
    hearthi_mpi.helper = does_mail = false;
}
