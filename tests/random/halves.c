/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Words of 32 bits, two in each word of 8 bytes, each in one of three uses:
 * all ranks change it by steps of all kinds, which are a chain of values (see
 * words.c); one rank alone steps, and knows what it must find; or one rank
 * stores.  Where elements are of 8 bytes, who stores to a half is the one that
 * steps in the other; else they may be two.
 */
#include <mpi.h>

#include "scene.h"
#include "watch.h"

enum { HALVES = 12, SUMS = 2 };

enum use { OF_ALL, STEPPED, STORED, USES };

struct half {
    int32_t *at;
    enum use use;
    int      owner;
    uint32_t value;     /* the owner's */
    uint64_t sum[SUMS]; /* over values found minus those left */
};

struct halves {
    struct stage *s;
    struct half   half[HALVES];
};

static void
half_count(struct half *h, uint32_t found, uint32_t left)
{
    h->sum[0] += (uint64_t)found - left;
    h->sum[1] += mix(found, 7) - mix(left, 7);
}

/* What is left; what was found is returned by way of `found`. */
static uint32_t
half_change(int32_t *at, uint64_t kind, uint32_t value, uint32_t *found)
{
    int32_t v = (int32_t)value, guess;

    switch (kind) {
    case 0:
        *found = (uint32_t)hearth_fetch_add32(at, v);
        return *found + value;
    case 1: *found = (uint32_t)hearth_swap32(at, v); return value;
    case 2: *found = (uint32_t)hearth_fetch_or32(at, v); return *found | value;
    case 3:
        *found = (uint32_t)hearth_fetch_and32(at, v);
        return *found & value;
    case 4:
        *found = (uint32_t)hearth_fetch_xor32(at, v);
        return *found ^ value;
    default:
        guess = hearth_fetch_add32(at, 0);
        *found = (uint32_t)hearth_compare_swap32(at, guess, v);
        return *found == (uint32_t)guess ? value : *found;
    }
}

static void
value_expect(struct stage *s, const struct half *h, uint32_t found,
             uint32_t expected)
{
    if (found != expected)
        world_fail(s->a,
                   "half word %p (home %d) is 0x%x, not 0x%x; %s by rank %d",
                   (void *)h->at, hearth_home(h->at), found, expected,
                   h->use == STORED ? "stored" : "changed", h->owner);
    tally_add(TALLY_CHECKED, 1);
}

static void
half_step(struct stage *s, struct half *h)
{
    uint32_t value = (uint32_t)draw(&s->a->random, UINT64_MAX), found, left;

    left = half_change(h->at, draw(&s->a->random, 6), value, &found);
    tally_add(TALLY_ATOMICS_32, 1);
    half_count(h, found, left);
    if (h->use == STEPPED)
        value_expect(s, h, found, h->value);
    h->value = left;
}

static void
half_use(struct stage *s, struct half *h)
{
    if (h->use != OF_ALL && h->owner != s->w->me)
        return;
    if (h->use != STORED) {
        half_step(s, h);
        return;
    }
    value_expect(s, h, *(volatile uint32_t *)(void *)h->at, h->value);
    h->value = (uint32_t)draw(&s->a->random, UINT64_MAX);
    *(volatile uint32_t *)(void *)h->at = h->value;
}

static void
half_check(struct stage *s, struct half *h)
{
    uint32_t now = *(volatile uint32_t *)(void *)h->at, want = h->value;
    uint64_t sum[SUMS] = { h->sum[0], h->sum[1] };

    if (h->use != OF_ALL) {
        MPI_Bcast(&want, 1, MPI_UINT32_T, h->owner, MPI_COMM_WORLD);
        value_expect(s, h, now, want);
        return;
    }
    MPI_Allreduce(MPI_IN_PLACE, sum, SUMS, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    if (sum[0] + now != 0 || sum[1] + mix(now, 7) - mix(0, 7) != 0)
        world_fail(s->a,
                   "steps on half word %p (home %d) are no chain of values: "
                   "they are off by 0x%llx",
                   (void *)h->at, hearth_home(h->at),
                   (unsigned long long)(sum[0] + now));
    tally_add(TALLY_CHECKED, 1);
}

/* Neighbours, or two of each page. */
static void
halves_deal(struct halves *h, int32_t *base, bool whole)
{
    struct stage *s = h->s;
    bool          apart = draw(&s->random, 2);

    for (size_t i = 0; i < HALVES; i++) {
        struct half *one = &h->half[i];

        *one = (struct half){ .use = (enum use)draw(&s->random, USES),
                              .owner = (int)draw(&s->random,
                                                 (uint64_t)s->w->ranks) };
        one->at = base + (apart ? i / 2 * 2 * PAGE_WORDS + i % 2 : i) + 6;
        if (i % 2 == 1 && whole) {
            one->owner = h->half[i - 1].owner;
            if (one->use == STORED || h->half[i - 1].use == STORED)
                one->use = h->half[i - 1].use == STEPPED ? STORED : STEPPED;
        }
    }
    for (size_t i = 0; whole && i < HALVES; i += 2)
        if (h->half[i].use == STORED && h->half[i + 1].use == STORED)
            h->half[i + 1].use = STEPPED;
}

void
scene_halves(struct stage *s)
{
    struct halves h = { .s = s };
    bool          whole = draw(&s->random, 2);
    size_t        size = whole ? sizeof(int64_t) : sizeof(int32_t);
    uint64_t      steps = 30 + draw(&s->random, 300);
    int32_t *base = hearth_alloc(HALVES / 2 * (size_t)PAGE_WORDS * 8 / size,
                                 size, hearth_cyclic(1));

    halves_deal(&h, base, whole);
    for (; steps > 0; steps--) {
        half_use(s, &h.half[draw(&s->a->random, HALVES)]);
        watch_step();
    }
    hearth_barrier();
    for (int i = 0; i < HALVES; i++)
        half_check(s, &h.half[i]);
    hearth_barrier();
    hearth_free(base);
}
