/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "migrated.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/report.h"

/* How many pieces begin at or before a page. */
static size_t
before(const struct hearthi_migrated *m, uint64_t at)
{
    size_t low = 0, high = m->n;

    while (low < high) {
        size_t i = (low + high) / 2;

        if (m->piece[i].at <= at)
            low = i + 1;
        else
            high = i;
    }
    return low;
}

static uint64_t
end_of(const struct hearthi_piece *p)
{
    return p->at + p->count;
}

const struct hearthi_piece *
hearthi_migrated_at(const struct hearthi_migrated *m, uint64_t at,
                    uint64_t *from, uint64_t *end)
{
    size_t i = before(m, at);

    if (i > 0 && at < end_of(&m->piece[i - 1]))
        return &m->piece[i - 1];
    if (i > 0 && end_of(&m->piece[i - 1]) > *from)
        *from = end_of(&m->piece[i - 1]);
    if (i < m->n && m->piece[i].at < *end)
        *end = m->piece[i].at;
    return NULL;
}

static void
insert(struct hearthi_migrated *m, size_t i, struct hearthi_piece p)
{
    if (m->n == m->room) {
        m->room = m->room == 0 ? 16 : 2 * m->room;
        m->piece = realloc(m->piece, m->room * sizeof *m->piece);
        if (m->piece == NULL)
            hearthi_fatal("hearth_barrier", "no memory for %zu moved runs",
                          m->room);
    }
    memmove(m->piece + i + 1, m->piece + i, (m->n - i) * sizeof p);
    m->piece[i] = p;
    m->n++;
}

static void
erase(struct hearthi_migrated *m, size_t i, size_t n)
{
    HEARTHI_ASSERT(i + n <= m->n);
    if (n == 0)
        return;
    m->n -= n;
    memmove(m->piece + i, m->piece + i + n, (m->n - i) * sizeof *m->piece);
}

/* No piece has any of these pages: what lies around them stays. */
static void
cut(struct hearthi_migrated *m, uint64_t at, uint64_t end)
{
    size_t i = before(m, at), n = 0;

    if (i > 0 && end_of(&m->piece[i - 1]) > at) {
        struct hearthi_piece *p = &m->piece[i - 1], rest = *p;

        p->count = at - p->at;
        rest.at = end;
        rest.frame += (uint32_t)(end - p->at);
        if (p->at + rest.count > end) {
            rest.count = p->at + rest.count - end;
            insert(m, i, rest);
        }
        if (m->piece[i - 1].count == 0)
            erase(m, --i, 1);
    }
    while (i + n < m->n && end_of(&m->piece[i + n]) <= end)
        n++;
    erase(m, i, n);
    if (i < m->n && m->piece[i].at < end) {
        struct hearthi_piece *p = &m->piece[i];

        p->count -= end - p->at;
        p->frame += (uint32_t)(end - p->at);
        p->at = end;
    }
}

static int
continues(const struct hearthi_piece *p, const struct hearthi_piece *next)
{
    return p->home == next->home && end_of(p) == next->at &&
           p->frame + p->count == next->frame;
}

/* Pieces are not empty, in order, and have no page twice. */
HEARTHI_FOR_ASSERT static bool
are_in_order(const struct hearthi_migrated *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->piece[i].count == 0 ||
            (i > 0 && end_of(&m->piece[i - 1]) > m->piece[i].at))
            return false;
    return true;
}

void
hearthi_migrated_add(struct hearthi_migrated *m, struct hearthi_piece p)
{
    size_t i;

    cut(m, p.at, end_of(&p));
    i = before(m, p.at);
    insert(m, i, p);
    if (i + 1 < m->n && continues(&m->piece[i], &m->piece[i + 1])) {
        m->piece[i].count += m->piece[i + 1].count;
        erase(m, i + 1, 1);
    }
    if (i > 0 && continues(&m->piece[i - 1], &m->piece[i])) {
        m->piece[i - 1].count += m->piece[i].count;
        erase(m, i, 1);
    }
    HEARTHI_ASSERT(are_in_order(m));
}

void
hearthi_migrated_free(struct hearthi_migrated *m)
{
    free(m->piece);
    memset(m, 0, sizeof *m);
}
