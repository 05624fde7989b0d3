/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "collective_watch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/option.h"
#include "base/report.h"
#include "world.h"

/* Calls that are remembered: a rank may be ahead of another by those between
 * which Hearth's own messages happen to fit. */
enum { MADE = 16 };

/* How far an answer goes; the furthest of all ranks is kept. */
enum answer {
    ALL_THERE, /* every rank is in the call, or was */
    ELSEWHERE, /* one has not made it, and is in none */
    BEHIND,    /* one is in a call before it */
    DIFFERENT, /* one has made another in its place */
    TOLD       /* no question: a line was said */
};

struct made {
    _Atomic(const char *) call;
    atomic_int            n;
    _Atomic uint64_t      arg[2];
};

/* The program's thread writes, the one that watches reads.  An entry is read
 * before and after the state is, which tells whether it was overwritten.  Each
 * store to the state releases the entries before it, and who looks at the
 * state acquires them; the writer knows its own state (relaxed). */
static struct made      made[MADE];
static _Atomic uint64_t state; /* 2 n: n calls were made; odd: in one more */

/* Of the thread that watches. */
static struct {
    hearthi_collective_watch_waits waits;
    uint64_t                       state;  /* as of the last beat */
    uint64_t                       waited; /* in this call, nanoseconds */
    uint64_t                       asked;  /* ... of these, when it asked */
    atomic_bool                    told;   /* any thread may ask */
} w;

void
hearthi_collective_watch_open(hearthi_collective_watch_waits waits)
{
    atomic_store(&state, 0);
    w.waits = waits;
    w.state = w.waited = w.asked = 0;
    w.told = false;
}

void
hearthi_collective_watch_begin(const char *call, int n, uint64_t first,
                               uint64_t second)
{
    uint64_t     s = atomic_load_explicit(&state, memory_order_relaxed);
    struct made *m = &made[((s + 1) / 2 + 1) % MADE];

    atomic_thread_fence(memory_order_release); /* the state before is seen */
    atomic_store_explicit(&m->call, call, memory_order_relaxed);
    atomic_store_explicit(&m->n, n, memory_order_relaxed);
    atomic_store_explicit(&m->arg[0], first, memory_order_relaxed);
    atomic_store_explicit(&m->arg[1], second, memory_order_relaxed);
    atomic_store_explicit(&state, (s | 1) + (s & 1) * 2, memory_order_release);
}

void
hearthi_collective_watch_end(void)
{
    uint64_t s = atomic_load_explicit(&state, memory_order_relaxed);

    atomic_store_explicit(&state, s + (s & 1), memory_order_release);
}

static uint64_t
number_of(uint64_t s)
{
    HEARTHI_ASSERT(s < UINT64_MAX - 1);
    return (s + 1) / 2;
}

/* Call `number` of this rank; false if it is not known (any more). */
static bool
made_copy(uint64_t number, struct hearthi_where *where)
{
    struct made *m = &made[number % MADE];
    const char  *call = atomic_load_explicit(&m->call, memory_order_relaxed);
    uint64_t     s;

    where->n = atomic_load_explicit(&m->n, memory_order_relaxed);
    for (int i = 0; i < 2; i++)
        where->arg[i] = atomic_load_explicit(&m->arg[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    s = atomic_load_explicit(&state, memory_order_acquire);
    /* The next one may be being written already. */
    if (number == 0 || number > number_of(s) ||
        number_of(s) + 1 >= number + MADE || call == NULL)
        return false;
    where->number = number;
    where->inside = s == 2 * number - 1;
    snprintf(where->call, sizeof where->call, "%s", call);
    return true;
}

/* Of a call and its arguments. */
static uint64_t
where_hash(const struct hearthi_where *where)
{
    return hearthi_hash(hearthi_hash_text(HEARTHI_HASH, where->call),
                        where->arg, (size_t)where->n * sizeof *where->arg);
}

static uint64_t
made_hash(uint64_t number)
{
    struct hearthi_where where;

    return made_copy(number, &where) ? where_hash(&where) : 0;
}

void
hearthi_collective_watch_text(const struct hearthi_where *where, char *text,
                              size_t room)
{
    char arg[2][24];

    for (int i = 0; i < 2; i++)
        snprintf(arg[i], sizeof arg[i],
                 where->arg[i] < UINT64_C(1) << 40 ? "%llu" : "%#llx",
                 (unsigned long long)where->arg[i]);
    if (where->n == 0)
        snprintf(text, room, "%s", where->call);
    else if (where->n == 1)
        snprintf(text, room, "%s(%s)", where->call, arg[0]);
    else
        snprintf(text, room, "%s(%s, %s)", where->call, arg[0], arg[1]);
}

uint64_t
hearthi_collective_watch_count(uint64_t least, bool *inside, char *text,
                               size_t room)
{
    uint64_t s = atomic_load_explicit(&state, memory_order_acquire);
    struct hearthi_where mine;

    *inside = (s & 1) != 0 && s == w.state && w.waited >= least &&
              made_copy(number_of(s), &mine);
    if (*inside)
        hearthi_collective_watch_text(&mine, text, room);
    return number_of(s);
}

/* ---- what others are asked, and answer ---- */

/* Has this rank made another call, the one of that number, than is asked for?
 * Then it is in *mine. */
static bool
is_different(const struct hearthi_record *r, uint64_t at,
             struct hearthi_where *mine)
{
    const uint64_t back = r->ask.where.number - at;

    return back < HEARTHI_HASHES && r->ask.hash[back] != 0 &&
           made_copy(at, mine) && where_hash(mine) != r->ask.hash[back];
}

static enum answer
answer_find(const struct hearthi_record *r, struct hearthi_where *mine)
{
    const uint64_t asked = r->ask.where.number;
    const uint64_t s = atomic_load_explicit(&state, memory_order_acquire);
    const uint64_t now = number_of(s);

    if (is_different(r, now < asked ? now : asked, mine))
        return DIFFERENT;
    if (now >= asked)
        return ALL_THERE;
    if (s & 1)
        return made_copy(now, mine) ? BEHIND : ALL_THERE;
    mine->n = 0; /* the text has what it waits for */
    if (w.waits == NULL || !w.waits(mine->call, sizeof mine->call))
        mine->call[0] = '\0';
    return ELSEWHERE;
}

/* Add to a question what this rank knows; false if it need not go on, since
 * this rank is going to ask itself: the lowest one that waits asks for all. */
static bool
question_answer(struct hearthi_record *r)
{
    struct hearthi_where mine = { .number = 0 };
    enum answer          answer;

    if (atomic_load(&state) & 1 && r->by > hearthi_world.rank)
        return false;
    answer = answer_find(r, &mine);
    if ((int)answer > r->weight) {
        r->weight = (int)answer;
        r->about = hearthi_world.rank;
        r->ask.found = mine;
    }
    return true;
}

/* ---- the question comes back ---- */

double
hearthi_wait_seconds(uint64_t ns)
{
    return (double)(ns / 100000000) / 10;
}

static void
differ(const struct hearthi_record *r, const struct hearthi_where *mine)
{
    char here[64], there[64];

    hearthi_collective_watch_text(mine, here, sizeof here);
    hearthi_collective_watch_text(&r->ask.found, there, sizeof there);
    if (r->ask.found.inside && mine->inside)
        hearthi_fatal("job",
                      "rank %d waits in %s, rank %d in %s since %g s: make "
                      "the same collective calls in the same order on every "
                      "rank",
                      r->by, here, r->about, there,
                      hearthi_wait_seconds(w.waited));
    hearthi_fatal("job",
                  "rank %d has called %s where rank %d called %s: make the "
                  "same collective calls in the same order on every rank",
                  r->about, there, r->by, here);
}

static void
warn(const struct hearthi_record *r, const struct hearthi_where *mine)
{
    char here[64], there[64];

    hearthi_collective_watch_text(mine, here, sizeof here);
    hearthi_collective_watch_text(&r->ask.found, there, sizeof there);
    if (r->weight == ALL_THERE)
        hearthi_warn("job",
                     "all ranks are in %s since %g s (call %llu of those that "
                     "all make): it takes long, or it hangs; the job goes on",
                     here, hearthi_wait_seconds(w.waited),
                     (unsigned long long)mine->number);
    else
        hearthi_warn("job",
                     "rank %d waits in %s since %g s, rank %d %s%s: the job "
                     "goes on (HEARTH_WATCH says when this line comes)",
                     r->by, here, hearthi_wait_seconds(w.waited), r->about,
                     r->weight == BEHIND ? "in an earlier "
                     : there[0] != '\0'  ? "in "
                                         : "is in no call that waits",
                     there);
}

bool
hearthi_wait_was_told(void)
{
    return w.told;
}

void
hearthi_wait_told(void)
{
    struct hearthi_record r = { .said = HEARTHI_SAID_WHERE,
                                .by = hearthi_world.rank,
                                .weight = TOLD };

    w.told = true;
    hearthi_next_tell(r);
}

/* Does this rank still wait in that call? */
static void
verdict(const struct hearthi_record *r)
{
    struct hearthi_where mine;
    uint64_t             number = r->ask.where.number;

    if (r->weight == DIFFERENT) {
        if (r->ask.found.number != 0 && made_copy(r->ask.found.number, &mine))
            differ(r, &mine);
        return;
    }
    if (w.told || r->weight == TOLD || atomic_load(&state) != 2 * number - 1 ||
        !made_copy(number, &mine))
        return;
    warn(r, &mine);
    hearthi_wait_told();
}

void
hearthi_collective_watch_heard(struct hearthi_record *r)
{
    if (r->by == hearthi_world.rank) {
        verdict(r);
        return;
    }
    if (r->weight == TOLD)
        w.told = true;
    else if (!question_answer(r))
        return;
    hearthi_next_tell(*r);
}

bool
hearthi_collective_watch_asks(void)
{
    return (atomic_load(&state) & 1) != 0 && atomic_load(&state) == w.state &&
           2 * w.waited >= hearthi_opt.watch;
}

static void
ask(uint64_t number)
{
    struct hearthi_record r = { .said = HEARTHI_SAID_WHERE,
                                .by = hearthi_world.rank,
                                .about = -1,
                                .weight = ALL_THERE };

    r.ask.where.number = number;
    for (uint64_t i = 0; i < HEARTHI_HASHES && i < number; i++)
        r.ask.hash[i] = made_hash(number - i);
    hearthi_next_tell(r);
}

/* A beat counts as one, however long it took: a rank that was itself stopped
 * has not waited.  Asked again and again, since a rank that computes now may
 * come to another call later. */
void
hearthi_collective_watch_look(uint64_t beat)
{
    uint64_t s = atomic_load_explicit(&state, memory_order_acquire);

    if (s != w.state || (s & 1) == 0) {
        w.state = s;
        w.waited = w.asked = 0;
        return;
    }
    w.waited += beat;
    if (hearthi_opt.watch == 0 || w.waited - w.asked < hearthi_opt.watch)
        return;
    w.asked = w.waited;
    ask(number_of(s));
}
