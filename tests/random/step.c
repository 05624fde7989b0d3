/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Steps: what one actor does at a time.
 */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "random.h"
#include "watch.h"

void
actor_start(struct actor *a, struct world *w, int thread)
{
    memset(a, 0, sizeof *a);
    a->w = w;
    a->thread = thread;
    a->random = mix(mix(w->key, 77 + (uint64_t)w->epoch),
                    (uint64_t)(w->me * (THREADS + 1) + thread));
    for (int i = 0; i < ATOMICS; i++)
        a->last[i] = INT64_MIN;
}

/* An object in such custody, or NULL if a few tries find none. */
static struct object *
object_draw(struct actor *a, enum custody custody, int keeper)
{
    struct world *w = a->w;

    for (int tries = 0; tries < 40; tries++) {
        struct arena  *arena = &w->arena[draw(&a->random, ARENAS)];
        struct object *o = &arena->object[draw(&a->random, OBJECTS)];

        if (arena->base != NULL && o->custody == custody &&
            o->keeper == keeper &&
            (custody != OF_RANK || o->thread == a->thread))
            return o;
    }
    return NULL;
}

static void
object_use(struct actor *a, struct object *o)
{
    uint64_t what = draw(&a->random, 4);

    if (o == NULL)
        return;
    if (what < 2 || o->custody == READ_ONLY)
        object_check(a, o);
    if (what > 0 && o->custody != READ_ONLY)
        object_write(a, o);
}

/* Yield, work, or sleep for a moment. */
void
actor_nap(struct actor *a)
{
    struct timespec t = { 0, (long)draw(&a->random, 100000) };

    switch (draw(&a->random, 3)) {
    case 0: sched_yield(); break;
    case 1:
        for (volatile uint64_t i = draw(&a->random, 30000); i > 0; i--)
            continue;
        break;
    default: nanosleep(&t, NULL);
    }
}

/* What the other threads do is no progress of the rank. */
static void
step_begin(struct actor *a)
{
    a->step++;
    if (a->thread == 0)
        watch_step();
}

static void
step_private(struct actor *a)
{
    object_use(a, object_draw(a, OF_RANK, a->w->me));
}

/* Which roamers are under this lock, which we hold. */
static uint64_t
roamers_here(struct actor *a, int lock)
{
    uint64_t found = (uint64_t)*present_word(a->w, lock);
    uint64_t want = oracle == NULL ? found : oracle->present[lock];

    if (found != want || found >> a->w->roamers != 0)
        world_fail(a,
                   "wrong word %p (home %d) of lock %d: found 0x%llx, "
                   "expected 0x%llx",
                   (void *)(uintptr_t)present_word(a->w, lock),
                   hearth_home((void *)(uintptr_t)present_word(a->w, lock)),
                   a->w->lock[lock], (unsigned long long)found,
                   (unsigned long long)want);
    return found;
}

static void
roamers_set(struct actor *a, int lock, uint64_t present)
{
    *present_word(a->w, lock) = (int64_t)present;
    if (oracle != NULL)
        oracle->present[lock] = present;
}

/* Use some of the roamers under a lock that we hold, put down some of ours,
 * and take some with us. */
static void
roamers_use(struct actor *a, int lock)
{
    uint64_t here = roamers_here(a, lock), before = here;

    for (int k = 0; k < a->w->roamers; k++) {
        uint64_t bit = (uint64_t)1 << k;

        if ((here & bit) != 0) {
            if (draw(&a->random, 4) == 0)
                object_use(a, a->w->roamer[k]);
            if (draw(&a->random, 4) == 0) {
                here &= ~bit;
                a->pocket |= (uint32_t)bit;
            }
        } else if ((a->pocket & bit) != 0 && draw(&a->random, 2)) {
            here |= bit;
            a->pocket &= ~(uint32_t)bit;
        }
    }
    if (here != before)
        roamers_set(a, lock, here);
}

static void
pocket_use(struct actor *a)
{
    for (int k = 0; k < a->w->roamers; k++)
        if ((a->pocket >> k & 1) != 0 && draw(&a->random, 3) == 0)
            object_use(a, a->w->roamer[k]);
}

static void
section_work(struct actor *a, int lock)
{
    for (uint64_t n = draw(&a->random, 4); n > 0; n--)
        object_use(a, object_draw(a, UNDER_LOCK, lock));
    if (a->w->roamers > 0 && draw(&a->random, 2))
        roamers_use(a, lock);
    for (uint64_t n = draw(&a->random, 3); n > 0; n--)
        boxes_use(a, lock);
    if (draw(&a->random, 6) == 0)
        actor_nap(a);
}

static bool
lock_take(struct actor *a, int lock)
{
    bool taken = true;

    if (draw(&a->random, 5) > 0) {
        hearth_lock(a->w->lock[lock]);
    } else {
        taken = hearth_trylock(a->w->lock[lock]);
        tally_add(TALLY_TRIES, 1);
        tally_add(TALLY_TAKEN, taken);
    }
    tally_add(TALLY_SECTIONS, taken);
    return taken;
}

/* A critical section, sometimes with another that overlaps it.  Locks are
 * taken in the order of their indices, and given back in any order. */
static void
step_section(struct actor *a)
{
    struct world *w = a->w;
    int           outer = (int)draw(&a->random, (uint64_t)w->locks);
    int           inner = -1;

    if (!lock_take(a, outer))
        return;
    section_work(a, outer);
    if (outer + 1 < w->locks && draw(&a->random, 4) == 0)
        inner = outer + 1 +
                (int)draw(&a->random, (uint64_t)(w->locks - outer - 1));
    if (inner >= 0 && lock_take(a, inner)) {
        section_work(a, inner);
        section_work(a, outer);
        if (draw(&a->random, 2)) {
            hearth_unlock(w->lock[outer]);
            section_work(a, inner);
            hearth_unlock(w->lock[inner]);
            return;
        }
        hearth_unlock(w->lock[inner]);
        section_work(a, outer);
    }
    hearth_unlock(w->lock[outer]);
}

static void
step_atomic(struct actor *a)
{
    int     i = (int)draw(&a->random, ATOMICS);
    int64_t value = (int64_t)draw(&a->random, 10), got;
    int64_t least = oracle == NULL ? a->w->total[i] : oracle->added[i];

    if (a->last[i] > least)
        least = a->last[i];
    got = hearth_fetch_add(atomic_word(a->w, i), value);
    if (got < least)
        world_fail(a, "fetch_add on %p (home %d) gave %lld after %lld",
                   (void *)atomic_word(a->w, i),
                   hearth_home(atomic_word(a->w, i)), (long long)got,
                   (long long)least);
    tally_add(TALLY_ATOMICS_DONE, 1);
    a->last[i] = got + value;
    a->w->added[i] += value;
    if (oracle != NULL)
        oracle->added[i] += value;
}

static void
step_prefetch(struct actor *a)
{
    const struct arena *arena = &a->w->arena[draw(&a->random, ARENAS)];
    size_t              from, bytes;

    if (arena->base == NULL)
        return;
    from = draw(&a->random, arena->bytes);
    bytes = draw(&a->random, arena->bytes - from + 1);
    hearth_prefetch(arena->base + from, bytes);
}

int
chain_rank(const struct world *w, int chain, int link)
{
    uint64_t h = mix(mix(w->key, (uint64_t)(w->epoch * CHAINS + chain)),
                     (uint64_t)link);

    return (int)(h % (uint64_t)w->ranks);
}

/* Link k waits for the flag of link k-1 and sets its own. */
void
step_chain(struct actor *a, int chain, int link)
{
    int first = a->w->epoch % 2 * (HEARTH_FLAGS / 2);

    step_begin(a);
    if (link > 0)
        hearth_flag_wait(first + (link - 1) * CHAINS + chain);
    tally_add(TALLY_FLAGS, link > 0);
    object_use(a, a->w->chain[chain]);
    hearth_flag_set(first + link * CHAINS + chain);
}

/* One of a thread other than the main one. */
void
step_thread(struct actor *a)
{
    step_begin(a);
    if (a->w->mood == MOOD_RELEASE && draw(&a->random, 8) > 0) {
        hearth_lock(a->w->lock[0]);
        if (draw(&a->random, 2))
            section_work(a, 0);
        hearth_unlock(a->w->lock[0]);
        return;
    }
    if (draw(&a->random, 3) == 0)
        step_section(a);
    else
        step_private(a);
    actor_nap(a);
}

void
step_any(struct actor *a)
{
    step_begin(a);
    switch (draw(&a->random, 14)) {
    case 0:
    case 1: step_private(a); break;
    case 2: object_use(a, object_draw(a, READ_ONLY, 0)); break;
    case 3: step_atomic(a); break;
    case 4: step_prefetch(a); break;
    case 5: actor_nap(a); break;
    case 6: pocket_use(a); break;
    case 7:
    case 8: step_hold(a); break;
    default: step_section(a);
    }
}
