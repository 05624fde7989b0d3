/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "advising.h"
#include "base/format.h"
#include "base/option.h"

/* Of less nothing is said, unless all is asked for. */
enum { LEAST_NS = 5000000 };

/* ---- what rules have in common ---- */

static unsigned
percent_of(const struct hearthi_merged *m, uint64_t ns)
{
    return m->whole_ns == 0
               ? 0
               : (unsigned)((double)ns * 100 / (double)m->whole_ns + 0.5);
}

static bool
is_worth(const struct hearthi_merged *m, uint64_t ns)
{
    if (hearthi_opt.report_least == 0)
        return ns > 0;
    return ns >= LEAST_NS && percent_of(m, ns) >= hearthi_opt.report_least;
}

void
hearthi_advice_say(char text[HEARTHI_ADVICE_TEXT], const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (hearthi_format(text, HEARTHI_ADVICE_TEXT, fmt, ap) < 0)
        text[0] = '\0';
    va_end(ap);
}

struct hearthi_advice *
hearthi_advice_new(struct hearthi_advising *d, const char *rule, uint64_t ns,
                   bool sure)
{
    struct hearthi_advice *a;

    if (d->n == HEARTHI_ADVICES || !is_worth(d->m, ns))
        return NULL;
    a = &d->out[d->n++];
    *a = (struct hearthi_advice){ .rule = rule, .saves_ns = ns, .sure = sure };
    return a;
}

/* ---- the cache ---- */

/* What was given up to make room and fetched again costs as much as other
 * fetches of that rank do. */
static void
cache_judge(struct hearthi_advising *d)
{
    const struct hearthi_merged *m = d->m;
    uint64_t                     pages = 0, fetched = 0, dearest = 0;
    double                       ns = 0;
    size_t                       which = 0;
    struct hearthi_advice       *a;

    for (int r = 0; r < m->ranks; r++) {
        const hearth_stats *s = &m->part[r]->stats;

        pages += s->evictions;
        fetched += s->getpages;
        if (s->getpages > 0)
            ns += (double)s->fault_ns / (double)s->getpages *
                  (double)s->evictions;
    }
    if (pages * 8 <= fetched) /* few of them came again */
        return;
    a = hearthi_advice_new(d, "cache-small", (uint64_t)ns, false);
    if (a == NULL)
        return;
    for (size_t i = 0; i < m->memories; i++)
        if (m->memory[i].cost.ns >= dearest) {
            dearest = m->memory[i].cost.ns;
            which = i;
        }
    hearthi_advice_say(
        a->what, "%" PRIu64 " copies were given up to make room%s%s", pages,
        m->memories > 0 ? ", mostly for " : "",
        m->memories > 0 ? hearthi_memory_words(m, which).text : "");
    hearthi_advice_say(a->remedy,
                       "raise HEARTH_CACHE (it is %s), or work on "
                       "one part after the other",
                       hearthi_option_text("cache"));
}

/* ---- barriers ---- */

/* Computing of a rank, beyond what the others have on average. */
static uint64_t
excess_of(const struct hearthi_merged *m, int who)
{
    uint64_t own = 0, others = 0;

    for (int r = 0; r < m->ranks; r++) {
        struct hearthi_shares s =
            hearthi_shares_of(&m->part[r]->stats, m->part[r]->ns, m->nodes);
        uint64_t ns =
            s.ns[HEARTHI_SHARE_COMPUTING] + s.ns[HEARTHI_SHARE_SERVED];

        if (r == who)
            own = ns;
        else
            others += ns;
    }
    others /= (uint64_t)(m->ranks > 1 ? m->ranks - 1 : 1);
    return own > others ? own - others : 0;
}

/* One rank that comes last in two thirds of the cases, when two thirds of the
 * waiting is done, and computes longer: as much as half of what the others
 * wait for in all, at least.  One that was late a few times, as where other
 * programs run beside it, has no more to do than the others; and one that is
 * late since its pages or locks are is not told to do less. */
static void
barrier_judge(struct hearthi_advising *d, const struct hearthi_seen_barrier *b)
{
    enum { FEW = 8, LEAST_UNEVEN_NS = 50000000 };
    const struct hearthi_merged *m = d->m;
    struct hearthi_advice       *a;
    int                          who = 0;
    uint64_t                     gain;

    for (int r = 1; r < m->ranks; r++)
        if (b->late_ns[r] > b->late_ns[who])
            who = r;
    if (b->samples < FEW || b->last[who] * 3 < b->samples * 2 ||
        b->late_ns[who] * 3 < b->uneven_ns * 2 ||
        b->uneven_ns < LEAST_UNEVEN_NS)
        return;
    gain = excess_of(m, who) * (uint64_t)(m->ranks - 1);
    if (gain * 2 < b->uneven_ns)
        return;
    gain = gain < b->uneven_ns ? gain : b->uneven_ns;
    a = hearthi_advice_new(d, "imbalance", gain,
                           b->late_ns[who] * 4 > b->uneven_ns * 3);
    if (a == NULL)
        return;
    hearthi_advice_say(
        a->what,
        "rank %d comes last to the barrier at %s, %" PRIu64
        " times of %" PRIu64
        ", and computes longer than others, who wait for it %.1f ms each time "
        "in all",
        who, hearthi_site_words(m, b->site).text, b->last[who], b->samples,
        (double)b->uneven_ns / 1e6 / (double)(b->samples * m->every));
    hearthi_advice_say(a->remedy,
                       "give rank %d less to do, or hand out the work in "
                       "small pieces (hearth_fetch_add)",
                       who);
}

static int
by_savings(const void *a, const void *b)
{
    const struct hearthi_advice *x = a, *y = b;

    return (x->saves_ns < y->saves_ns) - (x->saves_ns > y->saves_ns);
}

size_t
hearthi_advise(const struct hearthi_merged *m,
               struct hearthi_advice        out[HEARTHI_ADVICES])
{
    struct hearthi_advising d = { .m = m, .out = out };

    hearthi_advise_memory(&d);
    hearthi_advise_calls(&d);
    cache_judge(&d);
    for (size_t i = 0; i < m->barriers; i++)
        if (m->barrier[i].last != NULL)
            barrier_judge(&d, &m->barrier[i]);
    qsort(out, d.n, sizeof *out, by_savings);
    return d.n;
}
