/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What one rank has of a checkpoint, and what all know of allocations.
 *
 * Words of an allocation: page, bytes, unit, number, kind + 1, pages of a
 * block that is dealt, which rank has the first block, and how many stretches
 * follow, each of pages and a home.  There are none where blocks are dealt and
 * no page has moved: then homes follow from the rest.
 */
#include "config.h"

#include <stdlib.h>

#include "base/min.h"
#include "base/mutex.h"
#include "checkpoint.h"
#include "hearth/hearth.h"
#include "malloc/malloc_image.h"
#include "node/lock_numbers.h"
#include "page/page.h"
#include "page/page_map.h"
#include "transport/lock_directory.h"
#include "transport/log.h"
#include "transport/transport.h"
#include "world.h"

/* ---- allocations ---- */

static void
stretches_add(struct hearthi_word_list *w, const struct hearthi_allocation *a)
{
    uint64_t end = a->page + a->pages, n;
    size_t   count = w->n, last = 0;

    hearthi_word_list_add(w, 0);
    if (a->block > 0 && a->migrated.n == 0)
        return;
    for (uint64_t p = a->page; p < end; p += n) {
        const struct hearthi_page_place *at = hearthi_page_place_of(p);

        n = hearthi_min(at->page + at->count, end) - p;
        if (w->word[count] > 0 && w->word[last + 1] == at->home) {
            w->word[last] += n;
            continue;
        }
        last = w->n;
        hearthi_word_list_add(w, n);
        hearthi_word_list_add(w, at->home);
        w->word[count]++;
    }
}

void
hearthi_save_allocations(struct hearthi_word_list *w)
{
    const struct hearthi_allocation *a;

    hearthi_table_lock();
    for (size_t i = 0; (a = hearthi_page_map_get(i)) != NULL; i++) {
        if (a->page < hearthi_heap.arena)
            continue;
        hearthi_word_list_add(w, a->page);
        hearthi_word_list_add(w, a->bytes);
        hearthi_word_list_add(w, a->unit);
        hearthi_word_list_add(w, a->number);
        hearthi_word_list_add(w, (uint64_t)(a->kind + 1));
        hearthi_word_list_add(w, a->block);
        hearthi_word_list_add(w, a->first);
        stretches_add(w, a);
    }
    hearthi_table_unlock();
}

/* ---- flags and locks ---- */

static void
flags_list(struct hearthi_word_list *w)
{
    for (int flag = 0; flag < HEARTH_FLAGS; flag++) {
        int sync = HEARTH_LOCKS + flag;

        if (hearthi_manager(sync, hearthi_world.size) == hearthi_world.rank &&
            hearthi_transport->sync.flag_is_set(sync))
            hearthi_word_list_add(w, (uint64_t)flag);
    }
}

static void
locks_list(struct hearthi_word_list *w)
{
    for (size_t i = 0; i < hearthi_lock_directory_count(); i++) {
        uint64_t name = hearthi_lock_directory_own(i);
        int      sync =
            hearthi_managed_named(i, hearthi_world.rank, hearthi_world.size);

        hearthi_word_list_add(w,
                              (uint64_t)hearthi_lock_numbers_of(sync, name));
        hearthi_word_list_add(w, name);
    }
}

/* ---- all of it ---- */

static int
words_save(struct hearthi_image_writer *file, enum hearthi_part_kind kind,
           void (*list)(struct hearthi_word_list *))
{
    struct hearthi_word_list w = { 0 };
    struct iovec             all;
    int                      failed = 0;

    list(&w);
    all = (struct iovec){ w.word, w.n * sizeof *w.word };
    if (w.n > 0)
        failed = hearthi_image_put(file, kind, w.n, &all, 1);
    free(w.word);
    return failed;
}

int
hearthi_save_rank(struct hearthi_image_writer *w)
{
    int failed = words_save(w, HEARTHI_PART_FLAGS, flags_list);

    if (failed == 0)
        failed = words_save(w, HEARTHI_PART_LOCKS, locks_list);
    if (failed == 0)
        failed =
            words_save(w, HEARTHI_PART_OBJECTS, hearthi_malloc_image_objects);
    if (failed == 0)
        failed = words_save(w, HEARTHI_PART_ARENA, hearthi_malloc_image_arena);
    if (failed == 0)
        failed = hearthi_registered_save(w);
    if (failed == 0)
        failed = hearthi_save_pages(w);
    return failed;
}
