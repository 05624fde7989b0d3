/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What every call of Tmk.h checks first; Tmk_malloc() and Tmk_distribute().
 *
 * What is distributed stands in a list in shared memory, which is read and
 * written under a lock of its own.  A process that has synchronised with the
 * one that distributed finds by the count that there is more than it has
 * taken: the store to it came before what it was told of, in the order that
 * release consistency keeps.  A process that has not may read the old count or
 * the new one, and either is right, since the list itself is not read but
 * under the lock.  So an acquire costs a load as long as nothing is
 * distributed.
 */
#include "config.h"

#include "tmk_share.h"

#include <stdint.h>
#include <string.h>

#include "api/api.h"
#include "base/cancel.h"
#include "base/report.h"
#include "hearth/Tmk.h"
#include "hearth/hearth.h"
#include "space/heap.h"
#include "tmk_area.h"
#include "tmk_image.h"

struct hearthi_tmk hearthi_tmk;

unsigned Tmk_proc_id;
unsigned Tmk_nprocs = 1;
unsigned Tmk_page_size;

void
hearthi_tmk_require(const char *call)
{
    if (!hearthi_tmk.up)
        hearthi_fatal(call, "called before Tmk_startup or after Tmk_exit: "
                            "call it between them");
    hearthi_require_thread(call);
}

void
hearthi_tmk_number(const char *call, const char *what, unsigned number,
                   unsigned count)
{
    hearthi_tmk_require(call);
    if (number >= count)
        hearthi_fatal(call, "%s %u does not exist: give 0 to %u", what, number,
                      count - 1);
}

/* ---- what is shared ---- */

enum { GUARD = HEARTH_LOCKS - 1 }; /* the lock of all that is here */

/* The value of a variable.  They are numbered in their order. */
struct value {
    struct value            *next;
    struct hearthi_tmk_image of;
    uint64_t                 bytes;
    int64_t                  takers; /* processes that have still to take it */
    char                     data[];
};

/* The oldest that some process has still to take, and the newest. */
struct values {
    int64_t       count; /* that there ever were */
    int64_t       first_number;
    struct value *first, *last;
    int64_t       beyond; /* an object was too much for the area */
};

/* A lock in the upper half, a condition in the lower. */
struct conds {
    int64_t  count;
    uint64_t of[HEARTH_CONDS];
};

static struct values *values;
static struct conds  *conds;
static int64_t        taken; /* by this process */
static struct conds   known; /* by this process */

void
hearthi_tmk_share_open(void)
{
    values = hearth_alloc(1, sizeof *values, hearth_on(0));
    conds = hearth_alloc(1, sizeof *conds, hearth_on(0));
    hearthi_tmk_area_open();
    taken = 0;
    known.count = 0;
}

/* ---- memory ---- */

/* One process says so, once. */
static void *
allocate_beyond(const char *call, size_t size)
{
    void   *p = hearth_malloc(size);
    int64_t before;

    hearth_lock(GUARD);
    before = values->beyond;
    values->beyond = 1;
    hearth_unlock(GUARD);
    if (before == 0)
        hearthi_tmk_area_full(call, size);
    return p;
}

static void *
allocate(const char *call, size_t size)
{
    void *p;

    hearthi_tmk_require(call);
    if (size == 0)
        hearthi_fatal(call, "0 bytes: allocate at least 1");
    if (!hearthi_tmk_area_is_for(size))
        return hearth_malloc(size);
    hearth_lock(GUARD);
    p = hearthi_tmk_area_take(size);
    hearth_unlock(GUARD);
    return p != NULL ? p : allocate_beyond(call, size);
}

void *
Tmk_malloc(size_t size)
{
    HEARTHI_UNCANCELLED;

    return allocate("Tmk_malloc", size);
}

/* What was freed may come again, and this is to be zero. */
void *
Tmk_sbrk(size_t incr)
{
    HEARTHI_UNCANCELLED;

    return memset(allocate("Tmk_sbrk", incr), 0, incr);
}

static void
area_give(const void *ptr)
{
    bool given;

    hearth_lock(GUARD);
    given = hearthi_tmk_area_give(ptr);
    hearth_unlock(GUARD);
    if (!given)
        hearthi_fatal("Tmk_free",
                      "%p is not what Tmk_malloc returned, or was freed "
                      "before: free each object once",
                      ptr);
}

void
Tmk_free(void *ptr)
{
    HEARTHI_UNCANCELLED;

    hearthi_tmk_require("Tmk_free");
    if (hearthi_tmk_area_has(ptr))
        area_give(ptr);
    else
        hearth_free(ptr);
}

/* ---- values of variables ---- */

static void
value_take(const struct value *v)
{
    void *to = hearthi_tmk_image_at(&v->of, v->bytes, HEARTHI_TMK_DATA);

    if (to == NULL)
        hearthi_fatal("Tmk_distribute",
                      "a variable of %llu bytes is in a file of the program "
                      "that is another here, or not loaded: run the same "
                      "program on every process",
                      (unsigned long long)v->bytes);
    memcpy(to, v->data, v->bytes);
}

static void
values_free(void)
{
    struct value *v;

    while ((v = values->first) != NULL && v->takers == 0) {
        values->first = v->next;
        values->first_number++;
        hearth_free(v);
    }
}

/* Under the lock. */
static void
values_take(void)
{
    int64_t n = values->first_number;

    for (struct value *v = values->first; v != NULL; v = v->next, n++) {
        if (n < taken)
            continue;
        value_take(v);
        v->takers--;
    }
    taken = values->count;
    values_free();
}

void
hearthi_tmk_look(void)
{
    if (__atomic_load_n(&values->count, __ATOMIC_RELAXED) == taken)
        return;
    hearth_lock(GUARD);
    values_take();
    hearth_unlock(GUARD);
}

static struct value *
value_new(const void *ptr, size_t size)
{
    struct hearthi_tmk_image of;
    struct value            *v;

    if (size == 0)
        hearthi_fatal("Tmk_distribute", "0 bytes: give the size of the "
                                        "variable");
    if (hearthi_in_heap(ptr))
        hearthi_fatal(
            "Tmk_distribute",
            "%p is in shared memory, which every process sees: give a "
            "global variable",
            ptr);
    if (!hearthi_tmk_image_of(ptr, size, HEARTHI_TMK_DATA, &of))
        hearthi_fatal("Tmk_distribute",
                      "%zu bytes at %p are no global variable: what is on a "
                      "stack or from malloc is elsewhere on other processes",
                      size, ptr);
    v = hearth_malloc(sizeof *v + size);
    v->next = NULL;
    v->of = of;
    v->bytes = size;
    v->takers = (int64_t)Tmk_nprocs - 1;
    memcpy(v->data, ptr, size);
    return v;
}

/* Others' values come first, or an older one would be taken later; that of
 * this very variable, too, over which this one comes then.  All of it is
 * written under the lock: under scope consistency the lock carries no more. */
void
Tmk_distribute(const void *ptr, size_t size)
{
    HEARTHI_UNCANCELLED;
    struct value *v;

    hearthi_tmk_require("Tmk_distribute");
    hearth_lock(GUARD);
    v = value_new(ptr, size);
    values_take();
    value_take(v);
    if (values->first == NULL)
        values->first = v;
    else
        values->last->next = v;
    values->last = v;
    taken++;
    __atomic_store_n(&values->count, taken, __ATOMIC_RELAXED);
    values_free();
    hearth_unlock(GUARD);
}

/* ---- conditions ---- */

static int
cond_find(uint64_t pair)
{
    for (int64_t i = 0; i < known.count; i++)
        if (known.of[i] == pair)
            return (int)i;
    return -1;
}

/* Learn what others have added, and add one that is not there. */
static int
cond_add(const char *call, uint64_t pair)
{
    int i;

    hearth_lock(GUARD);
    known = *conds;
    i = cond_find(pair);
    if (i < 0 && known.count == HEARTH_CONDS)
        hearthi_fatal(call,
                      "lock %u, condition %u: %d other conditions of locks "
                      "are in use, and there are no more",
                      (unsigned)(pair >> 32), (unsigned)pair, HEARTH_CONDS);
    if (i < 0) {
        i = (int)conds->count++;
        conds->of[i] = pair;
        known = *conds;
    }
    hearth_unlock(GUARD);
    return i;
}

int
hearthi_tmk_cond(const char *call, unsigned lock, unsigned cond)
{
    uint64_t pair = (uint64_t)lock << 32 | cond;
    int      i = cond_find(pair);

    return i >= 0 ? i : cond_add(call, pair);
}
