/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "page.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/report.h"
#include "space/segment.h"
#include "world.h"

struct hearthi_table    hearthi_table;
struct hearthi_pagelist hearthi_written, hearthi_provisional;

/* ---- the lock: futex(2), so that the fault handler may take it ---- */

static atomic_int          lock_word; /* 0 free, 1 taken, 2 with waiters */
static const void *_Atomic lock_owner;
static _Thread_local bool  left; /* this thread has left it for a while */

static void
futex_wait(int seen)
{
    syscall(SYS_futex, &lock_word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void
lock_check(void)
{
    if (left || atomic_load_explicit(&lock_owner, memory_order_relaxed) ==
                    hearthi_thread())
        hearthi_fatal("page fault",
                      "the heap was touched from inside the library: hold "
                      "what MPI is given (hearth_hold), and let no signal "
                      "handler use the heap");
}

bool
hearthi_table_trylock(void)
{
    int seen = 0;

    lock_check();
    if (!atomic_compare_exchange_strong(&lock_word, &seen, 1))
        return false;
    atomic_store_explicit(&lock_owner, hearthi_thread(), memory_order_relaxed);
    return true;
}

static void
lock_take(void)
{
    const void *me = hearthi_thread();
    int         seen = 0;

    if (!atomic_compare_exchange_strong(&lock_word, &seen, 1)) {
        if (seen != 2)
            seen = atomic_exchange(&lock_word, 2);
        while (seen != 0) {
            futex_wait(2);
            seen = atomic_exchange(&lock_word, 2);
        }
    }
    atomic_store_explicit(&lock_owner, me, memory_order_relaxed);
}

void
hearthi_table_lock(void)
{
    lock_check();
    lock_take();
}

void
hearthi_table_unlock(void)
{
    atomic_store_explicit(&lock_owner, NULL, memory_order_relaxed);
    if (atomic_exchange(&lock_word, 0) == 2)
        syscall(SYS_futex, &lock_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void
hearthi_table_leave(void)
{
    left = true;
    hearthi_table_unlock();
}

void
hearthi_table_return(void)
{
    lock_take();
    left = false;
}

/* ---- mappings of the kernel ---- */

/* Lines of /proc/self/maps: the mappings that others have made so far. */
static long
areas_now(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    long  n = 0;

    if (f == NULL)
        return 1000;
    for (int c; (c = getc(f)) != EOF;)
        n += c == '\n';
    fclose(f);
    return n;
}

static long
areas_limit(void)
{
    FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
    long  n = 65530;

    if (f != NULL) {
        if (fscanf(f, "%ld", &n) != 1)
            n = 65530;
        fclose(f);
    }
    return n;
}

bool
hearthi_areas_short(void)
{
    return hearthi_table.areas > hearthi_table.areas_max;
}

enum area { NOTHING, COPY_R, COPY_RW, HOME_R, HOME_RW };

static const uint8_t area_of[] = {
    [HEARTHI_UNUSED] = NOTHING,     [HEARTHI_INVALID] = NOTHING,
    [HEARTHI_COMING] = NOTHING,     [HEARTHI_MISSED] = NOTHING,
    [HEARTHI_CLEAN] = COPY_R,       [HEARTHI_DIRTY] = COPY_RW,
    [HEARTHI_HOME_OPEN] = HOME_RW,  [HEARTHI_HOME_ARMED] = HOME_R,
    [HEARTHI_HOME_DIRTY] = HOME_RW, [HEARTHI_HOME_AWAY] = NOTHING,
};

static const int prot_of[] = {
    [NOTHING] = PROT_NONE,
    [COPY_R] = PROT_READ,
    [COPY_RW] = PROT_READ | PROT_WRITE,
    [HOME_R] = PROT_READ,
    [HOME_RW] = PROT_READ | PROT_WRITE,
};

/* Does the kernel need two mappings for page - 1 and page? */
static bool
border(uint64_t page)
{
    const struct hearthi_table *t = &hearthi_table;
    enum area                   a, b;

    if (page == 0 || page >= hearthi_heap.pages)
        return true;
    a = area_of[t->state[page - 1]];
    b = area_of[t->state[page]];
    if (a != b)
        return true;
    return a >= HOME_R ? !hearthi_follows(page - 1)
                       : t->shown[page - 1] != t->shown[page];
}

static long
borders(uint64_t page, uint64_t count)
{
    long n = 0;

    for (uint64_t p = page; p <= page + count; p++)
        n += border(p);
    return n;
}

static void
area_failed(const char *what, uint64_t page, uint64_t count)
{
    hearthi_fatal("page table",
                  "%s of %llu pages at %p failed: %s (%ld mappings in use, "
                  "%ld planned for; see vm.max_map_count)",
                  what, (unsigned long long)count, (void *)hearthi_app(page),
                  strerror(errno), hearthi_table.areas,
                  hearthi_table.areas_max);
}

static void
protect(uint64_t page, uint64_t count, enum area a)
{
    if (mprotect(hearthi_app(page), count << hearthi_heap.shift, prot_of[a]) !=
        0)
        area_failed("mprotect", page, count);
}

/* Home frames over the heap, one mapping for each run of frames. */
static void
homes_map(uint64_t page, uint64_t count)
{
    const struct hearthi_table *t = &hearthi_table;
    uint64_t                    end = page + count;

    while (page < end) {
        uint64_t run = 1;
        int      at = hearthi_world.node_rank_of[t->home[page]];

        while (page + run < end && hearthi_follows(page + run - 1))
            run++;
        errno = hearthi_segment_map(page, run, at, t->frame[page]);
        if (errno != 0)
            area_failed("mapping", page, run);
        page += run;
    }
}

/* What the view of a page shows that is no home page, as a distance from its
 * own place.  A page without a frame shows its own place, with no access: such
 * pages are one mapping however many have been replaced.  One that keeps its
 * frame keeps its mapping too, for when it is fetched again. */
static uint32_t
to_show(uint64_t page, enum hearthi_state to)
{
    const struct hearthi_table *t = &hearthi_table;

    if (hearthi_is_copy(to))
        return t->moved[page];
    if (to == HEARTHI_INVALID && (t->mark[page] & HEARTHI_RESIDENT))
        return t->shown[page];
    return 0;
}

static void
cached_map(uint64_t page, uint64_t count, uint32_t distance, enum area a)
{
    errno = hearthi_heap_show(page, count, (uint32_t)(page + distance),
                              prot_of[a]);
    if (errno != 0)
        area_failed("mapping", page, count);
    for (uint64_t p = page; p < page + count; p++)
        if (hearthi_table.shown[p] != distance)
            hearthi_table.shown[p] = distance;
}

/* Show cached frames: by protection alone where they are shown already, which
 * they are not where a home frame was. */
static void
cached_set(uint64_t page, uint64_t count, enum hearthi_state to, bool anew)
{
    const uint32_t *shown = hearthi_table.shown;

    for (uint64_t end = page + count, n; page < end; page += n) {
        uint32_t want = to_show(page, to);
        bool     map = anew || shown[page] != want;

        for (n = 1; page + n < end && to_show(page + n, to) == want &&
                    (anew || (shown[page + n] != want) == map);
             n++)
            ;
        if (map)
            cached_map(page, n, want, area_of[to]);
        else
            protect(page, n, area_of[to]);
    }
}

void
hearthi_pages_set(uint64_t page, uint64_t count, enum hearthi_state to)
{
    struct hearthi_table *t = &hearthi_table;
    enum area             a = area_of[to], was = area_of[t->state[page]];
    long                  before = borders(page, count);

    if (a < HOME_R)
        cached_set(page, count, to, to == HEARTHI_UNUSED || was >= HOME_R);
    else if (was >= HOME_R)
        protect(page, count, a);
    else {
        homes_map(page, count);
        if (a == HOME_R)
            protect(page, count, a);
    }
    memset(t->state + page, (int)to, count);
    t->areas += borders(page, count) - before;
}

/* ---- lists ---- */

static int
page_order(const void *a, const void *b)
{
    hearthi_page x = *(const hearthi_page *)a, y = *(const hearthi_page *)b;

    return x < y ? -1 : x > y;
}

/* Most are in order. */
void
hearthi_pagelist_sort(struct hearthi_pagelist *l)
{
    for (size_t i = 1; i < l->n; i++) {
        if (l->page[i - 1] > l->page[i]) {
            qsort(l->page, l->n, sizeof *l->page, page_order);
            return;
        }
    }
}

/* ---- the tables ---- */

static size_t
frames_bytes(void)
{
    return hearthi_segments.frames * sizeof(hearthi_page);
}

void
hearthi_table_open(void)
{
    struct hearthi_table *t = &hearthi_table;
    uint64_t              n = hearthi_heap.pages + 1;
    long                  limit = areas_limit();

    t->state = hearthi_sparse(n);
    t->mark = hearthi_sparse(n);
    t->unit = hearthi_sparse(n);
    t->home = hearthi_sparse(n * sizeof *t->home);
    t->frame = hearthi_sparse(n * sizeof *t->frame);
    t->twin = hearthi_sparse(n * sizeof *t->twin);
    t->moved = hearthi_sparse(n * sizeof *t->moved);
    t->shown = hearthi_sparse(n * sizeof *t->shown);
    t->page_of = calloc((size_t)hearthi_world.node_size, sizeof *t->page_of);
    t->frames_top =
        calloc((size_t)hearthi_world.node_size, sizeof *t->frames_top);
    if (t->page_of == NULL || t->frames_top == NULL)
        hearthi_fatal("hearth_init", "no memory");
    for (int r = 0; r < hearthi_world.node_size; r++)
        t->page_of[r] = hearthi_sparse(frames_bytes());
    hearthi_written.page = hearthi_sparse(n * sizeof(hearthi_page));
    hearthi_provisional.page = hearthi_sparse(n * sizeof(hearthi_page));
    t->areas = 0;
    /* An eighth stays free for threads, libraries and malloc. */
    t->areas_max = limit - areas_now() - limit / 8;
}

void
hearthi_table_close(void)
{
    struct hearthi_table *t = &hearthi_table;
    uint64_t              n = hearthi_heap.pages + 1;

    hearthi_sparse_free(t->state, n);
    hearthi_sparse_free(t->mark, n);
    hearthi_sparse_free(t->unit, n);
    hearthi_sparse_free(t->home, n * sizeof *t->home);
    hearthi_sparse_free(t->frame, n * sizeof *t->frame);
    hearthi_sparse_free(t->twin, n * sizeof *t->twin);
    hearthi_sparse_free(t->moved, n * sizeof *t->moved);
    hearthi_sparse_free(t->shown, n * sizeof *t->shown);
    for (int r = 0; r < hearthi_world.node_size; r++)
        hearthi_sparse_free(t->page_of[r], frames_bytes());
    free(t->page_of);
    free(t->frames_top);
    hearthi_sparse_free(hearthi_written.page, n * sizeof(hearthi_page));
    hearthi_sparse_free(hearthi_provisional.page, n * sizeof(hearthi_page));
    hearthi_written.n = hearthi_provisional.n = 0;
    memset(t, 0, sizeof *t);
}
