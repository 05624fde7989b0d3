/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dissect.h"
#include "plan.h"

/* Points [x0, x1) x [y0, y1), and ranks [from, to) for them. */
struct part {
    int32_t x0, x1, y0, y1;
    int32_t from, to;
};

int
plan_neighbours(const struct plan *p, int32_t point, int32_t room[4],
                const int32_t **next)
{
    int32_t k, x, y;
    int     count = 0;

    if (p->matrix != NULL) {
        *next = &p->matrix->column[p->matrix->start[point]];
        return p->matrix->start[point + 1] - p->matrix->start[point];
    }
    k = p->k;
    x = point % k;
    y = point / k;
    if (x > 0)
        room[count++] = point - 1;
    if (x < k - 1)
        room[count++] = point + 1;
    if (y > 0)
        room[count++] = point - k;
    if (y < k - 1)
        room[count++] = point + k;
    *next = room;
    return count;
}

/* How two neighbours are coupled. */
static double
coupling(const struct plan *p, int32_t i, int32_t j)
{
    const int32_t low = i < j ? i : j, high = i < j ? j : i;

    return -0.5 - app_random((uint64_t)low * 2 + (high - low == p->k));
}

double
plan_entry(const struct plan *p, int32_t i, int32_t j)
{
    int32_t        room[4];
    const int32_t *next;
    int            count;
    double         sum = 0.01;

    if (p->matrix != NULL)
        return matrix_entry(p->matrix, i, j);
    count = plan_neighbours(p, i, room, &next);
    for (int c = 0; c < count; c++) {
        if (next[c] == j)
            return coupling(p, i, j);
        sum -= coupling(p, i, next[c]);
    }
    return i == j ? sum : 0;
}

void
plan_point_add(struct plan *p, int32_t point)
{
    p->place[point] = p->placed;
    p->point[p->placed++] = point;
}

int32_t
plan_node_add(struct plan *p, int32_t first, int32_t from_rank,
              int32_t to_rank, const int32_t child[2])
{
    p->node[p->nodes] = (struct supernode){ .first = first,
                                            .last = p->placed,
                                            .child = -1,
                                            .sibling = -1,
                                            .from_rank = from_rank,
                                            .to_rank = to_rank };
    for (int h = 0; h < 2; h++)
        if (child[h] >= 0) {
            p->node[child[h]].sibling = p->node[p->nodes].child;
            p->node[p->nodes].child = child[h];
        }
    return p->nodes++;
}

/* Put the points of a part into the order, as one supernode. */
static int32_t
node_add(struct plan *p, const struct part *a, const int32_t child[2])
{
    const int32_t first = p->placed;

    for (int32_t y = a->y0; y < a->y1; y++)
        for (int32_t x = a->x0; x < a->x1; x++)
            plan_point_add(p, y * p->k + x);
    return plan_node_add(p, first, a->from, a->to, child);
}

/* Halve a part: the line between the halves. */
static void
part_halve(const struct part *a, struct part half[2], struct part *line)
{
    const bool    wide = a->x1 - a->x0 >= a->y1 - a->y0;
    const int32_t middle = wide ? (a->x0 + a->x1) / 2 : (a->y0 + a->y1) / 2;

    half[0] = half[1] = *line = *a;
    if (wide) {
        half[0].x1 = line->x0 = middle;
        half[1].x0 = line->x1 = middle + 1;
    } else {
        half[0].y1 = line->y0 = middle;
        half[1].y0 = line->y1 = middle + 1;
    }
    if (a->to - a->from > 1)
        half[0].to = half[1].from = a->from + (a->to - a->from) / 2;
}

/* Order the points of a part; the last supernode of it, or -1. */
static int32_t
part_order(struct plan *p, const struct part *a, long piece)
{
    const int32_t width = a->x1 - a->x0, height = a->y1 - a->y0;
    struct part   half[2], line;
    int32_t       child[2] = { -1, -1 };

    if (width <= 0 || height <= 0)
        return -1;
    if ((long)width * height <= piece)
        return node_add(p, a, child);
    part_halve(a, half, &line);
    for (int h = 0; h < 2; h++)
        child[h] = part_order(p, &half[h], piece);
    return node_add(p, &line, child);
}

static int
row_compare(const void *a, const void *b)
{
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;

    return (i > j) - (i < j);
}

/* Rows as they are found, each once. */
struct finder {
    int32_t *found, *seen; /* seen[row]: in this supernode + 1 */
    int32_t  count, number;
};

static void
row_find(struct finder *f, int32_t row)
{
    if (f->seen[row] == f->number + 1)
        return;
    f->seen[row] = f->number + 1;
    f->found[f->count++] = row;
}

/* The rows of a supernode: its columns, their neighbours that come later, and
 * what is left of its children's. */
static void
node_rows(struct plan *p, struct finder *f, int32_t number)
{
    struct supernode *s = &p->node[number];
    int32_t           room[4];
    const int32_t    *next;

    f->count = 0;
    f->number = number;
    for (int32_t c = s->first; c < s->last; c++)
        row_find(f, c);
    for (int32_t c = s->first; c < s->last; c++)
        for (int i = plan_neighbours(p, p->point[c], room, &next); i-- > 0;)
            if (p->place[next[i]] > c)
                row_find(f, p->place[next[i]]);
    for (int32_t c = s->child; c >= 0; c = p->node[c].sibling)
        for (int32_t i = 0; i < p->node[c].rows; i++)
            if (p->node[c].row[i] >= s->first)
                row_find(f, p->node[c].row[i]);
    qsort(f->found, (size_t)f->count, sizeof *f->found, row_compare);
    s->rows = f->count;
    s->row = app_private(p->run, (size_t)f->count, sizeof *s->row);
    memcpy(s->row, f->found, (size_t)f->count * sizeof *s->row);
}

/* Cut a supernode into panels of about the same width. */
static void
node_cut(struct plan *p, const struct supernode *s)
{
    const int32_t width = s->last - s->first;
    const int32_t parts = (width + PANEL_MOST - 1) / PANEL_MOST;
    const int32_t owners = s->to_rank - s->from_rank;

    for (int32_t i = 0; i < parts; i++) {
        const int32_t from = (int32_t)app_part((size_t)width, i, parts);
        const int32_t to = (int32_t)app_part((size_t)width, i + 1, parts);
        struct panel *q = &p->panel[p->panels];

        *q = (struct panel){ .first = s->first + from, .width = to - from };
        q->rows = s->rows - from;
        q->row = s->row + from;
        q->owner = s->from_rank + i % owners;
        q->shared = owners > 1;
        for (int32_t c = q->first; c < q->first + q->width; c++)
            p->panel_of[c] = p->panels;
        p->entries +=
            (double)q->rows * q->width - 0.5 * q->width * (q->width - 1);
        p->panels++;
    }
}

/* Count what each panel needs. */
static void
needs_count(struct plan *p)
{
    for (int32_t i = 0; i < p->panels; i++) {
        const struct panel *q = &p->panel[i];
        int32_t             last = -1;

        for (int32_t r = q->width; r < q->rows; r++) {
            const int32_t to = p->panel_of[q->row[r]];

            p->panel[to].needs += to != last;
            last = to;
        }
    }
}

/*
 * Give each panel its place among the values of its owner: a word that counts
 * what it still needs, and its numbers.  Those that concern several ranks
 * begin a page, as each has a lock of its own.
 */
static void
values_place(struct plan *p)
{
    const size_t page = app_page_size(p->run) / sizeof(double);
    size_t      *next = app_private(p->run, (size_t)p->ranks, sizeof *next);

    for (int32_t i = 0; i < p->panels; i++) {
        struct panel *q = &p->panel[i];
        const size_t  words = 1 + (size_t)q->rows * (size_t)q->width;

        if (q->shared)
            next[q->owner] = (next[q->owner] + page - 1) / page * page;
        q->at = next[q->owner];
        next[q->owner] += words;
        p->own += q->owner == p->run->rank;
    }
    for (int32_t r = 0; r < p->ranks; r++)
        if (next[r] > p->words)
            p->words = next[r];
    p->words = (p->words + page - 1) / page * page;
    for (int32_t i = 0; i < p->panels; i++)
        p->panel[i].at += (size_t)p->panel[i].owner * p->words;
    free(next);
}

void
plan_make(struct plan *p, const struct app_run *run, const struct matrix *m,
          long k, long piece)
{
    const size_t      n = m != NULL ? (size_t)m->n : (size_t)(k * k);
    const struct part all = { 0, (int32_t)k, 0, (int32_t)k, 0, run->ranks };
    struct finder     f;

    *p = (struct plan){ .run = run, .matrix = m, .n = (int32_t)n };
    p->k = (int32_t)k;
    p->ranks = run->ranks;
    p->place = app_private(run, n, sizeof *p->place);
    p->point = app_private(run, n, sizeof *p->point);
    p->node = app_private(run, 2 * n, sizeof *p->node);
    p->panel = app_private(run, n, sizeof *p->panel);
    p->panel_of = app_private(run, n, sizeof *p->panel_of);
    f.found = app_private(run, n, sizeof *f.found);
    f.seen = app_private(run, n, sizeof *f.seen);
    if (m != NULL)
        dissect(p, piece);
    else
        part_order(p, &all, piece);
    for (int32_t s = 0; s < p->nodes; s++) {
        node_rows(p, &f, s);
        node_cut(p, &p->node[s]);
    }
    free(f.seen);
    free(f.found);
    needs_count(p);
    values_place(p);
}

void
plan_free(struct plan *p)
{
    for (int32_t s = 0; s < p->nodes; s++)
        free(p->node[s].row);
    free(p->panel_of);
    free(p->panel);
    free(p->node);
    free(p->point);
    free(p->place);
}
