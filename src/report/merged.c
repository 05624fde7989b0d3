/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory that ranks allocated together is one piece by its number, other
 * memory by its address.
 */
#include "config.h"

#include "merged.h"

#include <stdlib.h>
#include <string.h>

#include "pair_index.h"
#include "space/heap.h"

/* ---- while it is made ---- */

struct merging {
    struct hearthi_merged    *m;
    struct hearthi_pair_index sites, lines, memories, locks, barriers;
};

static const char *
path_of(struct hearthi_merged *m, const char *path)
{
    for (size_t i = 0; i < m->paths; i++)
        if (strcmp(m->path[i], path) == 0)
            return m->path[i];
    if (m->paths == HEARTHI_MERGED_PATHS ||
        (m->path[m->paths] = strdup(path)) == NULL)
        return NULL;
    return m->path[m->paths++];
}

static size_t
site_of(struct merging *g, int rank, struct hearthi_code_place p)
{
    struct hearthi_site s = { .offset = p.offset };
    size_t              i;

    if (p.module != HEARTHI_NOWHERE)
        s.module = path_of(g->m, g->m->a[rank].module[p.module]);
    i = hearthi_pair_index_of(&g->sites, (uintptr_t)s.module, s.offset);
    if (i == g->m->sites) {
        g->m->site[i] = s;
        g->m->sites++;
    }
    return i;
}

/* The index of a part's line becomes that of all. */
static void
lines_merge(struct merging *g, int rank, int32_t *to)
{
    struct hearthi_merged *m = g->m;

    for (size_t i = 0; i < m->part[rank]->lines; i++) {
        const struct hearthi_profile_part_line *l = &m->a[rank].line[i];
        size_t                                  site = site_of(g, rank, l->at);
        size_t n = hearthi_pair_index_of(&g->lines, site, 0);
        struct hearthi_seen_line *s = &m->line[n];
        uint64_t                  faults = l->cost.reads + l->cost.writes;

        m->lines = g->lines.n;
        to[i] = (int32_t)n;
        s->site = site;
        if (l->strided > s->strided)
            s->stride = l->stride;
        s->strided += l->strided;
        s->inside += l->inside;
        s->calls += l->calls;
        s->brought += l->brought;
        s->faults += faults;
        hearthi_cost_add(&s->cost, &l->cost);
    }
}

static void
memories_merge(struct merging *g, int rank, int32_t *to)
{
    struct hearthi_merged *m = g->m;

    for (size_t i = 0; i < m->part[rank]->memories; i++) {
        const struct hearthi_profile_part_memory *p = &m->a[rank].memory[i];
        size_t n = hearthi_pair_index_of(&g->memories, p->from, p->collective);
        struct hearthi_seen_memory *s = &m->memory[n];

        to[i] = (int32_t)n;
        if (n == m->memories) {
            m->memories++;
            s->from = p->from;
            s->bytes = p->bytes;
            s->collective = p->collective;
            s->site = site_of(g, rank, p->at);
        }
        if (s->name[0] == '\0')
            memcpy(s->name, p->name, sizeof s->name);
        hearthi_cost_add(&s->cost, &p->cost);
    }
}

static void
pages_merge(struct merging *g, int rank, const int32_t *line,
            const int32_t *memory)
{
    struct hearthi_merged *m = g->m;

    for (size_t i = 0; i < m->part[rank]->pages; i++) {
        struct hearthi_profile_part_page *p = &m->a[rank].page[i];

        p->line = p->line >= 0 ? line[p->line] : HEARTHI_NO_INDEX;
        p->memory = p->memory >= 0 ? memory[p->memory] : HEARTHI_NO_INDEX;
        m->page[m->pages++] = (struct hearthi_seen_page){ p, rank };
    }
}

/* Of which word?  Ranks that store to another one store wider together. */
static void
words_merge(struct hearthi_seen_lock               *to,
            const struct hearthi_profile_part_lock *p)
{
    if (to->one_word == 0)
        to->word = p->word;
    if (to->word == p->word)
        to->one_word += p->one_word;
    else
        to->wider += p->one_word;
    to->wider += p->wider;
}

static void
locks_merge(struct merging *g, int rank)
{
    struct hearthi_merged *m = g->m;

    for (size_t i = 0; i < m->part[rank]->locks; i++) {
        const struct hearthi_profile_part_lock *p = &m->a[rank].lock[i];
        size_t n = hearthi_pair_index_of(&g->locks, (uint64_t)p->sync, 0);
        struct hearthi_seen_lock *s = &m->lock[n];

        m->locks = g->locks.n;
        if (p->wait_ns >= s->wait_most) {
            s->wait_most = p->wait_ns;
            s->who = rank;
            s->site = site_of(g, rank, p->at);
        }
        if (p->longest_ns > s->longest_ns)
            s->longest_ns = p->longest_ns;
        s->n += p->n;
        s->wait_ns += p->wait_ns;
        s->held_ns += p->held_ns;
        s->holds += p->holds;
        s->computed += p->computed;
        words_merge(s, p);
        s->ranks++;
        s->sync = p->sync;
        if (p->text[0] != '\0')
            memcpy(s->text, p->text, sizeof s->text);
    }
}

static bool
barriers_merge(struct merging *g, int rank)
{
    struct hearthi_merged *m = g->m;

    for (size_t i = 0; i < m->part[rank]->places; i++) {
        const struct hearthi_profile_part_barrier *p = &m->a[rank].barrier[i];
        size_t site = site_of(g, rank, p->at);
        size_t n = hearthi_pair_index_of(&g->barriers, site, 0);
        struct hearthi_seen_barrier *s = &m->barrier[n];

        m->barriers = g->barriers.n;
        if (s->last == NULL) /* one piece */
            s->last = calloc((size_t)m->ranks, 2 * sizeof *s->last);
        if (s->last == NULL)
            return false;
        s->late_ns = s->last + m->ranks;
        s->site = site;
        s->n += p->n;
        s->wait_ns += p->wait_ns;
        if (p->longest_ns > s->longest_ns)
            s->longest_ns = p->longest_ns;
    }
    return true;
}

/* Who waited least came last.  Ranks may have called it in different places:
 * it counts where the last one did, since that is where time was lost. */
static void
sample_add(struct hearthi_merged *m, struct merging *g, size_t i)
{
    int      last = 0;
    uint64_t least = UINT64_MAX, sum = 0, ns;

    for (int r = 0; r < m->ranks; r++) {
        uint64_t us = m->a[r].sample[i].wait_us;

        sum += us;
        if (us < least) {
            least = us;
            last = r;
        }
    }
    if (m->a[last].sample[i].barrier < m->part[last]->places) {
        const struct hearthi_profile_part_barrier *p =
            &m->a[last].barrier[m->a[last].sample[i].barrier];
        struct hearthi_seen_barrier *s = &m->barrier[hearthi_pair_index_of(
            &g->barriers, site_of(g, last, p->at), 0)];

        s->samples++;
        s->last[last]++;
        ns = (sum - least * (uint64_t)m->ranks) * 1000 * m->every;
        s->late_ns[last] += ns;
        s->uneven_ns += ns;
    }
}

/* Sections that did not begin together have different barriers. */
static void
samples_merge(struct hearthi_merged *m, struct merging *g)
{
    for (int r = 1; r < m->ranks; r++)
        if (m->part[r]->barriers != m->part[0]->barriers)
            return;
    m->every = m->part[0]->every;
    for (size_t i = 0; i < m->part[0]->samples; i++)
        sample_add(m, g, i);
}

/* What another rank has allocated with hearth_malloc() is known there. */
static void
memory_adopt(struct hearthi_merged *m, struct hearthi_profile_part_page *p)
{
    uint64_t begin = (uintptr_t)hearthi_app(p->page);

    for (size_t i = 0; i < m->memories; i++)
        if (m->memory[i].from < begin + hearthi_heap.page &&
            m->memory[i].from + m->memory[i].bytes > begin)
            p->memory = (int32_t)i;
    if (p->memory >= 0)
        hearthi_cost_add(&m->memory[p->memory].cost, &p->cost);
}

static void
memories_adopt(struct hearthi_merged *m)
{
    for (int r = 0; r < m->ranks; r++)
        for (size_t i = 0; i < m->part[r]->pages; i++)
            if (m->a[r].page[i].memory < 0)
                memory_adopt(m, &m->a[r].page[i]);
}

/* ---- all of it ---- */

static int
by_page(const void *a, const void *b)
{
    const struct hearthi_seen_page *x = a, *y = b;

    return x->of->page != y->of->page
               ? (x->of->page > y->of->page) - (x->of->page < y->of->page)
               : x->rank - y->rank;
}

static bool
parts_merge(struct merging *g)
{
    struct hearthi_merged *m = g->m;

    for (int r = 0; r < m->ranks; r++) {
        struct hearthi_profile_part *p = m->part[r];
        int32_t *index = malloc((p->lines + p->memories + 1) * sizeof *index);

        if (index == NULL)
            return false;
        lines_merge(g, r, index);
        memories_merge(g, r, index + p->lines);
        pages_merge(g, r, index, index + p->lines);
        free(index);
        locks_merge(g, r);
        if (!barriers_merge(g, r))
            return false;
        m->dropped += p->dropped;
        m->left_out += p->left_out;
        m->whole_ns += p->ns;
        if (p->ns > m->elapsed_ns)
            m->elapsed_ns = p->ns;
    }
    samples_merge(m, g);
    memories_adopt(m);
    qsort(m->page, m->pages, sizeof *m->page, by_page);
    return true;
}

struct sums {
    size_t lines, memories, pages, locks, places;
};

static struct sums
sums_of(struct hearthi_merged *m)
{
    struct sums s = { 0 };

    for (int r = 0; r < m->ranks; r++) {
        s.lines += m->part[r]->lines;
        s.memories += m->part[r]->memories;
        s.pages += m->part[r]->pages;
        s.locks += m->part[r]->locks;
        s.places += m->part[r]->places;
        m->a[r] = hearthi_profile_part_arrays(m->part[r]);
    }
    return s;
}

static bool
indices_open(struct merging *g, const struct sums *s, size_t sites)
{
    return hearthi_pair_index_open(&g->sites, sites) &&
           hearthi_pair_index_open(&g->lines, s->lines) &&
           hearthi_pair_index_open(&g->memories, s->memories) &&
           hearthi_pair_index_open(&g->locks, s->locks) &&
           hearthi_pair_index_open(&g->barriers, s->places);
}

static bool
room_take(struct merging *g, const struct sums *s)
{
    struct hearthi_merged *m = g->m;
    size_t sites = s->lines + s->memories + s->locks + s->places;

    m->site = calloc(sites + 1, sizeof *m->site);
    m->line = calloc(s->lines + 1, sizeof *m->line);
    m->memory = calloc(s->memories + 1, sizeof *m->memory);
    m->lock = calloc(s->locks + 1, sizeof *m->lock);
    m->barrier = calloc(s->places + 1, sizeof *m->barrier);
    m->page = calloc(s->pages + 1, sizeof *m->page);
    return m->site != NULL && m->line != NULL && m->memory != NULL &&
           m->lock != NULL && m->barrier != NULL && m->page != NULL &&
           indices_open(g, s, sites);
}

struct hearthi_merged *
hearthi_merged_make(struct hearthi_profile_part **part, int ranks, int nodes)
{
    struct merging g = { .m = calloc(1, sizeof *g.m) };
    struct sums    s;
    bool           good;

    if (g.m == NULL)
        return NULL;
    g.m->ranks = ranks;
    g.m->nodes = nodes;
    g.m->part = part;
    g.m->a = calloc((size_t)ranks, sizeof *g.m->a);
    good = g.m->a != NULL;
    if (good) {
        s = sums_of(g.m);
        good = room_take(&g, &s) && parts_merge(&g);
    }
    free(g.sites.slot);
    free(g.lines.slot);
    free(g.memories.slot);
    free(g.locks.slot);
    free(g.barriers.slot);
    if (good)
        return g.m;
    hearthi_merged_free(g.m);
    return NULL;
}

void
hearthi_merged_free(struct hearthi_merged *m)
{
    for (int r = 0; r < m->ranks; r++)
        free(m->part[r]);
    for (size_t i = 0; i < m->barriers; i++)
        free(m->barrier[i].last);
    for (size_t i = 0; i < m->sites; i++) {
        free(m->site[i].file);
        free(m->site[i].function);
    }
    for (size_t i = 0; i < m->paths; i++)
        free(m->path[i]);
    free(m->part);
    free(m->a);
    free(m->site);
    free(m->line);
    free(m->memory);
    free(m->lock);
    free(m->barrier);
    free(m->page);
    free(m);
}
