/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory without collectives: what most calls come to is done here, in a few
 * instructions.
 */
#include "config.h"

#include <string.h>

#include "api.h"
#include "base/cancel.h"
#include "base/report.h"
#include "coherence/home_add.h"
#include "hearth/hearth.h"
#include "malloc/central_freelist.h"
#include "malloc/malloc.h"
#include "malloc/remote_free.h"
#include "malloc/tcache.h"
#include "node/relax.h"
#include "page/page.h"
#include "races/race_history.h"
#include "thread_state.h"
#include "world.h"

/* What was freed there before is another object (races/race_compare.h). */
static void
renewed(const void *p, size_t bytes)
{
    if (hearthi_races == NULL || p == NULL)
        return;
    hearthi_table_lock();
    hearthi_races_renew(p, bytes);
    hearthi_table_unlock();
}

/* It may be used, and grow, to its end. */
static void
renewed_all(const char *call, void *p)
{
    if (hearthi_races != NULL && p != NULL)
        renewed(p, hearthi_malloc_bytes(call, p));
}

/* Others may have to answer before there is memory.  An object of no bytes has
 * one. */
static void *
object_new(const char *call, struct hearthi_wanted wanted)
{
    void *p;

    if (wanted.bytes == 0)
        wanted.bytes = 1;
    hearthi_thread_state_waits(call, HEARTHI_NO_NUMBER);
    p = hearthi_malloc(call, &wanted);
    hearthi_thread_state_goes_on();
    renewed_all(call, p);
    return p;
}

/* As many as this rank has freed of another may have to be taken there. */
static void
object_end(const char *call, void *p, const void *caller)
{
    hearthi_thread_state_waits(call, HEARTHI_NO_NUMBER);
    hearthi_malloc_free(call, p, caller);
    hearthi_thread_state_goes_on();
}

/* Not inline, nor is slow_free: what they keep across calls would be saved by
 * the quick ways, too. */
__attribute__((noinline)) static void *
slow_malloc(const char *call, size_t bytes, int home, bool zero)
{
    HEARTHI_UNCANCELLED;

    hearthi_require_thread(call);
    return object_new(call, (struct hearthi_wanted){
                                .bytes = bytes,
                                .align = HEARTHI_ALIGN,
                                .home = home,
                                .zero = zero,
                            });
}

void *
hearth_malloc(size_t bytes)
{
    struct hearthi_tcache *c = hearthi_tcache_own();

    if (c != NULL && bytes - 1 < HEARTHI_SMALL && !hearthi_arena_map.written) {
        unsigned class = hearthi_size_class_of(bytes);

        if (c->n[class] > 0) {
            char *p = hearthi_object_at(c->object[class][--c->n[class]]);
            struct hearthi_slab *s = hearthi_slab_around(p);

            hearthi_slot_lend(s, (uint32_t)hearthi_slot_of(s, p));
            return p;
        }
    }
    return slow_malloc("hearth_malloc", bytes, hearthi_world.rank, false);
}

static void
home_check(const char *call, int rank)
{
    hearthi_require_thread(call);
    if (rank < 0 || rank >= hearthi_world.size)
        hearthi_fatal(call, "home rank %d does not exist: ranks are 0 to %d",
                      rank, hearthi_world.size - 1);
}

void *
hearth_malloc_on(size_t bytes, int rank)
{
    const char *call = "hearth_malloc_on";

    home_check(call, rank);
    return slow_malloc(call, bytes, rank, false);
}

void *
hearth_calloc(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        hearthi_fatal("hearth_calloc",
                      "%zu elements of %zu bytes are more than there are "
                      "addresses: allocate less",
                      count, size);
    return slow_malloc("hearth_calloc", bytes, hearthi_world.rank, true);
}

void *
hearth_try_malloc(size_t bytes)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_try_malloc";

    hearthi_require_thread(call);
    return object_new(call, (struct hearthi_wanted){
                                .bytes = bytes,
                                .align = HEARTHI_ALIGN,
                                .home = hearthi_world.rank,
                                .may_fail = true,
                            });
}

static void *
aligned_new(const char *call, size_t alignment, size_t bytes, int home)
{
    HEARTHI_UNCANCELLED;

    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        hearthi_fatal(call,
                      "an alignment of %zu is none: it is to be a power of "
                      "two",
                      alignment);
    return object_new(
        call,
        (struct hearthi_wanted){
            .bytes = bytes,
            .align = alignment > HEARTHI_ALIGN ? alignment : HEARTHI_ALIGN,
            .home = home,
        });
}

void *
hearth_aligned_alloc(size_t alignment, size_t bytes)
{
    const char *call = "hearth_aligned_alloc";

    hearthi_require_thread(call);
    return aligned_new(call, alignment, bytes, hearthi_world.rank);
}

void *
hearth_aligned_alloc_on(size_t alignment, size_t bytes, int rank)
{
    const char *call = "hearth_aligned_alloc_on";

    home_check(call, rank);
    return aligned_new(call, alignment, bytes, rank);
}

/* True if it is done. */
static bool
quick_free(void *p)
{
    struct hearthi_tcache *c = hearthi_tcache_own();
    struct hearthi_slab   *s;
    int                    slot;

    if (c == NULL || !hearthi_in_arenas(p))
        return false;
    s = hearthi_slab_around(p);
    if (s == NULL || s->home != hearthi_arena_map.own)
        return false;
    slot = hearthi_slot_of(s, p);
    if (slot == HEARTHI_NO_SLOT || !hearthi_slot_return(s, slot))
        return false; /* which will be said */
    hearthi_tcache_put(c, s->class, p);
    return true;
}

__attribute__((noinline)) static void
slow_free(const char *call, void *p, const void *caller)
{
    HEARTHI_UNCANCELLED;

    if (p == NULL || hearthi_is_over())
        return; /* all objects went with the heap */
    hearthi_require_thread(call);
    hearthi_home_adds_end();
    if (hearthi_in_arenas(p))
        object_end(call, p, caller);
    else
        hearthi_free(call, "hearth_alloc or hearth_malloc", p);
}

/* Adds that have yet to go home may be to this object. */
void
hearth_free(void *p)
{
    if (hearthi_home_adds_are_left() || !quick_free(p))
        slow_free("hearth_free", p, __builtin_return_address(0));
}

/* Room for more is of use to what has grown. */
static void *
object_moved(void *p, size_t bytes, size_t had, const void *caller)
{
    const char *call = "hearth_realloc";
    int         home = hearthi_arena_of(p);
    void       *to;

    hearthi_thread_state_waits(call, HEARTHI_NO_NUMBER);
    to = hearthi_malloc_spare(call, bytes, home, bytes > had);
    hearthi_thread_state_goes_on();
    renewed_all(call, to);
    memcpy(to, p, had < bytes ? had : bytes);
    object_end(call, p, caller);
    return to;
}

static void
object_require(const char *call, const void *p)
{
    if (!hearthi_in_arenas(p))
        hearthi_fatal(call,
                      "%p is not what hearth_malloc returned: what "
                      "hearth_alloc returned keeps its size",
                      p);
}

void *
hearth_realloc(void *p, size_t bytes)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_realloc";
    size_t      had;

    hearthi_require_thread(call);
    hearthi_home_adds_end();
    if (p == NULL)
        return slow_malloc(call, bytes, hearthi_world.rank, false);
    if (bytes == 0)
        bytes = 1;
    object_require(call, p);
    had = hearthi_malloc_bytes(call, p);
    if (!hearthi_malloc_resize(p, bytes, had))
        return object_moved(p, bytes, had, __builtin_return_address(0));
    if (bytes > had)
        renewed((char *)p + had, bytes - had);
    return p;
}

/* ---- what there is ---- */

size_t
hearth_malloc_usable_size(const void *p)
{
    const char *call = "hearth_malloc_usable_size";

    hearthi_require_thread(call);
    if (p == NULL)
        return 0;
    object_require(call, p);
    return hearthi_malloc_bytes(call, p);
}

/* A program's header may have fewer members than this library, or more. */
void
hearth_get_malloc_stats(hearth_malloc_stats *stats, size_t bytes)
{
    HEARTHI_UNCANCELLED;
    hearth_malloc_stats            s = { 0 };
    struct hearthi_freelist_counts c;

    hearthi_require_thread("hearth_get_malloc_stats");
    hearthi_freelists_count(&c);
    s.live = c.live;
    s.live_bytes = c.live_bytes;
    s.peak_bytes = c.peak_bytes;
    s.carved_bytes = c.carved_bytes;
    s.to_send = hearthi_remote_free_to_send();
    s.to_take = hearthi_remote_free_to_take();
    memset(stats, 0, bytes);
    memcpy(stats, &s, bytes < sizeof s ? bytes : sizeof s);
    hearthi_relax_serve();
}

void
hearth_collect(void)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_collect";

    hearthi_require_thread(call);
    hearthi_thread_state_waits(call, HEARTHI_NO_NUMBER);
    hearthi_malloc_collect();
    hearthi_relax_serve();
    hearthi_thread_state_goes_on();
}
