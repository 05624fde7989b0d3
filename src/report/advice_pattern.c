/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ranks did with the pages of a piece of memory: the pages that were
 * handed in, grouped by number, so that it is seen which ranks had to do with
 * each.
 */
#include "config.h"

#include <stdlib.h>

#include "advising.h"
#include "space/heap.h"
#include "world.h"

static bool
overlap(const struct hearthi_profile_part_page *a,
        const struct hearthi_profile_part_page *b)
{
    for (size_t i = 0; i < HEARTHI_PROFILE_GRAINS / 64; i++)
        if (a->stored[i] & b->stored[i])
            return true;
    return false;
}

static unsigned
grains_of(const struct hearthi_profile_part_page *p)
{
    unsigned n = 0;

    for (size_t i = 0; i < HEARTHI_PROFILE_GRAINS / 64; i++)
        n += (unsigned)__builtin_popcountll(p->stored[i]);
    return n;
}

/* Stores to a home frame fault only where others may have copies. */
static uint64_t
times_of(const struct hearthi_profile_part_page *p)
{
    uint64_t most =
        p->cost.diffs > p->cost.writes ? p->cost.diffs : p->cost.writes;

    return p->own > most ? p->own : most;
}

/* A walk opens home pages ahead of it, which count as written then: once or
 * twice say nothing. */
static bool
is_writer(const struct hearthi_profile_part_page *p)
{
    return p->cost.diffs + p->cost.writes > 0 || p->own > 2;
}

/* Ranks of one node store to one frame, or have copies of their own: those do
 * not hinder each other by way of the network, so two nodes are needed. */
static bool
stores_apart(const struct hearthi_merged *m, const struct hearthi_seen_page *p,
             size_t n)
{
    int nodes = 0, node = -1;

    for (size_t i = 0; i < n; i++) {
        if (!is_writer(p[i].of))
            continue;
        nodes += m->part[p[i].rank]->node != node;
        node = m->part[p[i].rank]->node;
        for (size_t k = 0; k < i; k++)
            if (is_writer(p[k].of) && overlap(p[i].of, p[k].of))
                return false;
    }
    return nodes > 1;
}

static void
shared_note(struct hearthi_pattern *t, const struct hearthi_seen_page *p,
            size_t n, uint64_t ns)
{
    int ranks = 0;

    t->shared++;
    t->shared_ns += ns;
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes = grains_of(p[i].of) * (uint64_t)hearthi_heap.page /
                         HEARTHI_PROFILE_GRAINS;

        if (!is_writer(p[i].of))
            continue;
        ranks++;
        t->shared_times += times_of(p[i].of);
        t->unseen += bytes == 0;
        if (bytes == 0)
            continue;
        t->fewest = t->fewest == 0 || bytes < t->fewest ? bytes : t->fewest;
        t->most = bytes > t->most ? bytes : t->most;
    }
    t->ranks = ranks > t->ranks ? ranks : t->ranks;
}

/* By all that is known: loads of the home's node leave no trace, and its
 * stores only where they fault. */
static void
alone_note(struct hearthi_pattern *t, const struct hearthi_merged *m,
           const struct hearthi_seen_page *p, size_t n, uint64_t ns)
{
    int home = p[0].of->home, node = -1;

    for (size_t i = 0; i < n; i++) {
        int of = m->part[p[i].rank]->node;

        if (home < 0 || hearthi_world.node_of[home] == of) {
            if (times_of(p[i].of) > 2)
                return;
            continue;
        }
        if (node >= 0 && node != of)
            return;
        node = of;
    }
    if (node < 0)
        return;
    t->many_homes = t->many_homes || (t->alone > 0 && t->home != home);
    t->home = home;
    t->alone++;
    t->alone_ns += ns;
}

/* A store elsewhere than at home takes a twin; without a diff it changed
 * nothing. */
static void
same_note(struct hearthi_pattern *t, const struct hearthi_merged *m,
          const struct hearthi_seen_page *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct hearthi_profile_part_page *of = p[i].of;

        if (of->home < 0 ||
            hearthi_world.node_of[of->home] == m->part[p[i].rank]->node)
            continue;
        t->opened += of->cost.writes;
        if (of->cost.writes > 2 && of->cost.diffs == 0) {
            t->same += of->cost.writes;
            t->same_ns += of->cost.ns;
        }
    }
}

/* What a rank gave up to make room comes again, too. */
static bool
makes_room(const hearth_stats *s)
{
    return s->evictions * 8 > s->getpages;
}

/* A page that is filled once and then read comes once to a rank; a first copy,
 * which its home does not know of yet, may come a second time.  One that was
 * fetched ahead may fault, too, when it is touched. */
static void
again_note(struct hearthi_pattern *t, const struct hearthi_merged *m,
           const struct hearthi_seen_page *p, size_t n)
{
    enum { FEW = 4 };
    bool any = false;

    for (size_t i = 0; i < n; i++)
        if (times_of(p[i].of) > 1)
            return;
    for (size_t i = 0; i < n; i++) {
        const struct hearthi_cost *c = &p[i].of->cost;
        uint64_t times = c->reads > c->ahead ? c->reads : c->ahead;

        if (times < FEW || makes_room(&m->part[p[i].rank]->stats))
            continue;
        any = true;
        t->again_times += times;
        t->again_ns += c->ns - c->ns / times;
    }
    t->again += any;
}

static void
narrow_note(struct hearthi_pattern *t, const struct hearthi_cost *c,
            uint32_t narrow)
{
    t->diffs += c->diffs;
    t->narrow_diffs += narrow;
    if (c->diffs > 0)
        t->narrow_ns += c->ns / 2 / c->diffs * narrow;
}

static void
page_note(struct hearthi_pattern *t, const struct hearthi_merged *m,
          const struct hearthi_seen_page *p, size_t n)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < n; i++) {
        ns += p[i].of->cost.ns;
        narrow_note(t, &p[i].of->cost, p[i].of->narrow);
    }
    t->ns += ns;
    same_note(t, m, p, n);
    again_note(t, m, p, n);
    if (stores_apart(m, p, n))
        shared_note(t, p, n, ns);
    else
        alone_note(t, m, p, n, ns);
}

struct hearthi_pattern *
hearthi_patterns_find(const struct hearthi_merged *m)
{
    struct hearthi_pattern *t = calloc(m->memories + 1, sizeof *t);

    for (size_t i = 0, n; t != NULL && i < m->pages; i += n) {
        int32_t memory = m->page[i].of->memory;

        for (n = 1; i + n < m->pages &&
                    m->page[i + n].of->page == m->page[i].of->page;
             n++)
            ;
        if (memory >= 0)
            page_note(&t[memory], m, &m->page[i], n);
    }
    return t;
}
