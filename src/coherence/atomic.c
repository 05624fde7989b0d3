/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic steps on words of the heap.
 */
#include "config.h"

#include "coherence.h"

#include "page/copies.h"
#include "page/freeze.h"
#include "page/hold.h"
#include "page/mates.h"
#include "page/page.h"
#include "space/heap.h"
#include "space/segment.h"
#include "world.h"

/* The page does not move meanwhile (page/freeze.h).
 *
 * The step happens at the home, past this rank's copy: so the copy goes, and
 * the page counts as written.  A copy fetched later has the new value; one
 * that is held gets it now. */
int64_t
hearthi_atomic(enum hearthi_atomic op, int64_t *word, int64_t value)
{
    uint64_t page = hearthi_page_of(word);
    size_t   at;
    int      home;
    int64_t  old;

    if (hearthi_world.nodes == 1)
        return op == HEARTHI_ADD
                   ? __atomic_fetch_add(word, value, __ATOMIC_RELAXED)
                   : __atomic_exchange_n(word, value, __ATOMIC_RELAXED);
    hearthi_table_lock();
    hearthi_step_begin(page);
    home = hearthi_home_of(page);
    at = hearthi_frame_at(hearthi_home_frame_of(page), hearthi_heap.shift) +
         ((uintptr_t)word & (hearthi_heap.page - 1));
    hearthi_table_unlock();
    old = hearthi_transport->atomic(op, home, at, value);
    hearthi_table_lock();
    hearthi_step_end(page);
    hearthi_mates_acquired();
    if (!hearthi_is_home(hearthi_state_of(page)))
        hearthi_copies_drop(page, 1);
    hearthi_held_renew();
    hearthi_list(page);
    hearthi_table.mark[page] |= HEARTHI_CHANGED;
    hearthi_table_unlock();
    return old;
}
