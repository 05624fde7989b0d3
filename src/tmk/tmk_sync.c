/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Barriers, locks and conditions of Tmk.h.
 */
#include "config.h"

#include "api/thread_state.h"
#include "base/cancel.h"
#include "base/report.h"
#include "hearth/Tmk.h"
#include "hearth/hearth.h"
#include "tmk_share.h"

void
Tmk_barrier(unsigned id)
{
    HEARTHI_UNCANCELLED;

    hearthi_tmk_number("Tmk_barrier", "barrier", id, TMK_NBARRIERS);
    hearth_barrier();
    hearthi_tmk_look();
}

static void
lock_check(const char *call, unsigned id, bool held)
{
    hearthi_tmk_number(call, "lock", id, TMK_NLOCKS);
    if (held && !hearthi_thread_state_holds((int)id))
        hearthi_fatal(call, "lock %u is not held: acquire it first", id);
    if (!held && hearthi_thread_state_holds((int)id))
        hearthi_fatal(call, "lock %u is held already: release it first", id);
}

void
Tmk_lock_acquire(unsigned id)
{
    HEARTHI_UNCANCELLED;

    lock_check("Tmk_lock_acquire", id, false);
    hearth_lock((int)id);
    hearthi_tmk_look();
}

void
Tmk_lock_release(unsigned id)
{
    lock_check("Tmk_lock_release", id, true);
    hearth_unlock((int)id);
}

void
Tmk_lock_cond_wait(unsigned lock, unsigned cond)
{
    HEARTHI_UNCANCELLED;
    const char *call = "Tmk_lock_cond_wait";

    lock_check(call, lock, true);
    hearth_cond_wait(hearthi_tmk_cond(call, lock, cond), (int)lock);
    hearthi_tmk_look();
}

static int
cond_check(const char *call, unsigned lock, unsigned cond)
{
    hearthi_tmk_number(call, "lock", lock, TMK_NLOCKS);
    return hearthi_tmk_cond(call, lock, cond);
}

void
Tmk_lock_cond_signal(unsigned lock, unsigned cond)
{
    hearth_cond_signal(cond_check("Tmk_lock_cond_signal", lock, cond));
}

void
Tmk_lock_cond_broadcast(unsigned lock, unsigned cond)
{
    hearth_cond_broadcast(cond_check("Tmk_lock_cond_broadcast", lock, cond));
}
