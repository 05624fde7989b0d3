/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank knows, gives and learns, as in src/coherence/coherence.c and
 * src/notice/notice_store.c, and logs, as in src/transport/log.c.
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

static unsigned
thing_of(uint8_t notice)
{
    return (notice - 1u) % NUMBER;
}

static void
log_take(const struct log *log, unsigned from, struct thread *t)
{
    for (unsigned p = from; p < log->end; p++)
        t->notice[t->n++] = log->notice[p % SLOTS];
}

void
log_read(const struct log *log, struct thread *t)
{
    bool     ahead = log->epoch > t->epoch && !broken(NO_AHEAD);
    unsigned from = t->pos;

    t->n = t->invalidate_all = t->ahead = 0;
    t->log_epoch = log->epoch;
    if (log->epoch < t->epoch) {
        t->pos = 0;
        return;
    }
    if (log->whole > 0 && log->end - from > SLOTS)
        from = log->end - log->whole;
    t->ahead = ahead;
    if (ahead || log->end - from > SLOTS)
        t->invalidate_all = 1;
    else
        log_take(log, from, t);
    t->pos = log->end;
}

/* One notice of each thing, of its latest number, comes in place of all that
 * the log holds; the others go as long as there is one.  What is new has its
 * place in t. */
static unsigned
log_merge(const struct log *log, const struct thread *t, uint8_t *all)
{
    uint8_t  latest[THINGS] = { 0 };
    unsigned n = 0, old = broken(MERGE_SAYS_LESS) ? 0 : log->whole;

    for (unsigned i = 0; i < old + t->n; i++) {
        uint8_t notice = i < old ? log->notice[(log->end - i - 1u) % SLOTS]
                                 : t->notice[i - old];

        if (notice > 0 && notice > latest[thing_of(notice)])
            latest[thing_of(notice)] = notice;
    }
    for (unsigned i = 0; i < THINGS; i++)
        if (latest[i] > 0 && n++ < SLOTS)
            all[n - 1] = latest[i];
    if (n == 0)
        all[n++] = 0;
    return n;
}

static void
log_write(struct log *log, const uint8_t *notice, unsigned n, unsigned whole)
{
    for (unsigned i = 0; i < n; i++, log->end++)
        if (n <= SLOTS)
            log->notice[log->end % SLOTS] = notice[i];
    log->whole = whole <= SLOTS ? (uint8_t)whole : 0;
}

void
log_append(struct log *log, const struct thread *t, uint8_t epoch)
{
    uint8_t all[SLOTS];

    if (t->n == 0)
        return;
    if (log->epoch < epoch && !(broken(NO_ANEW) && log->epoch > 0)) {
        log->epoch = epoch;
        log->end = log->whole = log->notice[0] = log->notice[1] = 0;
    }
    if (log->whole > 0 && t->n <= SLOTS && log->whole + t->n > SLOTS) {
        unsigned n = log_merge(log, t, all);

        if (broken(MERGE_IN_PLACE) && n <= log->end)
            log->end = (uint8_t)(log->end - n);
        log_write(log, all, n, n);
    } else {
        log_write(log, t->notice, t->n,
                  log->whole > 0 || log->end == 0 ? log->whole + t->n : 0);
    }
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
    if (broken(NOISE) && t->n < SLOTS)
        t->notice[t->n++] = 0;
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
    unsigned thing = thing_of(notice), number = (notice - 1u) / NUMBER;
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
    if (t->invalidate_all && !broken(NO_LOST))
        everything_learn(r, me, t->sync);
    if (t->ahead && !broken(NO_AHEAD_TELLS) &&
        (broken(AHEAD_OUTSIDE) ? r->release == r->acquire
                               : t->log_epoch > r->release))
        r->invalidate_all = 1;
}
