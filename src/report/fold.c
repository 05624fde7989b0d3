/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Instructions of one line of a file are one line, once that is known: a load
 * and a store, or copies of an inlined function.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "merged.h"

/* Of one line in one function; what has no line is alone. */
static bool
is_same(const struct hearthi_site *a, const struct hearthi_site *b)
{
    return a->file != NULL && b->file != NULL && a->line == b->line &&
           strcmp(a->file, b->file) == 0 &&
           (a->function == NULL) == (b->function == NULL) &&
           (a->function == NULL || strcmp(a->function, b->function) == 0);
}

static void
line_add(struct hearthi_seen_line *to, const struct hearthi_seen_line *l)
{
    if (l->strided > to->strided)
        to->stride = l->stride;
    to->strided += l->strided;
    to->inside += l->inside;
    to->calls += l->calls;
    to->brought += l->brought;
    to->faults += l->faults;
    hearthi_cost_add(&to->cost, &l->cost);
}

/* Returns where the line is from now on, among the first n. */
static size_t
line_fold(struct hearthi_merged *m, size_t i, size_t *n)
{
    for (size_t k = 0; k < *n; k++)
        if (is_same(&m->site[m->line[k].site], &m->site[m->line[i].site])) {
            line_add(&m->line[k], &m->line[i]);
            return k;
        }
    m->line[*n] = m->line[i];
    return (*n)++;
}

/* The line that is dearest in each piece of memory. */
static bool
lines_of_memory(struct hearthi_merged *m)
{
    uint64_t *ns = calloc(m->lines * m->memories + 1, sizeof *ns);

    if (ns == NULL)
        return false;
    for (size_t i = 0; i < m->pages; i++) {
        const struct hearthi_profile_part_page *p = m->page[i].of;
        struct hearthi_seen_memory             *s;
        uint64_t                               *sum;

        if (p->memory < 0 || p->line < 0)
            continue;
        s = &m->memory[p->memory];
        sum = &ns[(size_t)p->memory * m->lines + (size_t)p->line];
        *sum += p->cost.ns + 1;
        if (*sum > s->line_ns) {
            s->line_ns = *sum;
            s->line = (size_t)p->line;
        }
    }
    free(ns);
    return true;
}

bool
hearthi_merged_fold(struct hearthi_merged *m)
{
    size_t *to = malloc((m->lines + 1) * sizeof *to), n = 0;

    if (to == NULL)
        return false;
    for (size_t i = 0; i < m->lines; i++)
        to[i] = line_fold(m, i, &n);
    m->lines = n;
    for (int r = 0; r < m->ranks; r++)
        for (size_t i = 0; i < m->part[r]->pages; i++) {
            int32_t *line = &m->a[r].page[i].line;

            if (*line >= 0)
                *line = (int32_t)to[*line];
        }
    free(to);
    return lines_of_memory(m);
}
