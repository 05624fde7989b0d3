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
#include "hearth/hearth.h"
#include "malloc/malloc.h"
#include "malloc/tcache.h"
#include "world.h"

static void *
slow_malloc(const char *call, size_t bytes, int home, bool zero)
{
    HEARTHI_UNCANCELLED;

    hearthi_require_thread(call);
    return hearthi_malloc(call, bytes > 0 ? bytes : 1, home, zero);
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

void *
hearth_malloc_on(size_t bytes, int rank)
{
    const char *call = "hearth_malloc_on";

    hearthi_require_thread(call);
    if (rank < 0 || rank >= hearthi_world.size)
        hearthi_fatal(call, "home rank %d does not exist: ranks are 0 to %d",
                      rank, hearthi_world.size - 1);
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
    if (s == NULL || s->home != hearthi_world.rank)
        return false;
    slot = hearthi_slot_of(s, p);
    if (slot == HEARTHI_NO_SLOT || !hearthi_slot_return(s, slot))
        return false; /* which will be said */
    hearthi_tcache_put(c, s->class, p);
    return true;
}

static void
slow_free(const char *call, void *p)
{
    HEARTHI_UNCANCELLED;

    hearthi_require_thread(call);
    if (hearthi_in_arenas(p))
        hearthi_malloc_free(call, p);
    else
        hearthi_free(call, "hearth_alloc or hearth_malloc", p);
}

void
hearth_free(void *p)
{
    if (!quick_free(p))
        slow_free("hearth_free", p);
}

static void *
moved(const char *call, void *p, size_t bytes, size_t had)
{
    void *to = hearthi_malloc(call, bytes, hearthi_arena_of(p), false);

    memcpy(to, p, had < bytes ? had : bytes);
    hearthi_malloc_free(call, p);
    return to;
}

void *
hearth_realloc(void *p, size_t bytes)
{
    HEARTHI_UNCANCELLED;
    const char *call = "hearth_realloc";
    size_t      had;

    hearthi_require_thread(call);
    if (bytes == 0)
        bytes = 1;
    if (p == NULL)
        return hearthi_malloc(call, bytes, hearthi_world.rank, false);
    if (!hearthi_in_arenas(p))
        hearthi_fatal(call,
                      "%p is not what hearth_malloc returned: what "
                      "hearth_alloc returned keeps its size",
                      p);
    had = hearthi_malloc_bytes(call, p);
    return bytes <= had && bytes >= had / 2 ? p : moved(call, p, bytes, had);
}
