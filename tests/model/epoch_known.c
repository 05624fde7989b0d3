/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank knows, gives and learns, as in src/coherence/coherence.c and
 * src/notice/known.c, and logs, as in src/transport/log.c.
 */
#include "epoch.h"

static uint8_t
notice_of(unsigned thing, unsigned number)
{
    return (uint8_t)(1 + thing + NUMBER * number);
}

static bool
tells_section(unsigned sync)
{
    (void)sync;
    return broken(SCOPE) && !broken(FLAGS);
}

/* ---- logs ---- */

static void
log_take(const struct log *log, struct thread *t)
{
    for (unsigned p = t->pos; p < log->end; p++)
        t->notice[t->n++] = log->notice[p % SLOTS];
}

void
log_read(const struct log *log, struct thread *t)
{
    bool ahead = log->epoch > t->epoch && !broken(NO_AHEAD);

    t->n = t->everything = t->ahead = 0;
    t->log_epoch = log->epoch;
    if (log->epoch < t->epoch) {
        t->pos = 0;
        return;
    }
    t->ahead = ahead;
    if (ahead || log->end - t->pos > SLOTS)
        t->everything = 1;
    else
        log_take(log, t);
    t->pos = log->end;
}

void
log_append(struct log *log, const struct thread *t, uint8_t epoch)
{
    if (t->n == 0)
        return;
    if (log->epoch < epoch && !(broken(NO_ANEW) && log->epoch > 0)) {
        log->epoch = epoch;
        log->end = log->notice[0] = log->notice[1] = 0;
    }
    for (unsigned i = 0; i < t->n; i++, log->end++)
        if (t->n <= SLOTS)
            log->notice[log->end % SLOTS] = t->notice[i];
}

/* ---- what is known ---- */

/* In place of an older one. */
static void
known_append(struct rank *r, unsigned thing, unsigned flags)
{
    r->known[thing] = (uint8_t)(KNOWN | flags);
    for (unsigned i = 0; i < THREADS; i++)
        r->thread[i].given &= (uint8_t) ~(1u << thing);
}

void
known_mark(struct rank *r)
{
    for (unsigned i = 0; i < THINGS; i++)
        if (r->known[i] & KNOWN)
            r->known[i] |= OLD;
}

void
known_forget(struct rank *r, unsigned which)
{
    for (unsigned i = 0; i < THINGS; i++) {
        if (!(r->known[i] & which))
            continue;
        r->known[i] &= r->known[i] & SECTION ? SECTION | 3 * GIVEN : 0;
        if (i >= EVERYTHING && r->known[i] == 0)
            r->numbers[i - EVERYTHING] = 0;
    }
}

void
interval_end(struct state *s, struct rank *r)
{
    if (!r->dirty)
        return;
    r->dirty = 0;
    s->home = 1;
    r->own = 1;
    known_append(r, WRITE, broken(SCOPE) ? SECTION : 0);
}

/* ---- release ---- */

static void
view_for_release(struct rank *r, unsigned sync)
{
    struct view *v = &r->view[sync];

    if (v->given_epoch == r->release)
        return;
    v->given_epoch = r->release;
    for (unsigned i = 0; i < THINGS; i++)
        r->known[i] &= (uint8_t) ~(GIVEN << sync);
}

static void
begin(struct rank *r, struct thread *t)
{
    uint8_t begun = r->view[t->sync].begun;

    if (t->n > 0 || tells_section(t->sync) || broken(NO_BEGIN) ||
        (broken(BEGIN_ONCE) ? begun > 0 : begun >= r->acquire))
        return;
    t->notice[t->n++] = 0;
}

void
release_collect(struct rank *r, struct thread *t)
{
    unsigned source = tells_section(t->sync) ? SECTION : KNOWN;
    unsigned skip = (source == KNOWN ? GIVEN | SEEN : GIVEN) << t->sync;

    view_for_release(r, t->sync);
    t->n = t->given = 0;
    for (unsigned i = 0; i < THINGS; i++) {
        if (!(r->known[i] & source))
            continue;
        t->given |= (uint8_t)(1u << i);
        if (r->known[i] & skip)
            continue;
        if (t->n < SLOTS)
            t->notice[t->n] =
                notice_of(i, i < EVERYTHING ? 0 : r->numbers[i - EVERYTHING]);
        t->n++;
    }
    t->epoch = r->release;
    begin(r, t);
    if (!broken(FLAGS) || broken(GIVEN_FIRST) || t->n == 0)
        given_note(r, t);
    if (broken(BEGUN_FIRST) && r->view[t->sync].begun < t->epoch)
        r->view[t->sync].begun = t->epoch;
    if (t->n > SLOTS)
        t->notice[0] = t->notice[1] = 0;
}

void
given_note(struct rank *r, const struct thread *t)
{
    if (r->view[t->sync].given_epoch != t->epoch)
        return;
    for (unsigned i = 0; i < THINGS; i++)
        if (t->given >> i & 1)
            r->known[i] |= (uint8_t)(GIVEN << t->sync);
}

/* ---- acquire ---- */

/* False if it was known. */
static bool
notice_learn(struct rank *r, unsigned me, unsigned sync, uint8_t notice)
{
    unsigned thing = (notice - 1u) % NUMBER, number = (notice - 1u) / NUMBER;
    uint8_t *known = &r->known[thing];
    uint8_t  none = 0, *newest = &none;

    if (thing >= EVERYTHING)
        newest = &r->numbers[thing - EVERYTHING];
    if ((*known & KNOWN) && *newest == number)
        *known |= (uint8_t)(SEEN << sync);
    if ((thing == WRITE ? me == 0 : thing == EVERYTHING + me) ||
        ((*known & KNOWN) && *newest >= number))
        return false;
    if (thing >= EVERYTHING)
        *newest = (uint8_t)number;
    known_append(r, thing, SEEN << sync);
    return true;
}

static void
everything_learn(struct rank *r, unsigned me, unsigned sync)
{
    unsigned thing = EVERYTHING + me;
    bool     old = r->known[thing] & KNOWN;
    bool     has = !old || (r->known[thing] & (GIVEN | SEEN) << sync);

    r->numbers[me] = ++r->number;
    known_append(r, thing, has ? SEEN << sync : 0);
}

void
grant_learn(struct rank *r, unsigned me, struct thread *t)
{
    uint8_t fresh = 0;

    if (!tells_section(t->sync))
        view_for_release(r, t->sync);
    for (unsigned i = 0; i < t->n; i++)
        if (t->notice[i] > 0 && notice_learn(r, me, t->sync, t->notice[i]))
            t->notice[fresh++] = t->notice[i];
    t->n = fresh;
    if (t->everything && !broken(NO_LOST))
        everything_learn(r, me, t->sync);
    if (t->ahead && !broken(NO_AHEAD_TELLS) &&
        (broken(AHEAD_OUTSIDE) ? r->release == r->acquire
                               : t->log_epoch > r->release))
        r->everything = 1;
}
