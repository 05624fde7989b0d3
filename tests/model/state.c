/* SPDX-License-Identifier: BSD-2-Clause
 *
 * States: what must hold in each, and the one of many equal ones that stands
 * for all.
 */
#include "model.h"

#include <stddef.h>
#include <string.h>

void
state_start(struct state *s)
{
    memset(s, 0, sizeof *s);
    memset(s->home, 1, sizeof s->home);
    for (int l = 0; l < LOCKS; l++) {
        s->lock[l].holder = NOBODY;
        memset(s->lock[l].before, 1, BYTES);
        memset(s->lock[l].notice, 1, (size_t)ranks());
    }
    for (int r = 0; r < ranks(); r++) {
        memset(s->rank[r].before, 1, BYTES);
        memset(s->rank[r].known, 1, (size_t)ranks());
        s->rank[r].life = model.alloc ? ABSENT : PLACED;
    }
}

bool
is_owed(const struct state *s, int byte, int but)
{
    for (int i = 0; i < ranks(); i++)
        if (i != but && (s->rank[i].owed >> byte & 1))
            return true;
    return false;
}

/* Without a race: where pages may be opened without their content, what
 * others find there meanwhile is any value. */
static bool
may_load(const struct state *s, const struct rank *me, int byte)
{
    for (int i = 0; model.overwrite && i < ranks(); i++)
        if (s->rank[i].before[byte] > me->before[byte])
            return false;
    return !is_owed(s, byte, NOBODY);
}

bool
version_is_free(const struct state *s, int r, int byte)
{
    for (int i = 0; i < ranks(); i++)
        if (s->rank[i].before[byte] > s->rank[r].before[byte])
            return false;
    return s->rank[r].life == PLACED && !is_owed(s, byte, r);
}

bool
version_next(struct state *s, int r, int byte, uint8_t *v)
{
    if (!version_is_free(s, r, byte) || s->writes == model.writes)
        return false;
    s->writes++;
    *v = ++s->rank[r].before[byte];
    return true;
}

/* ---- what must hold ---- */

static bool
home_is_old(const struct state *s, const struct rank *me)
{
    for (int b = 0; b < model.bytes; b++)
        if (me->buffer[b] == 0 && s->home[b] < me->before[b] &&
            may_load(s, me, b))
            return true;
    return false;
}

static bool
copy_is_old(const struct state *s, const struct rank *me)
{
    if (me->copy != CLEAN && me->copy != DIRTY)
        return false;
    for (int b = 0; b < model.bytes; b++)
        if (me->content[b] < me->before[b] && may_load(s, me, b))
            return true;
    return false;
}

const char *
state_fault(const struct state *s)
{
    for (int r = 0; r < ranks(); r++) {
        const struct rank *me = &s->rank[r];

        if (me->life != PLACED)
            continue;
        if (is_home(r) && home_is_old(s, me))
            return "a co-home can load a byte that is too old";
        if (is_home(r) && me->report && !s->flag)
            return "a co-home reports a page that nobody has fetched";
        if (!is_home(r) && copy_is_old(s, me))
            return "a guest can load a byte that is too old";
    }
    return NULL;
}

/* ---- renumbering ---- */

enum { PLACES = 40 };

struct places {
    uint8_t *at[PLACES];
    int      n;
    uint64_t values; /* a bit for each that occurs, but not for 0 */
};

static void
place(struct places *p, uint8_t *at)
{
    if (*at == 0)
        return;
    p->at[p->n++] = at;
    p->values |= UINT64_C(1) << *at;
}

/* Values keep their order and are 1, 2, ... afterwards. */
static void
places_renumber(const struct places *p)
{
    if ((p->values & (p->values + 2)) == 0)
        return; /* they are already */
    for (int i = 0; i < p->n; i++) {
        uint64_t below = p->values & ((UINT64_C(2) << *p->at[i]) - 1);

        *p->at[i] = (uint8_t)__builtin_popcountll(below);
    }
}

static void
versions_renumber(struct state *s, int b)
{
    struct places p;

    p.n = 0;
    p.values = 0;

    place(&p, &s->home[b]);
    place(&p, &s->cleared[b]);
    place(&p, &s->arriving.before[b]);
    place(&p, &s->news.before[b]);
    for (int l = 0; l < LOCKS; l++)
        place(&p, &s->lock[l].before[b]);
    for (int r = 0; r < ranks(); r++) {
        struct rank *me = &s->rank[r];

        place(&p, &me->before[b]);
        place(&p, &me->release[b]);
        place(&p, &me->buffer[b]);
        place(&p, &me->content[b]);
        place(&p, &me->got[b]);
        place(&p, &me->put[b]);
    }
    places_renumber(&p);
}

static void
intervals_renumber(struct state *s, int w)
{
    struct places p;

    p.n = 0;
    p.values = 0;

    place(&p, &s->arriving.notice[w]);
    place(&p, &s->news.notice[w]);
    for (int l = 0; l < LOCKS; l++)
        place(&p, &s->lock[l].notice[w]);
    for (int r = 0; r < ranks(); r++)
        place(&p, &s->rank[r].known[w]);
    places_renumber(&p);
}

/* ---- symmetry ---- */

static void
swap(uint8_t *a, uint8_t *b)
{
    uint8_t t = *a;

    *a = *b;
    *b = t;
}

static void
names_swap(uint8_t *name, int i, int j)
{
    if (*name == i)
        *name = (uint8_t)j;
    else if (*name == j)
        *name = (uint8_t)i;
}

static void
ranks_swap(struct state *s, int i, int j)
{
    struct rank t = s->rank[i];

    s->rank[i] = s->rank[j];
    s->rank[j] = t;
    for (int r = 0; r < ranks(); r++)
        swap(&s->rank[r].known[i], &s->rank[r].known[j]);
    for (int l = 0; l < model.locks; l++) {
        swap(&s->lock[l].notice[i], &s->lock[l].notice[j]);
        names_swap(&s->lock[l].holder, i, j);
    }
    swap(&s->arriving.notice[i], &s->arriving.notice[j]);
    swap(&s->news.notice[i], &s->news.notice[j]);
}

static void
locks_swap(struct state *s, int i, int j)
{
    struct sync t = s->lock[i];

    s->lock[i] = s->lock[j];
    s->lock[j] = t;
    for (int r = 0; r < ranks(); r++)
        if (s->rank[r].phase != IDLE && s->rank[r].sync != BARRIER)
            names_swap(&s->rank[r].sync, i, j);
}

static uint8_t
bits_swap(uint8_t mask)
{
    return (uint8_t)((mask & 1) << 1 | mask >> 1);
}

static void
bytes_swap(struct state *s, int i, int j)
{
    swap(&s->home[i], &s->home[j]);
    swap(&s->cleared[i], &s->cleared[j]);
    swap(&s->arriving.before[i], &s->arriving.before[j]);
    swap(&s->news.before[i], &s->news.before[j]);
    for (int l = 0; l < model.locks; l++)
        swap(&s->lock[l].before[i], &s->lock[l].before[j]);
    for (int r = 0; r < ranks(); r++) {
        struct rank *me = &s->rank[r];

        swap(&me->before[i], &me->before[j]);
        swap(&me->release[i], &me->release[j]);
        swap(&me->buffer[i], &me->buffer[j]);
        swap(&me->content[i], &me->content[j]);
        swap(&me->got[i], &me->got[j]);
        swap(&me->put[i], &me->put[j]);
        me->mask = bits_swap(me->mask);
        me->puts = bits_swap(me->puts);
        me->owed = bits_swap(me->owed);
    }
}

/* Ranks of a kind, locks and bytes are alike: of the states that differ only
 * in their names, the one that is in order stands for all.  What the exchange
 * itself would change decides nothing. */
static void
ranks_order(struct state *s, int i)
{
    if (memcmp(&s->rank[i], &s->rank[i + 1], offsetof(struct rank, known)) > 0)
        ranks_swap(s, i, i + 1);
}

static int
bytes_compare(const struct state *s)
{
    int d = s->home[0] - s->home[1];

    d = d != 0 ? d : s->cleared[0] - s->cleared[1];

    for (int r = 0; r < ranks() && d == 0; r++) {
        const struct rank *me = &s->rank[r];

        d = me->before[0] - me->before[1];
        d = d != 0 ? d : me->release[0] - me->release[1];
        d = d != 0 ? d : me->buffer[0] - me->buffer[1];
        d = d != 0 ? d : me->content[0] - me->content[1];
        d = d != 0 ? d : me->got[0] - me->got[1];
        d = d != 0 ? d : me->put[0] - me->put[1];
        d = d != 0 ? d : (me->mask & 1) - (me->mask >> 1);
        d = d != 0 ? d : (me->owed & 1) - (me->owed >> 1);
    }
    return d;
}

void
state_reduce(struct state *s, bool symmetric)
{
    for (int b = 0; b < model.bytes; b++)
        versions_renumber(s, b);
    for (int w = 0; w < ranks(); w++)
        intervals_renumber(s, w);
    mates_renumber(s);
    if (!symmetric)
        return;
    if (model.locks == 2 &&
        memcmp(&s->lock[0], &s->lock[1], sizeof s->lock[0]) > 0)
        locks_swap(s, 0, 1);
    if (model.homes == 2 && !model.alloc)
        ranks_order(s, 0);
    if (model.guests == 2)
        ranks_order(s, model.homes);
    if (model.bytes == 2 && bytes_compare(s) > 0)
        bytes_swap(s, 0, 1);
}
