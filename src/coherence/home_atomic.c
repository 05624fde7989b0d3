/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic steps on words of the heap.
 *
 * A transport has three (transport/atomic_op.h).  All else is a loop: look,
 * work out what is to be there, and put it there by a compare-and-swap if
 * nothing has changed; else once more with what was found.  Whatever other
 * steps there are on the word, the one that succeeded went from the value that
 * it was worked out for to the next at one moment, so it is as atomic with
 * them as the compare-and-swap is.  That the word may have had other values in
 * between does no harm: the result depends on nothing but the value.
 *
 * It begins with the guess that the word is 0, which costs nothing where that
 * is wrong: the failed step is the look.
 */
#include "config.h"

#include "home_atomic.h"

#include <string.h>

#include "page/copies.h"
#include "page/home_write_guard.h"
#include "page/migration_freeze.h"
#include "page/node_cache.h"
#include "page/page.h"
#include "page/pin.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "world.h"

/* Where a word is: here, or at an offset of a home's segment. */
struct word {
    void  *here;
    int    home;
    size_t at;
};

static uint64_t
step(const struct word *w, const struct hearthi_atomic_op *s)
{
    return w->here != NULL ? hearthi_atomic_op_here(w->here, s)
                           : hearthi_transport->atomic(w->home, w->at, s);
}

static uint64_t
sum_of_doubles(uint64_t a, uint64_t b)
{
    double x, y;

    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

static uint64_t
result_of(const struct hearthi_change *c, uint64_t found)
{
    switch (c->op) {
    case HEARTHI_AND: return found & c->step.value;
    case HEARTHI_OR: return found | c->step.value;
    case HEARTHI_XOR: return found ^ c->step.value;
    case HEARTHI_SUM: return sum_of_doubles(found, c->step.value);
    case HEARTHI_STEP: break;
    }
    return found;
}

static uint64_t
change(const struct word *w, const struct hearthi_change *c)
{
    struct hearthi_atomic_op s = { HEARTHI_CAS, c->step.narrow, 0, 0 };
    uint64_t                 found = 0;

    if (c->op == HEARTHI_STEP)
        return step(w, &c->step);
    do {
        s.expected = found;
        s.value = result_of(c, found);
        found = step(w, &s);
    } while (found != s.expected && result_of(c, found) != found);
    return found;
}

/* The page does not move meanwhile (page/migration_freeze.h).
 *
 * The step happens at the home, past this rank's copy: so the copy goes, and
 * the page counts as written.  A copy fetched later has the new value; one
 * that is held gets it now. */
uint64_t
hearthi_home_atomic(void *word, const struct hearthi_change *c)
{
    struct word                     w = { .here = word };
    struct hearthi_home_write_guard past;
    uint64_t                        page = hearthi_page_of(word), old;

    if (hearthi_world.nodes == 1)
        return change(&w, c);
    w.here = NULL;
    hearthi_table_lock();
    while (hearthi_frozen_wait(page, 1))
        ;
    hearthi_home_write_guard_begin(&past,
                                   (uint64_t)((char *)word - hearthi_app(0)),
                                   hearthi_atomic_op_bytes(&c->step));
    w.home = hearthi_home_of(page);
    w.at = hearthi_frame_at(hearthi_home_frame_of(page), hearthi_heap.shift) +
           ((uintptr_t)word & (hearthi_heap.page - 1));
    hearthi_table_unlock();
    old = change(&w, c);
    hearthi_table_lock();
    hearthi_node_cache_acquired();
    if (!hearthi_is_home(hearthi_state_of(page)))
        hearthi_copies_drop(page, 1);
    hearthi_pins_renew();
    hearthi_home_write_guard_end(&past);
    hearthi_list_changed(page);
    hearthi_table_unlock();
    return old;
}
