/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* dladdr */
#include "config.h"

#include "guard.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena_map.h"
#include "base/format.h"
#include "base/min.h"
#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "central_freelist.h"
#include "coherence/range_sync.h"
#include "world.h"

enum { PATTERN = 0xdb, KEPT = HEARTHI_TEST_LIMIT(4096, 64), WHERE = 48 };

/* So many bytes are kept at most, or a part of an arena. */
enum { MOST = 4 << 20, PART = 8 };

static const uint64_t MAGIC = 0x6865617274680a01;

/* Behind an object that was freed. */
struct mark {
    uint64_t magic;
    int32_t  rank;
    char     where[WHERE];
};

_Static_assert(sizeof(struct mark) <= HEARTHI_GUARD_BYTES,
               "there is room for it");

struct kept {
    unsigned char *p;
    size_t         bytes;
    struct mark    mark;
};

bool hearthi_guard_on;

static struct {
    pthread_mutex_t mutex;
    struct kept    *kept; /* a ring */
    size_t          first, n, bytes;
} g = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_guard_open(void)
{
    hearthi_guard_on = hearthi_opt.malloc_guard;
    g.first = g.n = g.bytes = 0;
    if (!hearthi_guard_on)
        return;
    g.kept = malloc(KEPT * sizeof *g.kept);
    if (g.kept == NULL)
        hearthi_fatal("hearth_init", "no memory for HEARTH_MALLOC_GUARD");
}

void
hearthi_guard_close(void)
{
    free(g.kept);
    g.kept = NULL;
    hearthi_guard_on = false;
}

/* ---- by who frees ---- */

/* "program(+0x1234)", as addr2line(1) takes it: addresses differ from rank to
 * rank. */
static void
where_write(char where[WHERE], const void *caller)
{
    Dl_info info;

    if (caller == NULL || dladdr(caller, &info) == 0 ||
        info.dli_fname == NULL) {
        snprintf(where, WHERE, "%p", caller);
        return;
    }
    snprintf(where, WHERE, "%.26s(+0x%zx)", hearthi_base_name(info.dli_fname),
             (size_t)((const char *)caller - (const char *)info.dli_fbase));
}

void
hearthi_guard_freed(void *p, size_t bytes, const void *caller)
{
    struct mark m = { .magic = MAGIC, .rank = hearthi_world.rank };

    HEARTHI_ASSERT(bytes > HEARTHI_GUARD_BYTES);
    where_write(m.where, caller);
    bytes -= HEARTHI_GUARD_BYTES;
    memset(p, PATTERN, bytes);
    memcpy((char *)p + bytes, &m, sizeof m);
}

/* ---- by the owner ---- */

/* " by rank 1 at program(+0x1234)", as far as that is known. */
static void
mark_describe(const struct mark *m, char *text, size_t room)
{
    if (m->magic == MAGIC)
        snprintf(text, room, "by rank %d at %.*s", (int)m->rank, WHERE - 1,
                 m->where);
    else
        snprintf(text, room, "by a rank that is not known any more");
}

static void
kept_check(const struct kept *k)
{
    char   text[96];
    size_t i = 0;

    while (i < k->bytes && k->p[i] == PATTERN)
        i++;
    if (i == k->bytes)
        return;
    mark_describe(&k->mark, text, sizeof text);
    hearthi_fatal("hearth_free",
                  "use after free: byte %zu of the object of %zu bytes at %p "
                  "was stored to, now 0x%02x, after it was freed %s: free an "
                  "object when all of its uses are ordered before "
                  "(HEARTH_MALLOC_GUARD)",
                  i, k->bytes, (void *)k->p, k->p[i], text);
}

/* Where this rank is not on the node of the home, it may have old copies. */
static void
kept_acquire(const struct kept *k)
{
    struct hearthi_heap_range r = { hearthi_arena_map_at(k->p), k->bytes };

    if (!hearthi_home_is_near(hearthi_arena_rank(hearthi_arena_of(k->p))))
        hearthi_ranges_order(&r, 1, hearthi_range_sync_acquire);
}

/* The oldest one goes. */
static void
oldest_give(void)
{
    struct kept *k = &g.kept[g.first];

    HEARTHI_ASSERT_HAS(GUARD);
    HEARTHI_ASSERT(g.n > 0 && g.bytes >= k->bytes);
    kept_acquire(k);
    kept_check(k);
    hearthi_freelist_give_object(k->p);
    g.bytes -= k->bytes;
    g.first = (g.first + 1) % KEPT;
    g.n--;
}

static size_t
most_bytes(void)
{
    return hearthi_min((size_t)MOST, hearthi_arena_map.room / PART);
}

void
hearthi_guard_keep(void *p, bool listed)
{
    struct kept k = { .p = p };

    k.bytes = hearthi_freelist_object_bytes(p) - HEARTHI_GUARD_BYTES;
    memcpy(&k.mark, k.p + k.bytes, sizeof k.mark);
    if (listed || k.mark.magic != MAGIC)
        memset(k.p, PATTERN, k.bytes);
    else
        kept_check(&k);
    hearthi_mutex_lock(&g.mutex, HEARTHI_MUTEX_GUARD);
    while (g.n == KEPT || (g.n > 0 && g.bytes + k.bytes > most_bytes()))
        oldest_give();
    g.kept[(g.first + g.n++) % KEPT] = k;
    g.bytes += k.bytes;
    hearthi_mutex_unlock(&g.mutex, HEARTHI_MUTEX_GUARD);
}

void
hearthi_guard_check(bool acquire)
{
    hearthi_mutex_lock(&g.mutex, HEARTHI_MUTEX_GUARD);
    for (size_t i = 0; i < g.n; i++) {
        const struct kept *k = &g.kept[(g.first + i) % KEPT];

        if (acquire)
            kept_acquire(k);
        kept_check(k);
    }
    hearthi_mutex_unlock(&g.mutex, HEARTHI_MUTEX_GUARD);
}

bool
hearthi_guard_empty(void)
{
    bool any;

    hearthi_mutex_lock(&g.mutex, HEARTHI_MUTEX_GUARD);
    any = g.n > 0;
    while (g.n > 0)
        oldest_give();
    hearthi_mutex_unlock(&g.mutex, HEARTHI_MUTEX_GUARD);
    return any;
}

const char *
hearthi_guard_where(const void *p, char *text, size_t room)
{
    char where[96];

    text[0] = '\0';
    for (size_t i = 0; i < g.n; i++) { /* the job ends: no lock */
        const struct kept *k = &g.kept[(g.first + i) % KEPT];

        if ((const void *)k->p == p) {
            mark_describe(&k->mark, where, sizeof where);
            snprintf(text, room, " (%s)", where);
        }
    }
    return text;
}
