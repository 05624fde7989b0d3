/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "malloc.h"

#include <string.h>

#include "base/option.h"
#include "base/report.h"
#include "remote_free.h"
#include "tcache.h"
#include "world.h"

void
hearthi_malloc_open(void)
{
    hearthi_arena_map_open();
    hearthi_freelists_open();
    hearthi_remote_free_open();
    hearthi_tcaches_open();
}

void
hearthi_malloc_close(void)
{
    hearthi_tcaches_close();
    hearthi_remote_free_close();
    hearthi_freelists_close();
    hearthi_arena_map_close();
}

void
hearthi_malloc_forked(void)
{
    hearthi_tcaches_close();
}

void
hearthi_malloc_settle(void)
{
    hearthi_remote_free_settle();
}

bool
hearthi_malloc_check(void)
{
    hearthi_remote_free_check();
    return hearthi_remote_free_waits();
}

/* ---- taking ---- */

_Noreturn static void
no_memory(const char *call, size_t bytes, int home)
{
    const size_t most = hearthi_arena_map.room;

    if (bytes > most)
        hearthi_fatal(call,
                      "%zu bytes do not fit the %zu KiB that each rank has "
                      "for hearth_malloc: raise HEARTH_MALLOC, now %zu KiB, "
                      "or use hearth_alloc",
                      bytes, most >> 10, hearthi_arena_map.each >> 10);
    hearthi_fatal(call,
                  "rank %d has no memory for %zu bytes more, with all of its "
                  "%zu KiB for hearth_malloc shared out: raise HEARTH_MALLOC, "
                  "now %zu KiB, or let other ranks have some "
                  "(hearth_malloc_on)",
                  home, bytes, most >> 10, hearthi_arena_map.each >> 10);
}

/* From this thread's cache, or the stock. */
static hearthi_object
small_take(int home, unsigned class)
{
    struct hearthi_tcache *c = hearthi_tcache_own();
    hearthi_object         o = 0;

    if (home != hearthi_world.rank) {
        hearthi_freelist_take(home, class, &o, 1);
        return o;
    }
    if (c == NULL)
        c = hearthi_tcache_begin();
    if (c->n[class] == 0 && !hearthi_tcache_fill(c, class))
        return 0;
    return c->object[class][--c->n[class]];
}

static hearthi_object
object_try(size_t bytes, int home)
{
    char          *p;
    hearthi_object o;

    if (bytes > HEARTHI_SMALL)
        return bytes > hearthi_arena_map.room
                   ? 0
                   : hearthi_freelist_take_run(home, bytes);
    o = small_take(home, hearthi_size_class_of(bytes));
    p = hearthi_object_at(o);
    if (o != 0) {
        struct hearthi_slab *s = hearthi_slab_around(p);

        hearthi_slot_lend(s, (uint32_t)hearthi_slot_of(s, p));
    }
    return o;
}

/* Others may have handed over some, or this thread keeps what another class
 * could have. */
static hearthi_object
object_take(const char *call, size_t bytes, int home)
{
    hearthi_object o;

    hearthi_remote_free_take();
    o = object_try(bytes, home);
    if (o != 0)
        return o;
    hearthi_tcache_empty();
    hearthi_remote_free_settle();
    do
        o = object_try(bytes, home);
    while (o == 0 && hearthi_remote_free_take());
    if (o == 0)
        no_memory(call, bytes, home);
    return o;
}

void *
hearthi_malloc(const char *call, size_t bytes, int home, bool zero)
{
    hearthi_object o = object_take(call, bytes, home);
    char          *p = hearthi_object_at(o);

    /* In the section in which it is given out (remote_free.c). */
    if ((o & 1) && hearthi_arena_map.written)
        hearthi_written_note(p, bytes);
    if ((o & 1) && zero)
        memset(p, 0, bytes);
    return p;
}

/* ---- giving back ---- */

_Noreturn static void
not_ours(const char *call, const void *p)
{
    hearthi_fatal(call,
                  "%p is not what hearth_malloc returned, or was freed "
                  "before: free each object once",
                  p);
}

static void
own_free(const char *call, void *p, struct hearthi_slab *s)
{
    struct hearthi_tcache *c = hearthi_tcache_own();
    int                    slot = s == NULL ? 0 : hearthi_slot_of(s, p);

    if (s == NULL ? !hearthi_run_return(p)
                  : slot == HEARTHI_NO_SLOT || !hearthi_slot_return(s, slot))
        not_ours(call, p);
    if (s == NULL)
        hearthi_freelist_give_run(p);
    else if (s->home == hearthi_world.rank && c != NULL)
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

/* What is remembered of a block: its owner above 8 bits, a class above those
 * and one.  A class that does not fit may be an old one. */
static bool
is_known(const char *p, struct hearthi_owner_tag *l)
{
    uint64_t is = hearthi_block_get(p);

    *l = (struct hearthi_owner_tag){ .small = true,
                                     .class = (unsigned)(is >> 1 & 0x7f),
                                     .owner = (int)(is >> 8) };
    return (is & HEARTHI_BLOCK_OTHERS) && is_slot(p, l->class);
}

/* What another rank has allocated there, or so it seems. */
static struct hearthi_owner_tag
label_of(const char *call, const char *p)
{
    struct hearthi_owner_tag l;

    if (is_known(p, &l))
        return l;
    l = hearthi_owner_tag_get(block_begin(p));
    if (l.small)
        __atomic_store_n(hearthi_block_of(p),
                         (uint64_t)l.owner << 8 | l.class << 1 |
                             HEARTHI_BLOCK_OTHERS,
                         __ATOMIC_RELEASE);
    else
        l = hearthi_owner_tag_get(p);
    if (l.owner < 0 ||
        (l.small ? !is_slot(p, l.class)
                 : hearthi_arena_map_at(p) % hearthi_arena_map.grain != 0))
        not_ours(call, p);
    return l;
}

void
hearthi_malloc_free(const char *call, void *p)
{
    struct hearthi_slab     *s = hearthi_slab_around(p);
    struct hearthi_owner_tag l;

    if (s != NULL || hearthi_block_get(p) == HEARTHI_BLOCK_LARGE) {
        own_free(call, p, s);
        return;
    }
    l = label_of(call, p);
    hearthi_remote_free_put(p, l.owner,
                            l.small ? 0 : l.grains * hearthi_arena_map.grain);
}

/* ---- its size ---- */

static size_t
own_bytes(const char *call, const void *p, const struct hearthi_slab *s)
{
    int    slot = s == NULL ? HEARTHI_NO_SLOT : hearthi_slot_of(s, p);
    size_t bytes = s == NULL ? hearthi_run_bytes(p) : s->size;

    if (s == NULL ? hearthi_arena_map_at(p) % hearthi_arena_map.grain != 0
                  : slot == HEARTHI_NO_SLOT || !hearthi_slot_is_live(s, slot))
        bytes = 0;
    if (bytes == 0)
        not_ours(call, p);
    return bytes;
}

size_t
hearthi_malloc_bytes(const char *call, const void *p)
{
    struct hearthi_slab     *s = hearthi_slab_around(p);
    struct hearthi_owner_tag l;

    if (s != NULL || hearthi_block_get(p) == HEARTHI_BLOCK_LARGE)
        return own_bytes(call, p, s);
    l = label_of(call, p);
    if (!l.small)
        return l.grains * hearthi_arena_map.grain;
    l = hearthi_owner_tag_get(
        block_begin(p)); /* what is remembered may be old */
    return hearthi_size_class_bytes(l.class);
}
