/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The epochs of src/coherence/coherence.c: ranks go through barriers with
 * their main threads while they and others use locks or flags.  One word of a
 * page is written once, by rank 0, at any time; the page's home is elsewhere,
 * and everybody else has a copy from before.  A rank must see the write as
 * soon as one of its threads has returned from a call before which it
 * happened, as its threads may tell each other by other means.
 *
 * Steps are what is done under the table's lock, and what an object's manager
 * does at a time.  A release may come to the log with the epoch in which its
 * notices were collected or with a later one.
 */
#include "epoch.h"

#include <stdio.h>
#include <string.h>

enum { MAIN = 0, ACTORS_A_RANK = THREADS + 1, CHOICES = 5 };
enum { BARRIER = CHOICES - 1 };

static const char *const rules[RULES + 1] = {
    [THREE] = "--three",
    [FLAGS] = "--flags",
    [LONG] = "--long",
    [CHAIN] = "--chain",
    [SCOPE] = "--scope",
    [NOISE] = "--noise",
    [NO_BEGIN] = "--no-begin",
    [BEGIN_ONCE] = "--begin-once",
    [BEGUN_FIRST] = "--begun-first",
    [NO_ANEW] = "--no-anew",
    [NO_AHEAD] = "--no-ahead",
    [NO_AHEAD_TELLS] = "--no-ahead-tells",
    [AHEAD_OUTSIDE] = "--ahead-outside",
    [NO_LOST] = "--no-lost",
    [RELEASE_LATE] = "--release-late",
    [ACQUIRE_EARLY] = "--acquire-early",
    [FORGET_EARLY] = "--forget-early",
    [FORGET_ALL] = "--forget-all",
    [KEEP_POSITION] = "--keep-position",
    [POSITION_OF_ASKED] = "--position-of-asked",
    [POSITION_FIRST] = "--position-first",
    [GIVEN_FIRST] = "--given-first",
    [MERGE_SAYS_LESS] = "--merge-says-less",
    [MERGE_IN_PLACE] = "--merge-in-place",
};

/* Turns of all together: as many as can be walked in a second or two. */
static unsigned
turns_most(void)
{
    if (broken(LONG) || broken(CHAIN))
        return 4;
    return broken(THREE) ? 2 : 3;
}

static bool
main_has_turns(void)
{
    return !broken(LONG) && !broken(CHAIN);
}

static unsigned
barriers(void)
{
    return broken(CHAIN) ? 1 : BARRIERS;
}

static void
thread_end(struct thread *t)
{
    *t = (struct thread){ .at = IDLE };
}

/* ---- copies ---- */

/* What was not sent home yet is the write itself. */
static void
copy_drop(struct rank *r)
{
    if (!r->dirty)
        r->copy = NONE;
}

static void
grant_apply(struct rank *r, unsigned me, const struct thread *t)
{
    if (t->invalidate_all)
        copy_drop(r);
    for (unsigned i = 0; i < t->n; i++)
        if (me > 0 || (t->notice[i] - 1) % NUMBER >= EVERYTHING)
            copy_drop(r);
}

static bool
memory_step(struct state *s, struct rank *r, unsigned choice)
{
    if (choice == 0 && r->copy == NONE) {
        r->copy = s->home ? FRESH : STALE;
        return true;
    }
    if (choice > 0 || r != &s->rank[0] || s->wrote)
        return false;
    r->copy = FRESH;
    r->dirty = r->must = s->wrote = 1;
    for (unsigned i = 0; i < THREADS; i++)
        r->thread[i].wrote = r->thread[i].at == HOLDS;
    return true;
}

/* ---- locks and flags ---- */

static void
grant_begin(const struct rank *r, struct thread *t)
{
    const struct view *v = &r->view[t->sync];
    bool               same = v->pos_epoch == r->acquire;

    t->at = ASKED;
    t->epoch = r->acquire;
    t->pos = same || broken(KEEP_POSITION) ? v->pos : 0;
}

static void
collect(struct state *s, struct rank *r, struct thread *t)
{
    interval_end(s, r);
    release_collect(r, t);
    t->must = broken(SCOPE) && !broken(FLAGS) ? t->wrote : r->must;
    t->at = COLLECTED;
    r->held -= !broken(FLAGS);
}

/* Of a chain, only rank 1 uses both. */
static bool
may_use(const struct state *s, const struct rank *r, unsigned sync)
{
    if (!broken(CHAIN))
        return sync == 0;
    return sync < SYNCS && r != &s->rank[sync == 0 ? 2 : 0];
}

static bool
turn_begin(struct state *s, struct rank *r, struct thread *t, unsigned choice)
{
    bool set = broken(FLAGS) && choice % 2;

    t->sync = (uint8_t)(broken(FLAGS) ? choice / 2 : choice);
    if (!may_use(s, r, t->sync) || s->turns == turns_most())
        return false;
    s->turns++;
    if (set)
        collect(s, r, t);
    else
        grant_begin(r, t);
    return true;
}

static void
scope_begin(struct state *s, struct rank *r, const struct thread *t)
{
    interval_end(s, r);
    if (r->held == 0)
        for (unsigned i = 0; i < THINGS; i++)
            r->known[i] &= r->known[i] & KNOWN ? (uint8_t)~SECTION : 0;
    if (r->known[WRITE] & SECTION)
        r->known[WRITE] |= (uint8_t)(GIVEN << t->sync);
    r->view[t->sync].given_epoch = r->release;
}

static bool
granted(struct state *s, struct rank *r, struct thread *t)
{
    struct log *log = &s->log[t->sync];

    if (broken(FLAGS) != log->busy)
        return false;
    log->busy = 1;
    t->must = log->must;
    log_read(log, t);
    if (broken(SCOPE) && !broken(FLAGS))
        scope_begin(s, r, t);
    t->at = GRANTED;
    return true;
}

static void
position_set(struct rank *r, const struct thread *t)
{
    struct view *v = &r->view[t->sync];

    if (t->epoch == r->acquire || broken(POSITION_OF_ASKED)) {
        v->pos = t->pos;
        v->pos_epoch = r->acquire;
    }
    if (t->pos > 0 && v->begun < t->epoch)
        v->begun = t->epoch;
}

static void
grant_end(struct rank *r, unsigned me, struct thread *t)
{
    if (t->at == GRANTED) {
        grant_learn(r, me, t);
        position_set(r, t);
        t->at = APPLIED;
        if (broken(POSITION_FIRST))
            return;
    }
    grant_apply(r, me, t);
    r->must |= t->must;
    r->held += !broken(FLAGS);
    *t = (struct thread){ .at = broken(FLAGS) ? IDLE : HOLDS,
                          .sync = broken(FLAGS) ? 0 : t->sync };
}

static void
release(struct state *s, struct rank *r, struct thread *t, uint8_t epoch)
{
    struct log *log = &s->log[t->sync];

    log_append(log, t, epoch);
    log->must |= t->must;
    log->busy = broken(FLAGS);
    if (broken(FLAGS) && t->n > 0) {
        given_note(r, t);
        if (r->view[t->sync].begun < t->epoch)
            r->view[t->sync].begun = t->epoch;
    }
    thread_end(t);
}

static bool
sync_step(struct state *s, unsigned me, struct thread *t, unsigned choice)
{
    struct rank *r = &s->rank[me];

    if (t->at == IDLE)
        return turn_begin(s, r, t, choice);
    if (choice > (t->at == COLLECTED && t->epoch != r->release))
        return false;
    switch (t->at) {
    case ASKED: return granted(s, r, t);
    case HOLDS: collect(s, r, t); break;
    case COLLECTED: release(s, r, t, choice ? t->epoch : r->release); break;
    default: grant_end(r, me, t);
    }
    return true;
}

/* ---- barriers ---- */

static void
barrier_enter(struct state *s, struct rank *r)
{
    struct news *news = &s->news[r->entered++];

    interval_end(s, r);
    news->write |= r->own;
    news->invalidate_all |= r->invalidate_all;
    news->must |= r->must;
    r->own = r->invalidate_all = 0;
    known_mark(r);
    if (broken(FORGET_EARLY))
        known_forget(r, OLD);
    r->release += !broken(RELEASE_LATE);
    r->acquire += broken(ACQUIRE_EARLY);
}

static void
barrier_leave(struct state *s, struct rank *r, unsigned me)
{
    const struct news *news = &s->news[r->left++];

    if (news->invalidate_all || (news->write && me > 0))
        copy_drop(r);
    r->must |= news->must;
    known_forget(r, broken(FORGET_ALL) ? KNOWN : OLD);
    r->release += broken(RELEASE_LATE);
    r->acquire += !broken(ACQUIRE_EARLY);
}

static bool
all_entered(const struct state *s, unsigned barrier)
{
    for (unsigned i = 0; i < s->ranks; i++)
        if (s->rank[i].entered <= barrier)
            return false;
    return true;
}

static bool
barrier_step(struct state *s, unsigned me)
{
    struct rank *r = &s->rank[me];

    if (r->entered > r->left) {
        if (!all_entered(s, r->left))
            return false;
        barrier_leave(s, r, me);
    } else if (r->entered == barriers()) {
        return false;
    } else {
        barrier_enter(s, r);
    }
    return true;
}

/* ---- */

static bool
step(void *state, int actor, int choice)
{
    struct state  *s = state;
    unsigned       me = (unsigned)actor / ACTORS_A_RANK;
    unsigned       who = (unsigned)actor % ACTORS_A_RANK;
    struct rank   *r = &s->rank[me];
    struct thread *t = &r->thread[who % THREADS];

    if (me >= s->ranks)
        return false;
    if (who == THREADS)
        return memory_step(s, r, (unsigned)choice);
    if (who == MAIN && t->at == IDLE &&
        (choice == BARRIER || r->entered > r->left))
        return choice == BARRIER && barrier_step(s, me);
    return choice != BARRIER && (who > MAIN || main_has_turns()) &&
           sync_step(s, me, t, (unsigned)choice);
}

static const char *
fault(const void *state)
{
    const struct state *s = state;

    for (unsigned i = 0; i < s->ranks; i++) {
        const struct rank *r = &s->rank[i];

        if (r->must && (r->copy == STALE || (r->copy == NONE && !s->home)))
            return "a rank reads what was there before a write";
    }
    return NULL;
}

/* Who waits for a flag that nobody sets waits with right. */
static bool
is_end(const void *state)
{
    const struct state *s = state;
    bool                end = true;

    for (unsigned i = 0; i < s->ranks && !broken(FLAGS); i++)
        end = end && s->rank[i].left == barriers();
    return end;
}

static void
show(const void *state)
{
    const struct state *s = state;

    for (unsigned i = 0; i < s->ranks; i++) {
        const struct rank *r = &s->rank[i];

        printf("; %u: epochs %u %u, copy %u%s", i, r->release, r->acquire,
               r->copy, r->must ? ", must" : "");
        for (unsigned k = 0; k < THREADS; k++)
            printf(" %u", r->thread[k].at);
    }
    for (unsigned i = 0; i <= broken(CHAIN); i++)
        printf("; log %u epoch %u end %u", i, s->log[i].epoch, s->log[i].end);
}

int
main(int argc, char **argv)
{
    struct state        start = { .ranks = 2 };
    const struct search model = { sizeof start, RANKS_MOST * ACTORS_A_RANK,
                                  CHOICES,      step,
                                  fault,        is_end,
                                  rules,        show };

    for (int i = 0; i < RANKS_MOST; i++)
        start.rank[i].release = start.rank[i].acquire = 1;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], rules[THREE]) == 0 ||
            strcmp(argv[i], rules[CHAIN]) == 0)
            start.ranks = 3;
    return search_main(argc, argv, &model, &start);
}
