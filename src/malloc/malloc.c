/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "malloc.h"

#include "background_thread.h"
#include "base/report.h"
#include "guard.h"
#include "need.h"
#include "owner_cache.h"
#include "purge.h"
#include "remote_free.h"
#include "tcache.h"
#include "world.h"

void
hearthi_malloc_open(void)
{
    hearthi_arena_map_open();
    hearthi_freelists_open();
    hearthi_guard_open();
    hearthi_purge_open();
    hearthi_background_thread_open();
    hearthi_owner_cache_open();
    hearthi_remote_free_open();
    hearthi_tcaches_open();
}

void
hearthi_malloc_close(void)
{
    hearthi_background_thread_close();
    hearthi_guard_close();
    hearthi_tcaches_close();
    hearthi_remote_free_close();
    hearthi_owner_cache_close();
    hearthi_freelists_close();
    hearthi_arena_map_close();
}

void
hearthi_malloc_forked(void)
{
    hearthi_background_thread_forked();
    hearthi_tcaches_close();
}

void
hearthi_malloc_send_freed(void)
{
    hearthi_need_heed();
    if (__atomic_load_n(&hearthi_arena_map.batches, __ATOMIC_RELAXED))
        hearthi_remote_free_settle();
}

void
hearthi_malloc_remote_free_settle(void)
{
    if (hearthi_guard_on)
        hearthi_guard_check(true);
    if (__atomic_load_n(&hearthi_arena_map.batches, __ATOMIC_RELAXED))
        hearthi_remote_free_settle();
    if (__atomic_load_n(&hearthi_arena_map.split, __ATOMIC_RELAXED))
        hearthi_remote_free_take();
    if (__atomic_load_n(&hearthi_arena_map.idle, __ATOMIC_RELAXED))
        hearthi_freelists_shed(HEARTHI_SHED_SCARCE);
    hearthi_background_thread_wake();
}

void
hearthi_malloc_check(void)
{
    if (hearthi_guard_on)
        hearthi_guard_check(false); /* a barrier is just over */
    hearthi_remote_free_check();
}

/* ---- another size ---- */

/* For all that is said of scope consistency the object is given out anew, with
 * bytes that the program did not have: the section that hands on the larger
 * one tells of it. */
bool
hearthi_malloc_resize(void *p, size_t bytes, size_t had)
{
    bool fits = bytes <= had && bytes >= had / 2;

    if (hearthi_guard_on)
        return false; /* who has kept the old address is found */
    if (!fits &&
        (bytes <= HEARTHI_SMALL ||
         hearthi_block_get(p) != HEARTHI_BLOCK_LARGE ||
         bytes > hearthi_arena_map.room || !hearthi_run_resize(p, bytes)))
        return false;
    hearthi_background_thread_wake();
    if (hearthi_arena_map.written)
        hearthi_written_note(p, bytes);
    return true;
}

/* ---- giving back ---- */

_Noreturn static void
not_ours(const char *call, const void *p)
{
    char text[128];

    hearthi_fatal(call,
                  "%p is not what hearth_malloc returned, or was freed "
                  "before%s: free each object once",
                  p, hearthi_guard_where(p, text, sizeof text));
}

static void
own_free(const char *call, void *p, struct hearthi_slab *s)
{
    struct hearthi_tcache *c = hearthi_tcache_own();
    int                    slot = s == NULL ? 0 : hearthi_slot_of(s, p);

    if (s == NULL ? !hearthi_run_return(p)
                  : slot == HEARTHI_NO_SLOT || !hearthi_slot_return(s, slot))
        not_ours(call, p);
    if (hearthi_guard_on)
        hearthi_guard_keep(p, false);
    else if (s == NULL)
        hearthi_freelist_give_run(p);
    else if (s->home == hearthi_arena_map.own && c != NULL)
        hearthi_tcache_put(c, s->class, p);
    else
        hearthi_freelist_give(p);
}

static char *
block_begin(const void *p)
{
    size_t at = hearthi_arena_map_at(p);

    return hearthi_heap.base + (at - at % HEARTHI_ARENA_BLOCK);
}

static bool
is_slot(const char *p, unsigned class)
{
    return (size_t)(p - block_begin(p)) % hearthi_size_class_bytes(class) == 0;
}

/* What another rank has allocated there, or so it seems; to free it, what is
 * remembered will do.  A class that does not fit may be an old one. */
static struct hearthi_owner_tag
owner_tag_of(const char *call, const char *p, bool free)
{
    uint64_t                 count = hearthi_owner_cache_count();
    struct hearthi_owner_tag l;

    if (free && hearthi_owner_cache_get(p, &l) && is_slot(p, l.class))
        return l;
    l = hearthi_owner_tag_get(block_begin(p));
    if (!l.small)
        l = hearthi_owner_tag_get(p);
    if (l.owner < 0 ||
        (l.small ? !is_slot(p, l.class)
                 : hearthi_arena_map_at(p) % hearthi_arena_map.quantum != 0))
        not_ours(call, p);
    if (free && l.small)
        hearthi_owner_cache_put(p, l, count);
    return l;
}

void
hearthi_malloc_free(const char *call, void *p, const void *caller)
{
    struct hearthi_slab     *s = hearthi_slab_around(p);
    struct hearthi_owner_tag l;

    if (hearthi_guard_on)
        hearthi_guard_freed(
            p, hearthi_malloc_bytes(call, p) + HEARTHI_GUARD_BYTES, caller);
    if (s != NULL || hearthi_block_get(p) == HEARTHI_BLOCK_LARGE) {
        own_free(call, p, s);
    } else {
        hearthi_need_heed();
        l = owner_tag_of(call, p, true);
        hearthi_remote_free_put(
            call, p, l.owner,
            l.small ? 0 : l.quanta * hearthi_arena_map.quantum);
    }
    hearthi_background_thread_wake();
}

/* ---- its size ---- */

static size_t
own_bytes(const char *call, const void *p, const struct hearthi_slab *s)
{
    int    slot = s == NULL ? HEARTHI_NO_SLOT : hearthi_slot_of(s, p);
    size_t bytes = s == NULL ? hearthi_run_bytes(p) : s->size;

    if (s == NULL ? hearthi_arena_map_at(p) % hearthi_arena_map.quantum != 0
                  : slot == HEARTHI_NO_SLOT || !hearthi_slot_is_live(s, slot))
        bytes = 0;
    if (bytes == 0)
        not_ours(call, p);
    return bytes;
}

static size_t
object_bytes(const char *call, const void *p)
{
    struct hearthi_slab     *s = hearthi_slab_around(p);
    struct hearthi_owner_tag l;

    if (s != NULL || hearthi_block_get(p) == HEARTHI_BLOCK_LARGE)
        return own_bytes(call, p, s);
    l = owner_tag_of(call, p, false);
    return l.small ? hearthi_size_class_bytes(l.class)
                   : l.quanta * hearthi_arena_map.quantum;
}

size_t
hearthi_malloc_bytes(const char *call, const void *p)
{
    return object_bytes(call, p) -
           (hearthi_guard_on ? HEARTHI_GUARD_BYTES : 0);
}

/* ---- all that is free ---- */

void
hearthi_malloc_collect(void)
{
    hearthi_tcache_empty();
    hearthi_need_give(HEARTHI_SHED_PURGED);
}
