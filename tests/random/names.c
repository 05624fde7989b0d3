/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hundreds of locks: plain ones, by numbers beyond those, by addresses.  Each
 * protects two words, a version and what follows from it, and a record of the
 * lock that its holder had before and of the version that it saw under that:
 * under release consistency the next holder must see that version, too.  What
 * the version is stands at its home as well, where atomic steps tell it past
 * copies.
 *
 * In some worlds the first names are skipped, so that those that are left are
 * of objects beyond 65535.
 */
#include <mpi.h>

#include "node/lock_names.h"
#include "scene.h"
#include "space/segment.h"
#include "transport/remote_word.h"
#include "watch.h"

enum { LOCKS_MOST = 1000, NUMBERED = 1 << 16, ADDRESSES = 1 << 20 };

struct kept {
    int64_t version, value, other, seen;
};

struct names {
    struct stage         *s;
    volatile struct kept *kept;
    int64_t              *told;
    uint64_t              locks, key;
    uint64_t              last; /* the lock that this rank had before */
    int64_t               seen;
};

void
names_skip(const struct world *w, bool skip)
{
    size_t past = (size_t)(NUMBERED - 1 - HEARTHI_SYNCS) / (size_t)w->ranks;

    MPI_Barrier(MPI_COMM_WORLD);
    if (skip)
        hearthi_remote_word_put(w->me, hearthi_segments.names_at, past - 2);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int
lock_at(uint64_t i)
{
    int n = (int)i;

    switch (i % 3) {
    case 0: return n;
    case 1: return HEARTH_LOCKS + 17 * n;
    default:
        return hearth_lock_of((const void *)(uintptr_t)(ADDRESSES + 64 * n));
    }
}

static int64_t
value_of(const struct names *n, uint64_t i, int64_t version)
{
    return version == 0 ? 0 : (int64_t)mix(n->key + i, (uint64_t)version);
}

static void
kept_check(const struct names *n, uint64_t i, int64_t now)
{
    volatile struct kept *k = &n->kept[i];

    if (k->version != now || k->value != value_of(n, i, now))
        world_fail(n->s->a,
                   "words of lock %d: version %lld (home %d) is not %lld, or "
                   "0x%llx is not of it",
                   lock_at(i), (long long)k->version,
                   hearth_home((const void *)(uintptr_t)k), (long long)now,
                   (unsigned long long)k->value);
    tally_add(TALLY_CHECKED, 2);
}

/* Others may make further versions meanwhile. */
static void
record_check(const struct names *n, uint64_t i)
{
    int64_t other = n->kept[i].other, seen = n->kept[i].seen;

    if (n->kept[other].version < seen)
        world_fail(n->s->a,
                   "lock %d tells of version %lld under lock %d, but there "
                   "is %lld",
                   lock_at(i), (long long)seen, lock_at((uint64_t)other),
                   (long long)n->kept[other].version);
    tally_add(TALLY_CHECKED, 1);
}

static void
section(struct names *n, uint64_t i)
{
    volatile struct kept *k = &n->kept[i];
    int64_t               now = hearth_fetch_add(&n->told[i], 0);

    kept_check(n, i, now);
    if (!n->s->w->scope)
        record_check(n, i);
    if (draw(&n->s->a->random, 3) > 0) {
        k->version = ++now;
        k->value = value_of(n, i, now);
        hearth_fetch_add(&n->told[i], 1);
    }
    k->other = (int64_t)n->last;
    k->seen = n->seen;
    n->last = i;
    n->seen = now;
    tally_add(TALLY_NAMED, 1);
    watch_step();
}

/* Most of few, so that they go between ranks. */
static uint64_t
lock_draw(const struct names *n)
{
    uint64_t few = n->locks < 20 ? n->locks : 20;
    uint64_t i = draw(&n->s->a->random, n->locks);

    return draw(&n->s->a->random, 3) ? i
                                     : n->key % (n->locks - few + 1) + i % few;
}

static void
sections_play(struct names *n, uint64_t count)
{
    for (; count > 0; count--) {
        uint64_t i = lock_draw(n);
        int      lock = lock_at(i);

        if (draw(&n->s->a->random, 4) == 0) {
            bool taken = hearth_trylock(lock);

            tally_add(TALLY_TRIES, 1);
            tally_add(TALLY_TAKEN, taken);
            if (!taken)
                continue;
        } else {
            hearth_lock(lock);
        }
        section(n, i);
        hearth_unlock(lock);
    }
}

void
scene_names(struct stage *s)
{
    static const uint64_t most[] = { 20, 100, 300, LOCKS_MOST };
    struct names          n = { .s = s };
    uint64_t              rounds = 2 + draw(&s->random, 20);
    double                start = MPI_Wtime();

    n.locks = 10 + draw(&s->random, most[draw(&s->random, 4)] - 9);
    n.key = draw(&s->random, UINT64_MAX);
    n.kept = hearth_alloc(n.locks, sizeof *n.kept, hearth_cyclic(1));
    n.told = hearth_alloc(n.locks, sizeof *n.told, hearth_cyclic(1));
    for (; rounds > 0 && scene_has_time(start); rounds--)
        sections_play(&n, 50);
    hearth_barrier();
    for (uint64_t i = 0; i < n.locks; i++)
        kept_check(&n, i, n.told[i]);
    hearth_barrier();
    hearth_free((void *)(uintptr_t)n.kept);
    hearth_free(n.told);
}
