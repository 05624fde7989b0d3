/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic steps on words of the heap.
 *
 * Some transports have three (transport/atomic_op.h).  All else is a loop:
 * look, work out what is to be there, and put it there by a compare-and-swap
 * if nothing has changed; else once more with what was found.  Whatever other
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

#include "base/assert.h"
#include "home_add.h"
#include "page/copies.h"
#include "page/home_write_guard.h"
#include "page/migration_freeze.h"
#include "page/node_cache.h"
#include "page/page.h"
#include "page/pin.h"
#include "races/race_history.h"
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
                           : hearthi_transport->data.atomic(w->home, w->at, s);
}

static uint64_t
result_of(const struct hearthi_atomic_op *s, uint64_t found)
{
    switch (s->kind) {
    case HEARTHI_AND: return found & s->value;
    case HEARTHI_OR: return found | s->value;
    case HEARTHI_XOR: return found ^ s->value;
    case HEARTHI_SUM: return hearthi_real_sum(found, s->value);
    case HEARTHI_ADD:
    case HEARTHI_SWAP:
    case HEARTHI_CAS: break;
    }
    return found;
}

static bool
is_one_step(const struct word *w, const struct hearthi_atomic_op *s)
{
    return s->kind <= HEARTHI_CAS || w->here != NULL ||
           hearthi_transport->data.all_steps;
}

static uint64_t
change(const struct word *w, const struct hearthi_atomic_op *c)
{
    struct hearthi_atomic_op s = { HEARTHI_CAS, c->narrow, 0, 0 };
    uint64_t                 found = 0;

    if (is_one_step(w, c))
        return step(w, c);
    do {
        s.expected = found;
        s.value = result_of(c, found);
        found = step(w, &s);
    } while (found != s.expected && result_of(c, found) != found);
    return found;
}

/* Is the word another one behind a step that found this? */
static bool
has_changed(const struct hearthi_atomic_op *c, uint64_t old)
{
    switch (c->kind) {
    case HEARTHI_ADD: return c->value != 0;
    case HEARTHI_SWAP: return c->value != old;
    case HEARTHI_CAS: return c->expected == old && c->value != old;
    default: return result_of(c, old) != old;
    }
}

/* ---- the calls ---- */

/* Where a word is.  With the table's lock; its page does not move until the
 * guard ends (page/migration_freeze.h). */
static void
place_begin(struct word *w, void *word, size_t bytes,
            struct hearthi_home_write_guard *past)
{
    uint64_t page = hearthi_page_of(word);

    while (hearthi_frozen_wait(page, 1))
        ;
    hearthi_home_write_guard_begin(
        past, (uint64_t)((char *)word - hearthi_app(0)), bytes);
    w->here = NULL;
    w->home = hearthi_home_of(page);
    HEARTHI_ASSERT(w->home >= 0 && w->home < hearthi_world.size);
    w->at =
        hearthi_home_at(page) + ((uintptr_t)word & (hearthi_heap.page - 1));
    HEARTHI_ASSERT(w->at % bytes == 0);
}

/* The step happens at the home, past this rank's copy: so the copy goes, and
 * the page counts as written.  A copy fetched later has the new value; one
 * that is pinned gets it now. */
uint64_t
hearthi_home_atomic(void *word, const struct hearthi_atomic_op *c)
{
    struct word                     w = { .here = word };
    struct hearthi_home_write_guard past;
    uint64_t                        page = hearthi_page_of(word), old;

    if (hearthi_world.nodes == 1)
        return change(&w, c);
    hearthi_home_adds_before(word);
    hearthi_table_lock();
    place_begin(&w, word, hearthi_atomic_op_bytes(c), &past);
    hearthi_table_unlock();
    old = change(&w, c);
    hearthi_table_lock();
    hearthi_node_cache_acquired();
    if (!hearthi_is_home(hearthi_state_of(page)))
        hearthi_copies_drop(page, 1);
    hearthi_pins_renew();
    HEARTHI_ASSERT(hearthi_is_home_write_guarded(page) &&
                   !hearthi_is_frozen(page));
    hearthi_home_write_guard_end(&past);
    hearthi_list_changed(page);
    if (hearthi_races != NULL && has_changed(c, old))
        hearthi_races_stepped(past.offset, hearthi_atomic_op_bytes(c));
    hearthi_table_unlock();
    return old;
}

/* A home of this node is looked at in its memory: that is never an older value
 * than one that was seen there before, and steps of other ranks come to be
 * seen without a call of this one (transport/remote_word.h).  A step that adds
 * nothing looks at any other; the page was not written by it.  The word is
 * loaded with acquire, as by a step (atomic_op.h), though callers are promised
 * no order. */
uint64_t
hearthi_home_word(void *word, bool *near)
{
    const struct hearthi_atomic_op  look = { .kind = HEARTHI_ADD };
    struct word                     w;
    struct hearthi_home_write_guard past;
    uint64_t                        found;
    const char                     *base;

    *near = true;
    if (hearthi_world.nodes == 1)
        return __atomic_load_n((uint64_t *)word, __ATOMIC_ACQUIRE);
    hearthi_table_lock();
    place_begin(&w, word, sizeof found, &past);
    *near = hearthi_world.node_of[w.home] == hearthi_world.node;
    if (*near) {
        base = hearthi_segments.base[hearthi_world.node_rank_of[w.home]];
        found = __atomic_load_n((const uint64_t *)(const void *)(base + w.at),
                                __ATOMIC_ACQUIRE);
    } else {
        hearthi_table_unlock();
        found = step(&w, &look);
        hearthi_table_lock();
    }
    hearthi_home_write_guard_end(&past);
    hearthi_table_unlock();
    return found;
}
