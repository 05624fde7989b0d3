/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rule that is about memory looks at one piece of it at a time.  Of what it
 * saves, a rule takes only what the counts charge to
 * those pages: ranks that wait for one another because of them are not in it.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "advising.h"
#include "hearth/hearth.h"
#include "space/heap.h"

/* A walk whose faults lie inside of pages, but for those of a first column, at
 * one distance. */
static bool
is_strided(const struct hearthi_seen_line *l)
{
    enum { FEW = 8 };

    return l->faults >= FEW && l->strided * 2 > l->faults &&
           l->inside * 4 > l->faults && l->stride > 0;
}

static void
column_say(struct hearthi_advising *d, size_t memory, uint64_t ns)
{
    const struct hearthi_merged      *m = d->m;
    const struct hearthi_seen_memory *s = &m->memory[memory];
    const struct hearthi_seen_line   *l = &m->line[s->line];
    struct hearthi_advice            *a =
        hearthi_advice_new(d, "column-stride", ns, true);

    if (a == NULL)
        return;
    hearthi_advice_say(a->what,
                       "%s goes through %s in steps of %" PRIu64
                       " bytes, so it takes a "
                       "little of each page and brings all of it",
                       hearthi_site_words(m, l->site).text,
                       hearthi_memory_words(m, memory).text, l->stride);
    hearthi_advice_say(
        a->remedy, "store it the other way round (transposed), exchange the "
                   "loops, or give each rank whole rows");
}

/* "8", or "8 to 24". */
static struct hearthi_site_text
range_words(uint64_t low, uint64_t high)
{
    struct hearthi_site_text w;

    if (low == high)
        snprintf(w.text, sizeof w.text, "%" PRIu64, low);
    else
        snprintf(w.text, sizeof w.text, "%" PRIu64 " to %" PRIu64, low, high);
    return w;
}

static void
shared_say(struct hearthi_advising *d, size_t memory,
           const struct hearthi_pattern *t)
{
    const struct hearthi_merged      *m = d->m;
    const struct hearthi_seen_memory *s = &m->memory[memory];
    struct hearthi_advice            *a =
        hearthi_advice_new(d, "false-sharing", t->shared_ns, t->unseen == 0);

    if (a == NULL)
        return;
    hearthi_advice_say(
        a->what,
        "%s: %d ranks store %s bytes each, none of them another's, in the "
        "same page (%" PRIu64 " page%s, %" PRIu64 " times in all), at %s",
        hearthi_memory_words(m, memory).text, t->ranks,
        range_words(t->fewest, t->most).text, t->shared,
        t->shared == 1 ? "" : "s", t->shared_times,
        hearthi_site_words(m, m->line[s->line].site).text);
    hearthi_advice_say(a->remedy,
                       "give each rank whole pages (%zu bytes), or gather in "
                       "private memory and add at the end (hearth_add)",
                       hearthi_heap.page);
}

static void
homes_say(struct hearthi_advising *d, size_t memory,
          const struct hearthi_pattern *t)
{
    const struct hearthi_merged      *m = d->m;
    const struct hearthi_seen_memory *s = &m->memory[memory];
    struct hearthi_advice            *a =
        hearthi_advice_new(d, "wrong-homes", t->alone_ns, false);

    if (a == NULL)
        return;
    hearthi_advice_say(a->what,
                       "%s: %" PRIu64
                       " pages are used by ranks of one node alone and are at "
                       "home on another, %s %d, at %s",
                       hearthi_memory_words(m, memory).text, t->alone,
                       t->many_homes ? "such as rank" : "rank", t->home,
                       hearthi_site_words(m, m->line[s->line].site).text);
    hearthi_advice_say(
        a->remedy, "allocate it with hearth_block() or hearth_first_touch(), "
                   "as the ranks use it; HEARTH_MIGRATE=on moves pages later");
}

static uint64_t
pages_of(uint64_t bytes)
{
    return (bytes + hearthi_heap.page - 1) >> hearthi_heap.shift;
}

static void
same_say(struct hearthi_advising *d, size_t memory,
         const struct hearthi_pattern *t)
{
    const struct hearthi_merged      *m = d->m;
    const struct hearthi_seen_memory *s = &m->memory[memory];
    struct hearthi_advice            *a =
        hearthi_advice_new(d, "unchanged-stores", t->same_ns, true);

    if (a == NULL)
        return;
    hearthi_advice_say(
        a->what,
        "%s stores to %s what is there already: pages are opened and copied "
        "for it again and again, and nothing goes home",
        hearthi_site_words(m, m->line[s->line].site).text,
        hearthi_memory_words(m, memory).text);
    hearthi_advice_say(a->remedy, "store only what differs: if (x != new) "
                                  "x = new");
}

static void
again_say(struct hearthi_advising *d, size_t memory,
          const struct hearthi_pattern *t)
{
    const struct hearthi_merged      *m = d->m;
    const struct hearthi_seen_memory *s = &m->memory[memory];
    struct hearthi_advice            *a =
        hearthi_advice_new(d, "read-again", t->again_ns, true);

    if (a == NULL)
        return;
    hearthi_advice_say(a->what,
                       "%s: %" PRIu64
                       " page%s of it, to which ranks stored once at most, "
                       "came %" PRIu64 " times again, at %s",
                       hearthi_memory_words(m, memory).text, t->again,
                       t->again == 1 ? "" : "s", t->again_times,
                       hearthi_site_words(m, m->line[s->line].site).text);
    hearthi_advice_say(a->remedy,
                       "let hearth_acquire() name only what was written, "
                       "instead of all; and hearth_read_mostly() keeps copies "
                       "from being dropped as unknown");
}

static void
narrow_say(struct hearthi_advising *d, size_t memory,
           const struct hearthi_pattern *t)
{
    const struct hearthi_merged      *m = d->m;
    const struct hearthi_seen_memory *s = &m->memory[memory];
    struct hearthi_advice            *a =
        hearthi_advice_new(d, "element-size", t->narrow_ns, false);

    if (a == NULL)
        return;
    hearthi_advice_say(
        a->what,
        "%s: in %" PRIu64 " of %" PRIu64 " diffs only the low bytes of "
        "numbers changed, each of which goes home by itself, at %s",
        hearthi_memory_words(m, memory).text, t->narrow_diffs, t->diffs,
        hearthi_site_words(m, m->line[s->line].site).text);
    hearthi_advice_say(
        a->remedy, "allocate it by the size of its elements (sizeof *p) and "
                   "not of bytes, so that neighbours go home as one");
}

enum { FEW = 4 };

/* By single bytes: memory of hearth_malloc() has no other unit. */
static bool
is_narrow(const struct hearthi_seen_memory *s, const struct hearthi_pattern *t)
{
    return s->collective > 0 && t->narrow_diffs >= FEW &&
           t->narrow_diffs * 4 > t->diffs * 3;
}

static bool
comes_again(const struct hearthi_pattern *t)
{
    return t->again >= FEW && t->again_ns * 2 > t->ns;
}

/* Once or twice is no habit. */
static bool
is_shared(const struct hearthi_pattern *t)
{
    return t->shared_ns * 2 > t->ns && t->shared_times >= FEW * t->shared;
}

/* Pages at the borders of parts belong to one side or the other: only where
 * many pages are used alone would another layout be better. */
static bool
is_far(const struct hearthi_pattern *t, uint64_t pages)
{
    return t->alone_ns * 2 > t->ns && t->alone >= FEW && t->alone * 8 > pages;
}

/* One that is gone through in columns is no false sharing and has no better
 * home as it is. */
static void
memory_judge(struct hearthi_advising *d, size_t memory,
             const struct hearthi_pattern *t)
{
    const struct hearthi_seen_memory *s = &d->m->memory[memory];
    bool column = s->line_ns > 0 && is_strided(&d->m->line[s->line]);

    if (is_narrow(s, t))
        narrow_say(d, memory, t);
    if (t->same * 2 > t->opened)
        same_say(d, memory, t);
    else if (comes_again(t))
        again_say(d, memory, t);
    else if (column && t->shared + t->alone > 1)
        column_say(d, memory, t->ns);
    else if (is_shared(t))
        shared_say(d, memory, t);
    else if (!column && is_far(t, pages_of(s->bytes)))
        homes_say(d, memory, t);
}

void
hearthi_advise_memory(struct hearthi_advising *d)
{
    struct hearthi_pattern *t = hearthi_patterns_find(d->m);

    for (size_t i = 0; t != NULL && i < d->m->memories; i++)
        memory_judge(d, i, &t[i]);
    free(t);
}
