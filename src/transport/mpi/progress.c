/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The progress engine, and which thread drives it.
 */
#include "config.h"

#include "progress.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <sys/random.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "fabric.h"
#include "life/life.h"
#include "world.h"

struct hearthi_help hearthi_help;

/* ---- the progress engine ---- */

atomic_uint hearthi_progress_turns;
atomic_int  hearthi_progress_blocked; /* threads in a step whose call blocks */

uint64_t
hearthi_word_unlikely(void)
{
    uint64_t r;

    if (getrandom(&r, sizeof r, GRND_NONBLOCK) != sizeof r)
        r = hearthi_clock_kernel() * UINT64_C(0x9e3779b97f4a7c15);
    return r;
}

void
hearthi_progress_drive(void)
{
    hearthi_progress_count_one();
    hearthi_fabric_look();
}

void
hearthi_mpi_progress(void)
{
    if (hearthi_may_call_mpi())
        hearthi_progress_drive();
}

/* Relaxed: a time that another thread overwrites is measured again. */
uint64_t
hearthi_progress_serve(void)
{
    static _Atomic uint64_t shortest = UINT64_MAX;
    uint64_t                start = hearthi_now(), took, least;

    hearthi_fabric_look();
    took = hearthi_now() - start;
    least = atomic_load_explicit(&shortest, memory_order_relaxed);
    if (took < least)
        atomic_store_explicit(&shortest, least = took, memory_order_relaxed);
    return took > 4 * least + 100 ? took : 0;
}

uint32_t
hearthi_progress_count(void)
{
    return atomic_load_explicit(&hearthi_progress_turns, memory_order_relaxed);
}

/* ---- which thread drives it ---- */

/* In nanoseconds.  A rank is inside if it drives progress more often than once
 * in INSIDE.  WATCH shows a thread that waits. */
enum { INSIDE = 20000, WATCH = 2000 };

/* A rank in a call that blocks is inside.  Otherwise only what comes while the
 * helper sleeps tells: where both share a core, the rank does not run while
 * that looks.  So it is asked of sleeps that are INSIDE in sum, and held to
 * until then; one step is enough to be believed inside, since a mistake costs
 * the rank that rings no more than the next such sleep. */
static struct {
    uint64_t slept;
    uint32_t count; /* when they began */
    bool     inside;
} own;

bool
hearthi_progress_slept(uint64_t slept)
{
    uint64_t turns = hearthi_progress_count() - own.count;
    bool     blocks = atomic_load_explicit(&hearthi_progress_blocked,
                                           memory_order_relaxed) > 0;

    HEARTHI_ASSERT(own.slept < INSIDE);
    own.slept += slept;
    if (blocks || turns > 0 || own.slept >= INSIDE) {
        own.inside = blocks || turns * INSIDE > own.slept;
        own.count += (uint32_t)turns;
        own.slept = 0;
    }
    return own.inside;
}

bool
hearthi_progress_is_waiting(void)
{
    uint32_t before = hearthi_progress_count();
    uint64_t end = hearthi_now() + WATCH;

    while (hearthi_now() < end)
        if (hearthi_progress_count() - before > 1)
            return true;
    return false;
}

bool
hearthi_progress_is_driven(uint32_t before)
{
    const struct timespec nap = { .tv_nsec = 1 };

    nanosleep(&nap, NULL);
    return hearthi_progress_count() != before;
}

/* ---- waits for another rank ---- */

void
hearthi_wait_warn(int rank, uint64_t waited)
{
    static atomic_bool said;

    if (waited < hearthi_opt.udp_giveup || said ||
        hearthi_life_is_told(rank) || atomic_exchange(&said, true))
        return;
    hearthi_warn("job",
                 "this rank has waited for rank %d for %" PRIu64
                 " s, which has not taken what was written to its memory or "
                 "asked of it: let that process go on if it is stopped, and "
                 "give it a core if others have it; HEARTH_UDP_GIVEUP is how "
                 "long to wait before this line",
                 rank, waited / 1000000000);
}
