/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages of a piece of memory against ranks: what each did with them.  Several
 * pages share a column where there are more than that.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/min.h"
#include "html.h"
#include "space/heap.h"

enum {
    MAPS = 8,
    COLUMNS = 128,
    ROW = 18,
    LEFT = 72,
    CELL = 6,
    READ = 1,
    WRITE = 2
};

struct map {
    uint64_t page, pages, columns;
    uint8_t *did; /* of a rank and a column */
};

static void
pages_note(struct map *t, const struct hearthi_merged *m, int32_t memory)
{
    for (size_t i = 0; i < m->pages; i++) {
        const struct hearthi_profile_part_page *p = m->page[i].of;
        uint64_t                                at = p->page - t->page;
        uint8_t                                *to;

        if (p->memory != memory || at >= t->pages)
            continue;
        to = &t->did[(uint64_t)m->page[i].rank * t->columns +
                     at * t->columns / t->pages];
        if (p->cost.reads + p->cost.ahead > 0)
            *to |= READ;
        if (p->cost.writes + p->cost.diffs > 0)
            *to |= WRITE;
    }
}

/* Columns of one sort are one rectangle. */
static void
rank_draw(FILE *out, const struct map *t, int rank)
{
    static const char *const class[] = { "none", "read", "write", "both" };
    const uint8_t *did = t->did + (uint64_t)rank * t->columns;

    fprintf(out, "<text class=\"name\" x=\"0\" y=\"%d\">rank %d</text>",
            rank * ROW + 13, rank);
    for (uint64_t c = 0, n; c < t->columns; c += n) {
        for (n = 1; c + n < t->columns && did[c + n] == did[c]; n++)
            ;
        fprintf(out,
                "<rect class=\"%s\" x=\"%" PRIu64
                "\" y=\"%d\" width=\"%" PRIu64 "\" height=\"%d\"/>",
                class[did[c]], LEFT + c * CELL, rank * ROW, n * CELL, ROW - 2);
    }
}

static void
map_draw(FILE *out, const struct hearthi_merged *m, const struct map *t,
         size_t memory)
{
    fputs("<h3>", out);
    hearthi_html_text(out, hearthi_memory_words(m, memory).text);
    fprintf(out,
            "</h3><p class=\"dim\">%" PRIu64 " page%s of %zu bytes</p>"
            "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"pages "
            "against ranks\">",
            t->pages, t->pages == 1 ? "" : "s", hearthi_heap.page,
            LEFT + COLUMNS * CELL, m->ranks * ROW);
    for (int r = 0; r < m->ranks; r++)
        rank_draw(out, t, r);
    fputs("</svg>\n", out);
}

static bool
memory_map(FILE *out, const struct hearthi_merged *m, size_t i)
{
    const struct hearthi_seen_memory *s = &m->memory[i];
    struct map                        t;

    t.page = hearthi_page_of((const void *)(uintptr_t)s->from);
    t.pages =
        hearthi_page_of((const void *)(uintptr_t)(s->from + s->bytes - 1)) -
        t.page + 1;
    t.columns = hearthi_min(t.pages, COLUMNS);
    t.did = calloc((size_t)m->ranks, t.columns);
    if (t.did == NULL)
        return false;
    pages_note(&t, m, (int32_t)i);
    map_draw(out, m, &t, i);
    free(t.did);
    return true;
}

static size_t
dearest_left(const struct hearthi_merged *m, const size_t *drawn, size_t n)
{
    size_t best = m->memories;

    for (size_t i = 0; i < m->memories; i++) {
        bool had = m->memory[i].cost.ns == 0;

        for (size_t k = 0; k < n; k++)
            had = had || drawn[k] == i;
        if (!had && (best == m->memories ||
                     m->memory[i].cost.ns > m->memory[best].cost.ns))
            best = i;
    }
    return best;
}

void
hearthi_html_maps(FILE *out, const struct hearthi_merged *m)
{
    size_t drawn[MAPS], n = 0;

    fputs("<section id=\"map\"><h2>Map of memory</h2><p class=\"dim key\">"
          "The pieces that cost most, a row for each rank, pages from left to "
          "right: <span><i style=\"background:var(--read)\"></i>read</span>"
          "<span><i style=\"background:var(--write)\"></i>written</span>"
          "<span><i style=\"background:var(--both)\"></i>both</span>"
          "<span><i style=\"background:var(--none)\"></i>no fault: not "
          "touched, or at home here</span></p>\n",
          out);
    for (; n < MAPS; n++) {
        drawn[n] = dearest_left(m, drawn, n);
        if (drawn[n] == m->memories || !memory_map(out, m, drawn[n]))
            break;
    }
    if (n == 0)
        fputs("<p>No page cost anything.</p>\n", out);
    fputs("</section>\n", out);
}
