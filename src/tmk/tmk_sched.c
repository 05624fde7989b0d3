/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tmk_sched_start, Tmk_sched_fork and Tmk_sched_exit.
 *
 * A fork is two barriers: at the first all others have done what they had, at
 * the second they know what to do next.  So what a function wrote is seen by
 * the manager when it has come to Tmk_sched_start again, and what the manager
 * wrote by the function.  The manager passes the first in Tmk_sched_start, or
 * in the fork itself if it has not been there.
 */
#include "config.h"

#include <string.h>

#include "base/cancel.h"
#include "base/report.h"
#include "hearth/Tmk.h"
#include "hearth/hearth.h"
#include "tmk_image.h"
#include "tmk_sched.h"
#include "tmk_share.h"

typedef void job_function(Tmk_sched_arg_t);

/* What all others do next. */
struct job {
    int64_t                  end; /* come back from Tmk_sched_start */
    struct hearthi_tmk_image of;
    struct Tmk_sched_arg     arg;
};

static struct job *job; /* shared */
static bool        joined;

void
hearthi_tmk_sched_open(void)
{
    job = hearth_alloc(1, sizeof *job, hearth_on(0));
    joined = false;
}

static void
meet(void)
{
    hearth_barrier();
    hearthi_tmk_look();
}

static void
join(void)
{
    if (!joined)
        meet();
    joined = true;
}

/* An argument of its own, as the next one comes by the same memory. */
static void
job_do(void)
{
    struct Tmk_sched_arg arg = job->arg;
    void         *at = hearthi_tmk_image_at(&job->of, 1, HEARTHI_TMK_CODE);
    job_function *f;

    if (at == NULL)
        hearthi_fatal("Tmk_sched_start",
                      "the function is in a file of the program that is "
                      "another here, or not loaded: run the same program on "
                      "every process");
    memcpy(&f, &at, sizeof f);
    f(&arg);
}

static void
serve(void)
{
    for (;;) {
        meet(); /* done */
        meet(); /* there is something else */
        if (job->end)
            return;
        job_do();
    }
}

int
Tmk_sched_start(unsigned proc_id)
{
    HEARTHI_UNCANCELLED;

    hearthi_tmk_number("Tmk_sched_start", "process", proc_id, Tmk_nprocs);
    if (proc_id == Tmk_proc_id) {
        join();
        return 1;
    }
    serve();
    return 0;
}

static void
job_give(const struct job *next)
{
    join();
    *job = *next;
    meet();
    joined = false;
}

void
Tmk_sched_fork(void (*func)(Tmk_sched_arg_t), Tmk_sched_arg_t arg)
{
    HEARTHI_UNCANCELLED;
    struct job next = { 0 };
    void      *at;

    hearthi_tmk_require("Tmk_sched_fork");
    memcpy(&at, &func, sizeof at);
    if (!hearthi_tmk_image_of(at, 1, HEARTHI_TMK_CODE, &next.of))
        hearthi_fatal("Tmk_sched_fork",
                      "%p is no function of the program: other processes "
                      "have none there",
                      at);
    if (arg != NULL)
        next.arg = *arg;
    job_give(&next);
    func(arg);
}

void
Tmk_sched_exit(void)
{
    HEARTHI_UNCANCELLED;
    const struct job end = { .end = 1 };

    hearthi_tmk_require("Tmk_sched_exit");
    job_give(&end);
}
