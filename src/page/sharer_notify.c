/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "sharer_notify.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mutex.h"
#include "base/report.h"
#include "page.h"
#include "world.h"

static bool *untold; /* of each home */
int          hearthi_sharers_untold;

void
hearthi_sharer_notify_open(void)
{
    hearthi_sharers_untold = 0;
    untold = calloc((size_t)hearthi_world.size, sizeof *untold);
    if (untold == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_sharer_notify_close(void)
{
    free(untold);
}

void
hearthi_sharer_notify_later(int home)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(!hearthi_home_is_near(home));
    hearthi_sharers_untold += !untold[home];
    untold[home] = true;
}

bool
hearthi_sharer_is_notified(int home)
{
    return !untold[home];
}

/* Where MPI carries RMA by loads and stores of this processor, what was told
 * may be in its store buffer while a page is loaded, and the home's store in
 * the home's while it looks for what was told: the litmus test SB (store
 * buffering), in which both read the old.  hearthi_sharer_flags_scan() has the
 * home's fence, this is ours; what a flush does inside MPI is not relied on.
 * tests/model breaks the home's with --no-fence, and this one with
 * --no-fence-told. */
void
hearthi_sharer_notify_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

/* Does each home know of this rank's flags there? */
HEARTHI_FOR_ASSERT static bool
are_told(const struct hearthi_fetch *run, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (untold[run[i].home])
            return false;
    return true;
}

/* True if it was not told yet. */
static bool
home_notify(int home)
{
    if (!untold[home])
        return false;
    hearthi_transport->data.notify(home);
    untold[home] = false;
    hearthi_sharers_untold--;
    return true;
}

static void
arrival_await(void)
{
    hearthi_transport->data.flush();
    hearthi_sharer_notify_fence();
}

bool
hearthi_sharer_notify_homes(const struct hearthi_fetch *run, size_t n)
{
    bool any = false, wait = false;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(hearthi_sharers_untold >= 0 &&
                   hearthi_sharers_untold <= hearthi_world.size);
    for (size_t i = 0; i < n && hearthi_sharers_untold > 0; i++)
        any |= home_notify(run[i].home);
    HEARTHI_ASSERT(are_told(run, n));
    for (size_t i = 0; any && i < n; i++)
        wait |= hearthi_registered(run[i].page, run[i].count) > 0;
    if (wait)
        arrival_await();
    return any;
}

void
hearthi_sharer_notify_all(void)
{
    HEARTHI_ASSERT_HAS(TABLE);
    for (int r = 0; r < hearthi_world.size && hearthi_sharers_untold > 0; r++)
        home_notify(r);
    arrival_await();
}
