/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "background_thread.h"

#include "base/clock.h"
#include "base/min.h"
#include "base/thread.h"
#include "guard.h"
#include "need.h"
#include "purge.h"
#include "races/race_history.h"
#include "world.h"

/* So often it looks whether a rank in need has asked. */
enum { ANSWER_NS = 200000000 };

static struct {
    struct hearthi_poller thread;
    bool                  answers; /* to ranks in need, too */
    bool                  begun, runs;
    int                   sleeps; /* enum sleep, or soon will */
} g;

/* For what it sleeps: a rank in need is looked for now and then; memory is to
 * go back; nothing. */
enum sleep { LOOKS, PURGES, IDLE };

/* There may be something here that another rank has need of. */
static bool
may_answer(void)
{
    return g.answers && hearthi_arena_map_has_freed();
}

/* Sleep until one of the two is due, if any is; true if the thread goes on. */
static bool
next_await(bool kept, uint64_t due, bool answers)
{
    uint64_t      next = answers ? hearthi_now() + ANSWER_NS : UINT64_MAX;
    struct pollfd fd;

    hearthi_poller_wait(&g.thread, &fd, 1,
                        kept ? hearthi_min(due, next) : next);
    return !g.thread.stop;
}

/* What there is to do.  It says that it is idle before it looks whether it is:
 * who leaves something behind that look sees it so, and wakes it. */
static void
work_find(bool *kept, bool *answers)
{
    enum sleep sleeps = IDLE;

    __atomic_store_n(&g.sleeps, IDLE, __ATOMIC_SEQ_CST);
    *kept = hearthi_purge_is_kept();
    *answers = may_answer();
    if (*kept)
        sleeps = PURGES;
    if (*answers)
        sleeps = LOOKS;
    __atomic_store_n(&g.sleeps, (int)sleeps, __ATOMIC_SEQ_CST);
}

static void *
background(void *none)
{
    uint64_t due = 0; /* 0: nothing is kept, as far as is known */

    while (!g.thread.stop) {
        bool kept, answers;

        work_find(&kept, &answers);
        if (!kept || due == 0)
            due = kept ? hearthi_now() + hearthi_purge_ns : 0;
        if (!next_await(kept, due, answers))
            break;
        if (answers)
            hearthi_need_heed();
        if (kept && hearthi_now() >= due) {
            hearthi_purge_look(&g.thread.stop);
            due = 0;
        }
    }
    return none;
}

/* Over MPI an answer sends messages; and who looks at what threads do to
 * memory would take the thread for one of the program's. */
void
hearthi_background_thread_open(void)
{
    g.begun = g.runs = false;
    g.sleeps = LOOKS;
    g.answers = hearthi_world.size > 1 && hearthi_world.multiple &&
                !hearthi_guard_on && hearthi_races == NULL;
}

void
hearthi_background_thread_close(void)
{
    if (g.runs)
        hearthi_poller_end(&g.thread);
    g.begun = g.runs = false;
}

void
hearthi_background_thread_forked(void)
{
    if (g.runs)
        hearthi_poller_forked(&g.thread);
    g.begun = g.runs = false;
}

/* The look at `begun` is relaxed: `sleeps` is LOOKS until the thread itself
 * says else, and that comes behind its start.  The exchange decides which
 * thread starts it. */
void
hearthi_background_thread_wake(void)
{
    bool begun = __atomic_load_n(&g.begun, __ATOMIC_RELAXED);
    int  sleeps = begun ? __atomic_load_n(&g.sleeps, __ATOMIC_SEQ_CST) : IDLE;

    if (sleeps == LOOKS ||
        !(may_answer() || (sleeps == IDLE && hearthi_purge_is_kept())))
        return;
    if (begun) {
        if (__atomic_exchange_n(&g.sleeps, LOOKS, __ATOMIC_SEQ_CST) != LOOKS)
            hearthi_poller_wake(&g.thread);
    } else if (!__atomic_exchange_n(&g.begun, true, __ATOMIC_ACQ_REL)) {
        hearthi_poller_start(&g.thread, background,
                             "thread to give memory back");
        g.runs = true;
    }
}
