/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An object is taken: from what is free here, or what other ranks give back.
 */
#include "config.h"

#include <string.h>
#include <time.h>

#include "background_thread.h"
#include "base/clock.h"
#include "base/min.h"
#include "base/report.h"
#include "guard.h"
#include "malloc.h"
#include "need.h"
#include "profile/allocations.h"
#include "profile/profile.h"
#include "races/race_history.h"
#include "remote_free.h"
#include "space/segment.h"
#include "tcache.h"
#include "transport/remote_word.h"
#include "transport/transport.h"
#include "world.h"

/* So long another rank may take to answer the rank in need, which asks so
 * often: what others free after they have answered is for the next time. */
static const uint64_t PATIENCE_NS = 2000000000, AGAIN_NS = 100000000;

_Noreturn static void
no_memory(const char *call, size_t bytes, int home)
{
    const size_t most = hearthi_arena_map.room;
    const size_t words = hearthi_arena_map_words();
    const size_t need =
        hearthi_arena_map.each + hearthi_min(bytes, SIZE_MAX / 4);

    if (hearthi_segments_lack_shm(hearthi_segments_home(),
                                  need >> hearthi_heap.shift))
        hearthi_fatal(call,
                      "rank %d has no memory for %zu bytes more: the %zu KiB "
                      "for hearth_malloc of each rank (HEARTH_MALLOC) lie in "
                      "/dev/shm, and /dev/shm has %zu MiB for "
                      "all: " HEARTHI_SHM_REMEDY,
                      home, bytes, hearthi_arena_map.each >> 10,
                      hearthi_segments.shm >> 20);
    if (most == 0)
        hearthi_fatal(call,
                      "of HEARTH_MALLOC, now %zu KiB, nothing is left beside "
                      "the %zu KiB for what Hearth itself keeps there: raise "
                      "it to %zu KiB or more, or use hearth_alloc",
                      hearthi_arena_map.each >> 10, words >> 10, words >> 9);
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

/* From this thread's tcache, or the central free list. */
static hearthi_object
small_take(int home, unsigned class)
{
    struct hearthi_tcache *c = hearthi_tcache_own();
    hearthi_object         o = 0;

    if (home != hearthi_arena_map.own || hearthi_guard_on ||
        hearthi_races != NULL) {
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
object_try(const struct hearthi_wanted *w)
{
    char          *p;
    hearthi_object o;

    if (w->bytes > HEARTHI_SMALL || w->align > HEARTHI_SMALL)
        return w->bytes > hearthi_arena_map.room ||
                       w->align > hearthi_arena_map.room
                   ? 0
                   : hearthi_freelist_take_run(w->home, w->bytes, w->align,
                                               true);
    o = small_take(w->home, hearthi_size_class_aligned(w->bytes, w->align));
    p = hearthi_object_at(o);
    if (o != 0) {
        struct hearthi_slab *s = hearthi_slab_around(p);

        hearthi_slot_lend(s, (uint32_t)hearthi_slot_of(s, p));
    }
    return o;
}

static void
others_ask(void)
{
    for (int r = 0; r < hearthi_world.size; r++)
        if (r != hearthi_world.rank)
            hearthi_remote_word_add(r, hearthi_arena_need_at(), 1);
}

/* Others may have freed objects of this rank's that are still with them, or
 * have blocks of their own in which nothing is live: they are asked, and have
 * a while until they come to a call that answers. */
static hearthi_object
object_await(const struct hearthi_wanted *w)
{
    uint64_t       now = hearthi_now(), ask = now;
    const uint64_t until = now + PATIENCE_NS;
    hearthi_object o = 0;

    for (; o == 0 && hearthi_world.size > 1 && now < until;
         now = hearthi_now()) {
        if (now >= ask) {
            others_ask();
            ask = now + AGAIN_NS;
        }
        hearthi_transport->progress();
        hearthi_need_heed(); /* who waits for this rank may do so, too */
        hearthi_remote_free_take();
        o = object_try(w);
        if (o == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
    }
    return o;
}

/* Others may have handed over some, or this thread keeps what another class
 * could have. */
static hearthi_object
object_take(const struct hearthi_wanted *w)
{
    hearthi_object o;

    hearthi_need_heed();
    hearthi_remote_free_take();
    o = object_try(w);
    hearthi_background_thread_wake();
    if (o != 0)
        return o;
    hearthi_tcache_empty();
    hearthi_remote_free_settle();
    do
        o = object_try(w);
    while (o == 0 && (hearthi_remote_free_take() ||
                      (hearthi_guard_on && hearthi_guard_empty())));
    if (o == 0 && w->bytes <= hearthi_arena_map.room)
        o = object_await(w);
    return o;
}

/* For reports. */
static void *
noted(void *p, size_t bytes)
{
    if (hearthi_profile != NULL || hearthi_races != NULL)
        hearthi_allocations_add(p, bytes, 0);
    return p;
}

void *
hearthi_malloc(const char *call, const struct hearthi_wanted *wanted)
{
    struct hearthi_wanted w = *wanted;
    hearthi_object        o;
    char                 *p;

    w.home = hearthi_arena_for(w.home);
    if (hearthi_guard_on && w.bytes <= hearthi_arena_map.room)
        w.bytes += HEARTHI_GUARD_BYTES;
    o = object_take(&w);
    if (o == 0 && w.may_fail)
        return NULL;
    if (o == 0)
        no_memory(call, w.bytes, w.home);
    p = hearthi_object_at(o);
    /* In the section in which it is given out (remote_free.c). */
    if ((o & 1) && hearthi_arena_map.written)
        hearthi_written_note(p, w.bytes);
    if ((o & 1) && w.zero)
        memset(p, 0, w.bytes);
    return noted(p, wanted->bytes);
}

/* Of what it has already an object that has to move gets so much in addition,
 * so that one that grows step by step moves seldom: the copies are no more
 * than some times its last size.  It costs addresses of the arena, of which it
 * is a part, but no memory until it is touched. */
static size_t
spare_of(size_t bytes)
{
    return hearthi_min(bytes / 2, hearthi_arena_map.room / 8);
}

void *
hearthi_malloc_spare(const char *call, size_t bytes, int home, bool spare)
{
    hearthi_object o = 0;

    if (spare && bytes > HEARTHI_SMALL && bytes <= hearthi_arena_map.room &&
        !hearthi_guard_on)
        o = hearthi_freelist_take_run(hearthi_arena_for(home),
                                      bytes + spare_of(bytes), 1, false);
    if (o == 0)
        return hearthi_malloc(call, &(struct hearthi_wanted){
                                        .bytes = bytes,
                                        .align = HEARTHI_ALIGN,
                                        .home = home,
                                    });
    if ((o & 1) && hearthi_arena_map.written)
        hearthi_written_note(hearthi_object_at(o), bytes);
    return hearthi_object_at(o);
}
