/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "race_compare.h"

#include <stdlib.h>

#include "notice/diff.h"

enum { BLOCK = 64, WORD = 8, ALL = 0xff };

/* A record of stores. */
struct entry {
    const struct hearthi_race_stores *of;
    int                               rank;
};

struct comparing {
    const struct hearthi_race_comparison *c;
    struct hearthi_race_order             o;
    struct entry                         *entry;
    size_t                                n;
};

static int
entry_compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->of->page != y->of->page)
        return x->of->page < y->of->page ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->of < y->of ? -1 : x->of > y->of;
}

static size_t
entries_of(const struct hearthi_race_part *p, int rank, struct entry *out)
{
    const struct hearthi_race_stores *s;
    size_t                            n = 0;

    for (size_t at = 0; at < p->bytes; at += hearthi_race_stores_bytes(s)) {
        s = (const struct hearthi_race_stores *)(const void *)(p->stores + at);
        if (out != NULL)
            out[n] = (struct entry){ s, rank };
        n++;
    }
    return n;
}

static bool
entries_gather(struct comparing *g)
{
    size_t n = 0;

    for (int r = 0; r < g->c->ranks; r++)
        n += entries_of(&g->c->part[r], r, NULL);
    g->entry = malloc((n + 1) * sizeof *g->entry);
    if (g->entry == NULL)
        return false;
    for (int r = 0; r < g->c->ranks; r++)
        g->n += entries_of(&g->c->part[r], r, g->entry + g->n);
    qsort(g->entry, g->n, sizeof *g->entry, entry_compare);
    return true;
}

/* ---- memory that was given out ---- */

/* Was an interval of rank r begun after one of rank s had ended, or is it a
 * later one of the same rank? */
static bool
is_after(const struct comparing *g, const struct entry *e, int s,
         uint64_t interval)
{
    return e->rank == s ? e->of->interval > interval
                        : hearthi_race_is_before(&g->o, s, (uint32_t)interval,
                                                 e->rank, e->of->interval);
}

static bool
is_renewed_by(const struct comparing *g, int rank, uint64_t at,
              const struct entry *a, const struct entry *b)
{
    const struct hearthi_race_part *p = &g->c->part[rank];

    for (size_t i = 0; i < p->renewals; i++)
        if (at - p->renewed[i].from < p->renewed[i].bytes &&
            !(is_after(g, a, rank, p->renewed[i].interval) &&
              is_after(g, b, rank, p->renewed[i].interval)))
            return true;
    return false;
}

/* May the two be of different objects? */
static bool
is_renewed(const struct comparing *g, uint64_t at, const struct entry *a,
           const struct entry *b)
{
    for (int r = 0; r < g->c->ranks; r++)
        if (is_renewed_by(g, r, at, a, b))
            return true;
    return false;
}

/* ---- two records ---- */

/* Words of a block that are there before the one with a bit. */
static unsigned
words_before(uint64_t mask, unsigned bit)
{
    unsigned n = 0;

    for (unsigned i = 0; i < bit / WORD; i++)
        n += (mask >> i * WORD & ALL) != 0;
    return n;
}

static uint64_t
word_at(const struct hearthi_race_stores *s, uint32_t k, unsigned bit)
{
    const uint64_t *mask = hearthi_race_masks(s);
    unsigned        n = 0;

    if (s->atomic)
        return 0;
    for (uint32_t i = 0; i < k; i++)
        n += words_before(mask[i], BLOCK);
    return hearthi_race_words(s)[n + words_before(mask[k], bit)];
}

/* All bytes of the units of which one is set. */
static uint64_t
units_of(uint64_t mask, unsigned unit)
{
    uint64_t one = (UINT64_C(1) << unit) - 1, out = 0;

    for (unsigned i = 0; i < BLOCK; i += unit)
        if (mask >> i & one)
            out |= one << i;
    return out;
}

struct two {
    const struct entry *a, *b;
    uint32_t            i, k; /* blocks of each */
    unsigned            unit;
    bool                apart;
};

static void
pair_tell(const struct comparing *g, const struct two *t, uint64_t at,
          unsigned bit)
{
    struct hearthi_race_pair p = {
        .rank = { t->a->rank, t->b->rank },
        .interval = { t->a->of->interval, t->b->of->interval },
        .word = { word_at(t->a->of, t->i, bit), word_at(t->b->of, t->k, bit) },
        .at = at,
        .unit = t->unit,
        .apart = t->apart,
        .atomic = { t->a->of->atomic != 0, t->b->of->atomic != 0 },
    };

    g->c->found(&p, g->c->arg);
}

/* The first byte of one block that both have; where no byte is, of words. */
static bool
block_tell(const struct comparing *g, const struct two *t)
{
    uint64_t x = hearthi_race_masks(t->a->of)[t->i];
    uint64_t y = hearthi_race_masks(t->b->of)[t->k], both = x & y;
    uint64_t from = ((uint64_t)t->a->of->page << g->c->shift) +
                    (uint64_t)hearthi_race_blocks(t->a->of)[t->i] * BLOCK;

    if (t->apart)
        both = units_of(x, t->unit) & units_of(y, t->unit);
    for (; both != 0; both &= both - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(both);

        if (is_renewed(g, from + bit, t->a, t->b))
            continue;
        pair_tell(g, t, from + bit, bit);
        return true;
    }
    return false;
}

/* One of the pair's bytes is told of. */
static bool
blocks_tell(const struct comparing *g, struct two *t)
{
    const uint32_t *x = hearthi_race_blocks(t->a->of);
    const uint32_t *y = hearthi_race_blocks(t->b->of);

    for (t->i = t->k = 0;
         t->i < t->a->of->blocks && t->k < t->b->of->blocks;) {
        uint32_t one = x[t->i], other = y[t->k];

        if (one == other && block_tell(g, t))
            return true;
        t->i += one <= other;
        t->k += other <= one;
    }
    return false;
}

static void
entries_compare(const struct comparing *g, const struct entry *a,
                const struct entry *b)
{
    struct two t = { .a = a, .b = b, .unit = g->c->unit_of(a->of->page) };
    unsigned   atomics = a->of->atomic + b->of->atomic;

    if (atomics == 2 || blocks_tell(g, &t) || atomics > 0 || t.unit == 1)
        return;
    t.apart = true;
    blocks_tell(g, &t);
}

static bool
is_before(const struct comparing *g, const struct entry *a,
          const struct entry *b)
{
    return hearthi_race_is_before(&g->o, a->rank, a->of->interval, b->rank,
                                  b->of->interval);
}

/* Those of one rank are in the order of their intervals: so those that are
 * before a record come first, and those that are after it last. */
static void
others_compare(const struct comparing *g, const struct entry *a,
               const struct entry *e, size_t n)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t i = (low + high) / 2;

        if (is_before(g, &e[i], a))
            low = i + 1;
        else
            high = i;
    }
    for (; low < n && !is_before(g, a, &e[low]); low++)
        entries_compare(g, a, &e[low]);
}

/* How many from the first on are of its rank. */
static size_t
of_rank(const struct entry *e, size_t n)
{
    size_t k = 1;

    while (k < n && e[k].rank == e->rank)
        k++;
    return k;
}

/* Those of one page, which are sorted by ranks. */
static void
page_compare(const struct comparing *g, const struct entry *e, size_t n)
{
    for (size_t i = 0, own; i < n; i += own) {
        own = of_rank(e + i, n - i);
        for (size_t k = i + own, other; k < n; k += other) {
            other = of_rank(e + k, n - k);
            for (size_t a = i; a < i + own; a++)
                others_compare(g, &e[a], e + k, other);
        }
    }
}

static void
pages_compare(const struct comparing *g)
{
    for (size_t i = 0, n; i < g->n; i += n) {
        for (n = 1;
             i + n < g->n && g->entry[i + n].of->page == g->entry[i].of->page;
             n++)
            ;
        page_compare(g, g->entry + i, n);
    }
}

bool
hearthi_races_compare(const struct hearthi_race_comparison *c)
{
    struct comparing         g = { .c = c };
    struct hearthi_race_log *log = malloc((size_t)c->ranks * sizeof *log);
    bool                     done;

    if (log == NULL)
        return false;
    for (int r = 0; r < c->ranks; r++)
        log[r] = c->part[r].log;
    done = hearthi_race_order_make(&g.o, log, c->ranks) && entries_gather(&g);
    if (done)
        pages_compare(&g);
    free(log);
    free(g.entry);
    hearthi_race_order_free(&g.o);
    return done;
}
