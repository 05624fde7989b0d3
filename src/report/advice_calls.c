/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rules about calls: locks and flags that are waited for, and pages that are
 * asked for one by one.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "advising.h"
#include "transport/log.h"

/* What is seldom called may take long, but less often it will not be. */
enum { FEW = 32, FEW_FLAGS = 64, FEW_CALLS = 64 };

/* ---- locks ---- */

/* Most times the holder computes, and each of the others waits as long as one
 * does, or not much longer: the time is spent inside, and not on the way. */
static bool
is_held_long(const struct hearthi_seen_lock *l)
{
    enum { MUCH = 8 };

    return l->computed * 2 > l->holds &&
           l->wait_ns <= MUCH * l->held_ns * (uint64_t)(l->ranks - 1);
}

/* What went home when it was given was one and the same word, but for a few
 * times.  Ranks of its home's node bring nothing home. */
static bool
is_for_a_word(const struct hearthi_seen_lock *l)
{
    return l->one_word * 2 >= FEW && l->wider * 8 < l->one_word;
}

static const char *
lock_rule(const struct hearthi_seen_lock *l)
{
    if (is_held_long(l))
        return "lock-held";
    return is_for_a_word(l) ? "lock-word" : "hot-lock";
}

/* ", and stored to one word of `sum` (slow.c:30)" */
static struct hearthi_site_text
word_words(const struct hearthi_merged *m, const struct hearthi_seen_lock *l)
{
    struct hearthi_site_text w = { "" };

    for (size_t i = 0; is_for_a_word(l) && i < m->memories; i++)
        if (l->word - m->memory[i].from < m->memory[i].bytes)
            snprintf(w.text, sizeof w.text,
                     ", stored to one word of %.110s under it",
                     hearthi_memory_words(m, i).text);
    return w;
}

static const char *
lock_remedy(const struct hearthi_seen_lock *l)
{
    if (is_held_long(l))
        return "compute before it is taken, and do no more under it than to "
               "store the result";
    if (is_for_a_word(l))
        return "hearth_fetch_add, or hearth_compare_swap in a loop, changes "
               "that word without a lock, where no other call needs the lock "
               "with it";
    return "take it less often (gather, then once), a lock for each part, or "
           "hearth_fetch_add for one number";
}

static void
lock_say(const struct hearthi_advising *d, struct hearthi_advice *a,
         const struct hearthi_seen_lock *l)
{
    hearthi_advice_say(a->what,
                       "lock %s: %d ranks took it %" PRIu64
                       " times%s and waited %.1f us "
                       "each time, held %.1f us, at %s",
                       l->text, l->ranks, l->n, word_words(d->m, l).text,
                       (double)l->wait_ns / 1e3 / (double)l->n,
                       (double)l->held_ns / 1e3 / (double)l->n,
                       hearthi_site_words(d->m, l->site).text);
    hearthi_advice_say(a->remedy, "%s", lock_remedy(l));
}

/* A lock that one rank alone takes is not waited for, but fetched. */
static void
lock_judge(struct hearthi_advising *d, const struct hearthi_seen_lock *l)
{
    const char            *rule = lock_rule(l);
    struct hearthi_advice *a;

    if (l->ranks < 2 || l->n < FEW)
        return;
    a = hearthi_advice_new(d, rule, l->wait_ns,
                           is_held_long(l) || !is_for_a_word(l));
    if (a != NULL)
        lock_say(d, a, l);
}

/* ---- flags ---- */

/* Of the rank that computes longest. */
static uint64_t
computing_most(const struct hearthi_merged *m)
{
    uint64_t most = 0;

    for (int r = 0; r < m->ranks; r++) {
        struct hearthi_shares s =
            hearthi_shares_of(&m->part[r]->stats, m->part[r]->ns, m->nodes);

        if (s.ns[HEARTHI_SHARE_COMPUTING] > most)
            most = s.ns[HEARTHI_SHARE_COMPUTING];
    }
    return most;
}

static void
flags_say(struct hearthi_advice *a, const struct hearthi_merged *m,
          const struct hearthi_seen_lock *first, uint64_t n, uint64_t ns)
{
    hearthi_advice_say(a->what,
                       "flags were waited for %" PRIu64 " times, %.1f us each "
                       "time, and little was computed meanwhile: most of all "
                       "%s, at %s",
                       n, (double)ns / 1e3 / (double)n, first->text,
                       hearthi_site_words(m, first->site).text);
    hearthi_advice_say(a->remedy,
                       "set a flag for several pieces of work at once, or "
                       "have more of them ready than one is waited for");
}

/* Of all flags together, since many programs have one for each step.  A rank
 * that waits for one that computes does not wait for the flag: on average it
 * waits no longer than that computes. */
static void
flags_judge(struct hearthi_advising *d)
{
    const struct hearthi_merged    *m = d->m;
    const struct hearthi_seen_lock *first = NULL;
    struct hearthi_advice          *a;
    uint64_t                        n = 0, ns = 0;

    for (size_t i = 0; i < m->locks; i++) {
        const struct hearthi_seen_lock *l = &m->lock[i];

        if (hearthi_is_lock(l->sync))
            continue;
        n += l->n;
        ns += l->wait_ns;
        if (first == NULL || l->wait_ns > first->wait_ns)
            first = l;
    }
    if (n < FEW_FLAGS || ns / (uint64_t)m->ranks <= 2 * computing_most(m))
        return;
    a = hearthi_advice_new(d, "hot-flag", ns, true);
    if (a != NULL)
        flags_say(a, m, first, n, ns);
}

/* ---- hearth_prefetch() ---- */

static void
prefetch_judge(struct hearthi_advising *d, const struct hearthi_seen_line *l)
{
    struct hearthi_advice *a;

    if (l->calls < FEW_CALLS || l->brought >= 2 * l->calls)
        return;
    a = hearthi_advice_new(d, "prefetch-single", l->cost.ns, true);
    if (a == NULL)
        return;
    hearthi_advice_say(a->what,
                       "hearth_prefetch brings pages one by one: %" PRIu64
                       " in %" PRIu64 " calls, at %s",
                       l->brought, l->calls,
                       hearthi_site_words(d->m, l->site).text);
    hearthi_advice_say(
        a->remedy, "ask for a whole range in one call, or for many places by "
                   "hearth_prefetchv: what comes together costs little more "
                   "than one page");
}

void
hearthi_advise_calls(struct hearthi_advising *d)
{
    const struct hearthi_merged *m = d->m;

    for (size_t i = 0; i < m->locks; i++)
        if (hearthi_is_lock(m->lock[i].sync))
            lock_judge(d, &m->lock[i]);
    flags_judge(d);
    for (size_t i = 0; i < m->lines; i++)
        prefetch_judge(d, &m->line[i]);
}
