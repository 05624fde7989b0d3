/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What has cost most comes first, and the rest is left out: sums over memory
 * and lines are made of all pages before that.
 */
#include "config.h"

#include "part.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/min.h"
#include "page/page.h"
#include "page/page_map.h"
#include "profile/caller.h"
#include "space/heap.h"
#include "world.h"

/* ---- while it is made ---- */

/* Indices of the whole tables; order: those that go, the dearest first. */
struct making {
    const struct hearthi_profile      *from;
    struct hearthi_profile_part       *to;
    struct hearthi_profile_part_arrays a;
    struct hearthi_cost               *line, *memory, *page;
    int32_t                           *memory_of; /* of a page of the table */
    int32_t  *line_at, *memory_at;                /* where they went */
    uint32_t *by;                                 /* allocations by address */
    uint32_t *line_in; /* of a piece of memory, a line that faulted + 1 */
    size_t    memories;
    double    diff_ns, ahead_ns; /* of one */
};

/* By address; of what began at one address the youngest last. */
static int
by_address(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    uint64_t x = hearthi_allocations_get(i)->from;
    uint64_t y = hearthi_allocations_get(j)->from;

    return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* The youngest that covers the page, or of small objects the last that begins
 * before its end. */
static int32_t
memory_find(const struct making *m, uint64_t page)
{
    uint64_t begin = (uintptr_t)hearthi_app(page), end = begin;
    size_t   low = 0, high = m->memories;

    end += hearthi_heap.page;
    while (low < high) {
        size_t mid = (low + high) / 2;

        if (hearthi_allocations_get(m->by[mid])->from < end)
            low = mid + 1;
        else
            high = mid;
    }
    for (size_t i = low; i > 0 && low - i < 16; i--) {
        const struct hearthi_allocated *a =
            hearthi_allocations_get(m->by[i - 1]);

        if (a->from + a->bytes > begin)
            return (int32_t)m->by[i - 1];
    }
    return HEARTHI_NO_INDEX;
}

static struct hearthi_cost
later_cost(const struct making *m, const struct hearthi_profile_page *p)
{
    return (struct hearthi_cost){
        .ahead = p->ahead,
        .diffs = p->diffs,
        .diff_bytes = p->diff_bytes,
        .ns = (uint64_t)(m->ahead_ns * p->ahead + m->diff_ns * p->diffs),
    };
}

/* A page that was opened with others has had no fault: it is charged to a
 * line that had one in the same memory. */
static uint32_t
line_of(const struct making *m, size_t i)
{
    const struct hearthi_profile_page *p = &m->from->page[i];

    if (p->line > 0 || m->memory_of[i] < 0)
        return p->line;
    return m->line_in[m->memory_of[i]];
}

static void
page_cost(struct making *m, size_t i)
{
    const struct hearthi_profile_page *p = &m->from->page[i];
    struct hearthi_cost                c = later_cost(m, p);
    uint32_t                           line = line_of(m, i);

    if (line > 0) /* its faults are counted there */
        hearthi_cost_add(&m->line[line - 1], &c);
    c.reads = p->reads;
    c.writes = p->writes;
    c.ns += p->ns + (p->own > 0); /* so that it is handed in */
    m->page[i] = c;
    if (m->memory_of[i] >= 0)
        hearthi_cost_add(&m->memory[m->memory_of[i]], &c);
}

static void
lines_begin(struct making *m)
{
    for (size_t i = 0; i < HEARTHI_PROFILE_LINES; i++) {
        const struct hearthi_profile_line *l = &m->from->line[i];

        m->line[i] = (struct hearthi_cost){ .reads = l->reads,
                                            .writes = l->writes,
                                            .ahead = l->brought,
                                            .ns = l->ns };
    }
}

static void
page_find(struct making *m, size_t i)
{
    const struct hearthi_profile_page *p = &m->from->page[i];

    m->memory_of[i] =
        p->key > 0 ? memory_find(m, p->key - 1) : HEARTHI_NO_INDEX;
    if (p->line > 0 && m->memory_of[i] >= 0)
        m->line_in[m->memory_of[i]] = p->line;
}

static void
costs_add(struct making *m)
{
    lines_begin(m);
    for (size_t i = 0; i < HEARTHI_PROFILE_PAGES; i++)
        page_find(m, i);
    for (size_t i = 0; i < HEARTHI_PROFILE_PAGES; i++)
        if (m->from->page[i].key > 0)
            page_cost(m, i);
}

static void
lines_put(struct making *m, const uint32_t *order)
{
    for (size_t i = 0; i < m->to->lines; i++) {
        const struct hearthi_profile_line *l = &m->from->line[order[i]];

        m->line_at[order[i]] = (int32_t)i;
        m->a.line[i] = (struct hearthi_profile_part_line){
            .at = hearthi_part_place(m->to, &m->a, l->at),
            .cost = m->line[order[i]],
            .stride = l->stride,
            .strided = l->strided,
            .inside = l->inside,
            .brought = l->brought,
            .calls = l->calls,
        };
    }
}

static void
memories_put(struct making *m, const uint32_t *order)
{
    for (size_t i = 0; i < m->to->memories; i++) {
        const struct hearthi_allocated *a = hearthi_allocations_get(order[i]);
        struct hearthi_profile_part_memory *to = &m->a.memory[i];

        m->memory_at[order[i]] = (int32_t)i;
        *to = (struct hearthi_profile_part_memory){
            .at = hearthi_part_place(m->to, &m->a, a->at),
            .cost = m->memory[order[i]],
            .from = a->from,
            .bytes = a->bytes,
            .collective = a->collective,
        };
        if (a->name != NULL)
            strncpy(to->name, a->name, sizeof to->name - 1);
    }
}

static void
pages_put(struct making *m, const uint32_t *order)
{
    for (size_t i = 0; i < m->to->pages; i++) {
        const struct hearthi_profile_page *p = &m->from->page[order[i]];
        int32_t                            memory = m->memory_of[order[i]];
        uint32_t                           line = line_of(m, order[i]);

        m->a.page[i] = (struct hearthi_profile_part_page){
            .cost = m->page[order[i]],
            .page = p->key - 1,
            .line = line > 0 ? m->line_at[line - 1] : HEARTHI_NO_INDEX,
            .memory = memory >= 0 ? m->memory_at[memory] : HEARTHI_NO_INDEX,
            .home = (int32_t)p->home - 1,
            .own = p->own,
            .narrow = p->narrow,
        };
        memcpy(m->a.page[i].stored, p->stored, sizeof p->stored);
    }
}

/* ---- all of it ---- */

static void
numbers_put(struct making *m, struct hearthi_profile_part *to)
{
    to->dropped = m->from->dropped + hearthi_allocations_dropped();
    to->every = m->from->every;
    to->barriers = m->from->barriers;
    to->samples = to->every == 0
                      ? 0
                      : hearthi_min((to->barriers + to->every - 1) / to->every,
                                    HEARTHI_PROFILE_SAMPLES);
    while (to->places < HEARTHI_PROFILE_BARRIERS &&
           m->from->barrier[to->places].at != 0)
        to->places++;
    for (size_t i = 0; i < HEARTHI_PROFILE_LOCKS; i++)
        to->locks += m->from->lock[i].key != 0;
}

static void
ready(struct making *m, const hearth_stats *s)
{
    m->diff_ns = s->diffs > 0 ? (double)s->diff_ns / (double)s->diffs : 0;
    m->ahead_ns =
        s->predicted > 0 ? (double)s->predict_ns / (double)s->predicted : 0;
    for (size_t i = 0; i < m->memories; i++)
        m->by[i] = (uint32_t)i;
    qsort(m->by, m->memories, sizeof *m->by, by_address);
    costs_add(m);
}

/* The modules are known only when all places have been made. */
static struct hearthi_profile_part *
part_fill(struct making *m, const struct hearthi_profile_part *head,
          uint32_t *const order[3])
{
    struct hearthi_profile_part with = *head;

    with.modules = HEARTHI_PART_MODULES;
    m->to = calloc(1, hearthi_profile_part_bytes(&with));
    if (m->to == NULL)
        return NULL;
    *m->to = with;
    m->a = hearthi_profile_part_arrays(m->to);
    m->to->modules = 0;
    lines_put(m, order[0]);
    memories_put(m, order[1]);
    pages_put(m, order[2]);
    hearthi_part_calls_put(m->from, m->to, &m->a);
    m->to->modules = HEARTHI_PART_MODULES;
    return m->to;
}

/* Of n entries so many go. */
static size_t
chosen(struct hearthi_profile_part *head, size_t n, size_t most)
{
    if (n <= most)
        return n;
    head->left_out += n - most;
    return most;
}

static struct hearthi_profile_part *
part_choose(struct making *m, struct hearthi_profile_part *head,
            uint32_t *order)
{
    uint32_t *const of[3] = { order, order + HEARTHI_PROFILE_LINES,
                              order + HEARTHI_PROFILE_LINES +
                                  HEARTHI_ALLOCATIONS };
    size_t each = HEARTHI_REPORT_ALL_PAGES / (size_t)hearthi_world.size;

    head->lines = chosen(
        head,
        hearthi_costs_dearest(m->line, HEARTHI_PROFILE_LINES, false, of[0]),
        HEARTHI_REPORT_LINES);
    head->memories = chosen(
        head, hearthi_costs_dearest(m->memory, m->memories, true, of[1]),
        HEARTHI_REPORT_MEMORIES);
    head->pages = chosen(
        head,
        hearthi_costs_dearest(m->page, HEARTHI_PROFILE_PAGES, false, of[2]),
        hearthi_min(each, (size_t)HEARTHI_REPORT_PAGES));
    return part_fill(m, head, of);
}

static int
home_of(uint64_t page)
{
    return hearthi_home_of(page);
}

/* One piece for all that is needed meanwhile. */
enum {
    COSTS =
        HEARTHI_PROFILE_LINES + HEARTHI_ALLOCATIONS + HEARTHI_PROFILE_PAGES,
    INDICES = 2 * COSTS + 2 * HEARTHI_ALLOCATIONS
};

static struct hearthi_profile_part *
part_with(struct hearthi_profile_part *head, struct hearthi_cost *cost,
          uint32_t *index)
{
    struct making m = { .from = hearthi_profile_kept() };

    m.line = cost;
    m.memory = m.line + HEARTHI_PROFILE_LINES;
    m.page = m.memory + HEARTHI_ALLOCATIONS;
    m.line_at = (int32_t *)(index + COSTS);
    m.memory_at = m.line_at + HEARTHI_PROFILE_LINES;
    m.memory_of = m.memory_at + HEARTHI_ALLOCATIONS;
    m.by = index + 2 * COSTS;
    m.line_in = m.by + HEARTHI_ALLOCATIONS;
    memset(m.line_in, 0, HEARTHI_ALLOCATIONS * sizeof *m.line_in);
    memset(m.line_at, 0xff, COSTS * sizeof *m.line_at);
    while (hearthi_allocations_get(m.memories) != NULL)
        m.memories++;
    ready(&m, &head->stats);
    numbers_put(&m, head);
    hearthi_table_lock(); /* others are served until the end */
    hearthi_profile_homes(0, hearthi_heap.pages, home_of);
    hearthi_table_unlock();
    return part_choose(&m, head, index);
}

struct hearthi_profile_part *
hearthi_profile_part_make(const hearth_stats *stats, uint64_t ns)
{
    struct hearthi_profile_part  head = { .stats = *stats,
                                          .ns = ns,
                                          .rank = hearthi_world.rank,
                                          .node = hearthi_world.node };
    struct hearthi_cost         *cost = calloc(COSTS, sizeof *cost);
    uint32_t                    *index = malloc(INDICES * sizeof *index);
    struct hearthi_profile_part *made = NULL;

    hearthi_rank_memory_take(&head.memory);
    gethostname(head.host, sizeof head.host - 1);
    if (cost != NULL && index != NULL)
        made = part_with(&head, cost, index);
    free(cost);
    free(index);
    return made;
}
