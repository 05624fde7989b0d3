/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Events are gone through rank by rank, each rank's in their order; an acquire
 * waits until the releases that it comes after have been.  The releases of an
 * object are sorted by their numbers, and the k-th has the join of the times
 * of the first k.
 */
#include "config.h"

#include "race_order.h"

#include <stdlib.h>
#include <string.h>

struct release {
    uint64_t number;
    uint32_t object, event;
    int      rank;
    bool     done;
};

struct making {
    struct hearthi_race_order     *o;
    const struct hearthi_race_log *log;
    struct release                *release;
    size_t                         n;
    uint32_t                      *joined; /* a time for each release */
    size_t                        *at;     /* of each rank: the next event */
    size_t                       **index;  /* of a rank's event: its release */
};

static int
release_compare(const void *a, const void *b)
{
    const struct release *x = a, *y = b;

    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* How many releases stand before those of an object with a number above one:
 * the last one, if any, has the object. */
static size_t
releases_until(const struct making *m, uint32_t object, uint64_t number)
{
    size_t low = 0, high = m->n;

    while (low < high) {
        size_t                i = (low + high) / 2;
        const struct release *r = &m->release[i];

        if (r->object < object || (r->object == object && r->number <= number))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

static size_t
ranks_of(const struct making *m)
{
    return (size_t)m->o->ranks;
}

static void
time_join(uint32_t *to, const uint32_t *from, size_t ranks)
{
    for (size_t r = 0; r < ranks; r++)
        to[r] = to[r] > from[r] ? to[r] : from[r];
}

/* Is it the first of its object? */
static bool
is_first(const struct making *m, size_t i)
{
    return i == 0 || m->release[i - 1].object != m->release[i].object;
}

static const uint32_t *
time_behind(const struct making *m, const struct release *r)
{
    return m->o->time[r->rank] + (r->event + 1) * ranks_of(m);
}

/* The joins of this release and those behind it, as far as all before them are
 * there. */
static void
joins_fill(struct making *m, size_t i)
{
    size_t ranks = ranks_of(m);

    if (!is_first(m, i) && m->joined[(i - 1) * ranks] == UINT32_MAX)
        return;
    for (; i < m->n && m->release[i].done; i++) {
        uint32_t *to = m->joined + i * ranks;

        memcpy(to, time_behind(m, &m->release[i]), ranks * sizeof *to);
        if (!is_first(m, i))
            time_join(to, to - ranks, ranks);
        if (i + 1 < m->n && is_first(m, i + 1))
            break;
    }
}

/* False: an acquire has to wait. */
static bool
event_take(struct making *m, int rank)
{
    size_t    ranks = ranks_of(m), i = m->at[rank];
    uint32_t *now = m->o->time[rank] + i * ranks, *next = now + ranks;
    const struct hearthi_race_event *e = &m->log[rank].event[i];
    size_t                           k;

    memcpy(next, now, ranks * sizeof *next);
    next[rank] = (uint32_t)i + 1;
    if (!hearthi_race_acquires(e)) {
        k = m->index[rank][i];
        m->release[k].done = true;
        joins_fill(m, k);
        return true;
    }
    k = releases_until(m, e->object, e->number);
    if (k == 0 || m->release[k - 1].object != e->object)
        return true; /* before the last barrier */
    if (m->joined[(k - 1) * ranks] == UINT32_MAX)
        return false;
    time_join(next, m->joined + (k - 1) * ranks, ranks);
    return true;
}

/* True if all have been gone through. */
static bool
events_take(struct making *m)
{
    bool any = true, left = true;

    while (any && left) {
        any = left = false;
        for (int r = 0; r < m->o->ranks; r++) {
            for (; m->at[r] < m->log[r].events && event_take(m, r); m->at[r]++)
                any = true;
            left |= m->at[r] < m->log[r].events;
        }
    }
    return !left;
}

static void
releases_gather(struct making *m)
{
    m->n = 0;
    for (int r = 0; r < m->o->ranks; r++)
        for (size_t i = 0; i < m->log[r].events; i++) {
            const struct hearthi_race_event *e = &m->log[r].event[i];

            if (!hearthi_race_acquires(e))
                m->release[m->n++] = (struct release){ e->number, e->object,
                                                       (uint32_t)i, r, false };
        }
    qsort(m->release, m->n, sizeof *m->release, release_compare);
    for (size_t k = 0; k < m->n; k++)
        m->index[m->release[k].rank][m->release[k].event] = k;
}

static bool
making_begin(struct making *m)
{
    size_t ranks = ranks_of(m), events = 0;
    bool   has = true;

    m->at = calloc(ranks, sizeof *m->at);
    m->index = calloc(ranks, sizeof *m->index);
    m->o->time = calloc(ranks, sizeof *m->o->time);
    if (m->at == NULL || m->index == NULL || m->o->time == NULL)
        return false;
    for (size_t r = 0; r < ranks; r++) {
        size_t n = m->log[r].events + 1;

        events += n;
        m->index[r] = calloc(n, sizeof **m->index);
        m->o->time[r] = calloc(n * ranks, sizeof **m->o->time);
        has = has && m->index[r] != NULL && m->o->time[r] != NULL;
    }
    m->release = calloc(events, sizeof *m->release);
    m->joined = malloc(events * ranks * sizeof *m->joined);
    if (!has || m->release == NULL || m->joined == NULL)
        return false;
    memset(m->joined, 0xff, events * ranks * sizeof *m->joined);
    return true;
}

static void
making_end(struct making *m)
{
    for (int r = 0; m->index != NULL && r < m->o->ranks; r++)
        free(m->index[r]);
    free(m->index);
    free(m->at);
    free(m->release);
    free(m->joined);
}

bool
hearthi_race_order_make(struct hearthi_race_order     *o,
                        const struct hearthi_race_log *log, int ranks)
{
    struct making m = { .o = o, .log = log };
    bool          done;

    *o = (struct hearthi_race_order){ .ranks = ranks };
    done = making_begin(&m);
    if (done) {
        releases_gather(&m);
        done = events_take(&m);
    }
    making_end(&m);
    return done;
}

void
hearthi_race_order_free(struct hearthi_race_order *o)
{
    for (int r = 0; o->time != NULL && r < o->ranks; r++)
        free(o->time[r]);
    free(o->time);
    o->time = NULL;
}
