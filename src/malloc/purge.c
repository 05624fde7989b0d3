/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "purge.h"

#include <string.h>

#include "base/min.h"
#include "base/mutex.h"
#include "page/page_map.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "world.h"

/* So much is worth a system call and the faults that follow it; and so much
 * goes back at a time, while other threads wait for the free list. */
enum { WORTH = 1 << 20, AT_ONCE = 16 << 20 };

_Atomic uint64_t hearthi_purge_ns = 1000000000;

/* `kept` is seq_cst where background_thread.c needs one order of it and of
 * `sleeps`; where the freelist's mutex orders both, they are relaxed. */
static struct {
    bool kept;  /* there may be such; the freelist's mutex */
    bool since; /* the last look began some were freed */
} g;

/* A look at what is free, some at a time. */
struct look {
    uint64_t at;    /* what lies before this was seen */
    uint64_t bytes; /* that went back */
    bool     kept;  /* some stays */
    bool     all;   /* none that is kept is to stay */
    bool     used;  /* nor what is not kept, as it was of small objects */
};

/* ---- giving back ---- */

/* Whole pages of it: what is left of the others is not kept any more. */
static uint64_t
run_purge(uint64_t first, uint64_t end)
{
    const uint64_t each =
        hearthi_heap.page / hearthi_arena_map.quantum; /* of a page */
    const uint64_t from = (first + each - 1) / each * each;
    const uint64_t to = end / each * each;
    uint8_t       *use = hearthi_arena_map.use;

    memset(use + first, HEARTHI_QUANTUM_USED, end - first);
    if (from >= to)
        return 0;
    hearthi_segment_clear(from / each % (hearthi_arena_map.each >> hearthi_heap.shift),
                          (to - from) / each, false);
    memset(use + from, HEARTHI_QUANTUM_GONE, to - from);
    return (to - from) * hearthi_arena_map.quantum;
}

/* How far a run of this use goes. */
static uint64_t
use_end(uint64_t at, uint64_t end)
{
    const uint8_t *use = hearthi_arena_map.use;
    uint64_t       next = at + 1;

    while (next < end && use[next] == use[at])
        next++;
    return next;
}

/* Quanta that are free, from look->at on: of a long run no more is looked at
 * than goes at a time, or all that is left of it would be each time. */
static void
free_look(struct look *l, uint64_t end)
{
    const uint64_t most = AT_ONCE / hearthi_arena_map.quantum;
    uint8_t       *use = hearthi_arena_map.use;

    while (l->at < end && l->bytes < AT_ONCE) {
        uint64_t next = use_end(l->at, hearthi_min(end, l->at + most));

        if (use[l->at] == HEARTHI_QUANTUM_OLD ||
            (l->all && use[l->at] == HEARTHI_QUANTUM_KEPT) ||
            (l->used && use[l->at] == HEARTHI_QUANTUM_USED)) {
            l->bytes += run_purge(l->at, next);
        } else if (use[l->at] == HEARTHI_QUANTUM_KEPT) {
            memset(use + l->at, HEARTHI_QUANTUM_OLD, next - l->at);
            l->kept = true;
        }
        l->at = next;
    }
}

/* Some of it; false when all was seen. */
static bool
freelist_look(struct hearthi_freelist *s, struct look *l)
{
    HEARTHI_ASSERT_HAS(FREELIST);
    l->bytes = 0;
    for (size_t i = 0; i < s->runs.n && l->bytes < AT_ONCE; i++) {
        const struct hearthi_extent x = s->runs.free[i];

        if (x.first + x.count <= l->at)
            continue;
        l->at = x.first > l->at ? x.first : l->at;
        free_look(l, x.first + x.count);
    }
    return l->bytes >= AT_ONCE;
}

void
hearthi_purge_all(struct hearthi_freelist *s, bool used)
{
    struct look l = { .all = true, .used = used };

    if (s->home == hearthi_world.rank && (g.kept || used) &&
        !hearthi_transport->registers())
        while (freelist_look(s, &l))
            continue;
}

/* ---- by time ---- */

bool
hearthi_purge_is_kept(void)
{
    return __atomic_load_n(&g.kept, __ATOMIC_SEQ_CST);
}

void
hearthi_purge_look(const atomic_bool *stop)
{
    struct hearthi_freelist *s = hearthi_freelist_of(hearthi_world.rank);
    struct look              l = { .kept = false };
    bool                     more = true;

    __atomic_store_n(&g.since, false, __ATOMIC_RELAXED);
    while (more && !*stop) {
        hearthi_mutex_lock(&s->mutex, HEARTHI_MUTEX_FREELIST);
        more = freelist_look(s, &l);
        if (!more)
            __atomic_store_n(&g.kept, l.kept || g.since, __ATOMIC_RELAXED);
        hearthi_mutex_unlock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    }
}

void
hearthi_purge_open(void)
{
    g.kept = false;
}

void
hearthi_purge_keep(const struct hearthi_freelist *s, uint64_t first,
                   uint64_t quanta)
{
    HEARTHI_ASSERT_HAS(FREELIST);
    memset(hearthi_arena_map.use + first, HEARTHI_QUANTUM_USED, quanta);
    if (quanta * hearthi_arena_map.quantum < WORTH ||
        s->home != hearthi_world.rank || hearthi_transport->registers())
        return;
    memset(hearthi_arena_map.use + first, HEARTHI_QUANTUM_KEPT, quanta);
    __atomic_store_n(&g.since, true, __ATOMIC_RELAXED);
    __atomic_store_n(&g.kept, true, __ATOMIC_SEQ_CST);
}
