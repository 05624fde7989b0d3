/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A reader-writer lock that ranks take in all ways.  Writers make versions of
 * a part that all share; each rank has a part of its own too, which it writes
 * as a reader, and writers look at.  What version each part is of is kept at
 * its home as well, where atomic steps tell it past copies: so who is inside
 * knows what he must see, to the last section.
 */
#include <mpi.h>

#include "scene.h"
#include "watch.h"

enum { RUNS_MOST = 12, LONGEST = 6 };

struct rw {
    struct stage *s;
    struct yard   yard;
    int64_t *told; /* the versions: of the writers' part, of each rank's */
    size_t   pages, step; /* of each part */
    int      lock, other;
};

/* The first word of a part is its version. */
static size_t
part_at(const struct rw *r, int number)
{
    return (size_t)number * r->pages * PAGE_WORDS;
}

static struct part
part_rest(const struct rw *r, int number)
{
    size_t      at = part_at(r, number);
    struct part rest = { at + 1, r->step, at + r->pages * PAGE_WORDS };

    return rest;
}

static uint64_t
part_check(const struct rw *r, int number)
{
    const volatile uint64_t *version = r->yard.word + part_at(r, number);
    uint64_t now = (uint64_t)hearth_fetch_add(&r->told[number], 0);

    if (*version != now)
        world_fail(r->s->a,
                   "part %d under reader-writer lock %d is of version %llu, "
                   "not %llu",
                   number, r->lock, (unsigned long long)*version,
                   (unsigned long long)now);
    yard_check(r->s, &r->yard, part_rest(r, number), now);
    return now;
}

static void
part_next(const struct rw *r, int number)
{
    volatile uint64_t *version = r->yard.word + part_at(r, number);
    uint64_t           next = part_check(r, number) + 1;

    *version = next;
    yard_write(&r->yard, part_rest(r, number), next);
    hearth_fetch_add(&r->told[number], 1);
    watch_step();
}

/* Ranks' parts belong to readers: only who is alone may look at others'. */
static void
section(const struct rw *r, bool write)
{
    uint64_t *random = &r->s->a->random;

    part_check(r, 0);
    if (!write) {
        if (draw(random, 2) == 0)
            part_next(r, 1 + r->s->w->me);
        scene_nap(r->s);
        part_check(r, 0);
    } else {
        part_check(r, 1 + (int)draw(random, (uint64_t)r->s->w->ranks));
        part_next(r, 0);
    }
    tally_add(TALLY_SECTIONS, 1);
}

/* What passes on, by other means, what was learnt here. */
static void
tell_others(const struct rw *r)
{
    switch (draw(&r->s->a->random, 5)) {
    case 0:
        hearth_lock(r->other);
        hearth_unlock(r->other);
        break;
    case 1:
        hearth_rdlock(r->other);
        hearth_rwunlock(r->other);
        break;
    case 2: scene_nap(r->s); break;
    default: break;
    }
}

static void
enter(const struct rw *r, bool write, bool try)
{
    bool taken = false;

    for (int k = 0; try && !taken && k < 3; k++) {
        taken = write ? hearth_trywrlock(r->lock) : hearth_tryrdlock(r->lock);
        tally_add(TALLY_TRIES, 1);
        tally_add(TALLY_TAKEN, taken);
    }
    if (taken)
        return;
    if (write)
        hearth_wrlock(r->lock);
    else
        hearth_rdlock(r->lock);
}

static void
run_play(const struct rw *r)
{
    uint64_t *random = &r->s->a->random;
    uint64_t  writes = 1 + draw(random, 8), n = 1 + draw(random, LONGEST);

    for (; n > 0; n--) {
        bool write = draw(random, writes) == 0;

        enter(r, write, draw(random, 3) == 0);
        section(r, write);
        if (draw(random, 8) == 0)
            tell_others(r);
        hearth_rwunlock(r->lock);
        tell_others(r);
    }
}

/* A part is a few pages, or so many runs that a log overflows. */
void
scene_rwlock(struct stage *s)
{
    double    start = MPI_Wtime();
    uint64_t  runs = 1 + draw(&s->random, RUNS_MOST);
    bool      wide = draw(&s->random, 3) == 0;
    size_t    parts = 1 + (size_t)s->w->ranks;
    struct rw r = { .s = s };

    r.pages = wide ? 40 + draw(&s->random, 160) : 1 + draw(&s->random, 3);
    r.step = wide ? 2 * PAGE_WORDS : 1 + draw(&s->random, 200);
    r.lock = (int)draw(&s->random, 64) + HEARTH_RWLOCKS - 64;
    r.other = HEARTH_RWLOCKS - 65;
    r.yard = yard_make(s, parts * r.pages, hearth_cyclic(1 + r.pages % 3));
    r.told = hearth_alloc(parts, sizeof *r.told, hearth_cyclic(1));
    for (; runs > 0 && scene_has_time(start); runs--) {
        run_play(&r);
        if (draw(&s->random, 3) == 0)
            hearth_barrier();
    }
    hearth_barrier();
    for (size_t i = 0; i < parts; i++)
        part_check(&r, (int)i);
    hearth_barrier();
    hearth_free(r.told);
    yard_drop(&r.yard);
}
