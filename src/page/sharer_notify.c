/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "sharer_notify.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/report.h"
#include "page.h"
#include "world.h"

static bool *untold; /* of each home */
static int   n_untold;

void
hearthi_sharer_notify_open(void)
{
    n_untold = 0;
    untold = calloc((size_t)hearthi_world.size, sizeof *untold);
    if (untold == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_sharer_notify_close(void)
{
    free(untold);
}

uint64_t
hearthi_registered(uint64_t page, uint64_t count)
{
    uint64_t n = 0;

    for (uint64_t p = page; p < page + count; p++)
        n += (hearthi_table.mark[p] & HEARTHI_REGISTERED) != 0;
    return n;
}

void
hearthi_sharer_notify_later(int home)
{
    n_untold += !untold[home];
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

bool
hearthi_sharer_notify_runs(const struct hearthi_fetch *run, size_t n)
{
    bool any = false, wait = false;

    for (size_t i = 0; i < n && n_untold > 0; i++) {
        if (untold[run[i].home]) {
            hearthi_transport->tell(run[i].home);
            untold[run[i].home] = false;
            n_untold--;
            any = true;
        }
    }
    for (size_t i = 0; any && i < n; i++)
        wait |= hearthi_registered(run[i].page, run[i].count) > 0;
    if (wait) {
        hearthi_transport->flush();
        hearthi_sharer_notify_fence();
    }
    return any;
}
