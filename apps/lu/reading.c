/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "reading.h"

#include <string.h>

#include <hearth/hearth.h>

#include "block.h"

static size_t
area(const struct layout *l)
{
    return l->b * l->b;
}

struct reading
reading_make(const struct app_run *run, const struct layout *l,
             const char *how)
{
    struct reading r = { .run = run, .l = l };

    r.by_read = strcmp(how, READING_MEMORY) != 0;
    r.by_blocks = strcmp(how, READING_BLOCKS) == 0;
    if (r.by_read)
        r.room = app_private(run, l->blocks * area(l), sizeof *r.room);
    return r;
}

/* The column's owner is its home. */
static void
room_read(struct reading *r, const double *from, size_t blocks)
{
    hearth_read(r->cluster, hearth_offset(from), r->room,
                blocks * area(r->l) * sizeof *from);
}

void
reading_begin(struct reading *r, const double *lu, size_t k)
{
    const int    owner = (int)(k % (size_t)r->run->ranks);
    const size_t left = r->l->blocks - k;

    r->panel = lu + k * r->l->stride + k * area(r->l);
    if (!r->by_read) {
        hearth_prefetch(r->panel, left * area(r->l) * sizeof *lu);
        return;
    }
    r->apart = r->by_blocks && owner != r->run->rank;
    r->cluster = hearth_cluster_of(owner);
    if (owner == r->run->rank || r->apart)
        return;
    room_read(r, r->panel, left);
    r->panel = r->room;
}

/* What column_update() does, operand by operand. */
static void
update_apart(struct reading *r, double *column, size_t k)
{
    const struct layout *l = r->l;
    double              *u = column + k * area(l);

    room_read(r, r->panel, 1);
    block_solve(u, r->room, l->b);
    for (size_t i = k + 1; i < l->blocks; i++) {
        room_read(r, r->panel + (i - k) * area(l), 1);
        block_subtract(column + i * area(l), r->room, u, l->b);
    }
}

void
reading_update(struct reading *r, double *column, size_t k)
{
    if (r->apart)
        update_apart(r, column, k);
    else
        column_update(r->l, column, r->panel, k);
}
