/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Few runs for those of many ranks.  Of what a barrier brings a rank asks one
 * thing only: did another rank write the page, or did this one alone, so that
 * it keeps its copy?  So to other nodes the ranks of a node are one writer,
 * and to the ranks of a node all other nodes are.  Runs of two such writers
 * may become one run, which says of each page what was said before; a node's
 * own runs stay with their ranks.
 *
 * It is a merge sort of the lists that are sorted already, which joins what it
 * meets, so that lists shrink on the way.  Measured, it takes 4 ns a notice
 * for each doubling of the lists, where a rank without copies takes 10 ns to
 * go through a notice and the network 20.  Where ranks write here and there at
 * random that would be for nothing: so a few runs of long lists are tried
 * first, which takes 1 us for four lists of any length, and if less than a
 * quarter of them touches a run of another list all stay as they are, for 1 ns
 * a notice.  So do lists that follow each other with pages between them.
 */
#include "config.h"

#include "coalesce.h"

#include <string.h>

#include "base/assert.h"

/* ---- one behind the other ---- */

/* Do they overlap or adjoin, and may they be one?  a is not behind b. */
static inline bool
touches(const struct hearthi_notice *a, const struct hearthi_notice *b)
{
    return hearthi_gap_between(a->page, a->count, b->page, b->count) == 0;
}

/* Append to a sorted list of n.  Returns its new length. */
static inline size_t
run_put(struct hearthi_notice *list, size_t n,
        const struct hearthi_notice *next)
{
    if (n > 0 && touches(&list[n - 1], next)) {
        hearthi_notice_coalesce(&list[n - 1], next);
        return n;
    }
    list[n] = *next;
    return n + 1;
}

/* What can be seen of the lists without a change.  `needless` may count too
 * many: it decides nothing but whether it is worth a second look. */
struct look {
    size_t lists;    /* a new one begins where pages go down */
    size_t needless; /* of no pages, or touched by the one before */
};

/* Notes as a page where each list begins.  No branch hangs on a notice. */
static struct look
look_at(const struct hearthi_notice *notice, size_t n,
        struct hearthi_notice *list)
{
    struct look l = { 0, 0 };

    for (size_t i = 0; i < n; i++) {
        const struct hearthi_notice *here = &notice[i], *last = here - (i > 0);
        size_t                       down = i == 0 || here->page < last->page;
        size_t touched = here->page <= last->page + last->count;

        list[l.lists].page = i;
        l.lists += down;
        l.needless += (touched & ~down) | (here->count == 0);
    }
    return l;
}

/* Join those that follow each other.  `to` may be where they are. */
static size_t
neighbours_join(struct hearthi_notice *to, const struct hearthi_notice *notice,
                size_t n)
{
    size_t first = 0, out = 0; /* of this list, of all */

    for (size_t i = 0; i < n; i++) {
        struct hearthi_notice here = notice[i];

        if (here.count == 0)
            continue;
        if (out > first && here.page < to[out - 1].page)
            first = out;
        out = first + run_put(to + first, out - first, &here);
    }
    return out;
}

/* ---- two lists ---- */

/* Two lists that were joined apart from each other may go up where they meet,
 * and overlap there all the same: so a list ends where a run touches the one
 * before, too. */
static size_t
list_length(const struct hearthi_notice *notice, size_t n)
{
    size_t i = 1;

    while (i < n && notice[i - 1].page <= notice[i].page &&
           !touches(&notice[i - 1], &notice[i]))
        i++;
    return n > 0 ? i : 0;
}

static size_t
rest_put(struct hearthi_notice *to, size_t out,
         const struct hearthi_notice *rest, const struct hearthi_notice *end)
{
    while (rest < end && touches(&to[out - 1], rest))
        out = run_put(to, out, rest++);
    memcpy(to + out, rest, (size_t)(end - rest) * sizeof *to);
    return out + (size_t)(end - rest);
}

/* Which comes first is not to be foreseen: no branch hangs on it. */
static size_t
pair_join(struct hearthi_notice *to, const struct hearthi_notice *a,
          size_t n_a, size_t n_b)
{
    const struct hearthi_notice *b = a + n_a, *a_end = b, *b_end = b + n_b;
    size_t                       out = 0;

    while (a < a_end && b < b_end) {
        size_t second = b->page < a->page;

        out = run_put(to, out, second ? b : a);
        a += !second;
        b += second;
    }
    if (out == 0) {
        memcpy(to, a, n_a * sizeof *to);
        return n_a;
    }
    out = rest_put(to, out, a, a_end);
    return rest_put(to, out, b, b_end);
}

/* Each two lists become one; `lists` is how many there are then. */
static size_t
pairs_join(struct hearthi_notice *to, const struct hearthi_notice *from,
           size_t n, size_t *lists)
{
    size_t out = 0;

    *lists = 0;
    for (size_t i = 0; i < n; ++*lists) {
        size_t a = list_length(from + i, n - i);
        size_t b = list_length(from + i + a, n - i - a);

        out += pair_join(to + out, from + i, a, b);
        i += a + b;
    }
    return out;
}

/* ---- whether it is worth it ---- */

enum { FEW = 64, TRIED = 16, WORTH = TRIED / 4 };

/* Does a run of this sorted list overlap r or adjoin it? */
static bool
list_touches(const struct hearthi_notice *list, size_t n,
             const struct hearthi_notice *r)
{
    uint64_t end = r->page + r->count;
    size_t   low = 0;

    for (size_t high = n; low < high;) {
        size_t mid = low + (high - low) / 2;

        if (list[mid].page <= end)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && list[low - 1].page + list[low - 1].count >= r->page;
}

/* Where each list begins is in `list`, and behind it where the last ends. */
static bool
run_is_touched(const struct hearthi_notice *notice, size_t i,
               const struct hearthi_notice *list, size_t lists)
{
    for (size_t k = 0; k < lists; k++) {
        size_t from = list[k].page, end = list[k + 1].page;

        if ((i < from || i >= end) &&
            list_touches(notice + from, end - from, &notice[i]))
            return true;
    }
    return false;
}

/* Tries some runs, from everywhere in the lists; short ones, and lists of one
 * run each, are joined in any case. */
static bool
is_worth_it(const struct hearthi_notice *notice, size_t n,
            struct hearthi_notice *list, size_t lists)
{
    size_t touched = 0;

    if (n < FEW || lists == n)
        return true;
    list[lists].page = n;
    for (size_t i = n / TRIED / 2; i < n && touched < WORTH; i += n / TRIED)
        touched += run_is_touched(notice, i, list, lists);
    return touched >= WORTH;
}

/* ---- joining ---- */

struct hearthi_notice *
hearthi_notices_coalesce(struct hearthi_notice *notice, size_t *n,
                         struct hearthi_notice *to,
                         struct hearthi_notice *spare)
{
    struct look            l = look_at(notice, *n, spare);
    struct hearthi_notice *from = to, *into = spare, *was;
    bool                   sort = l.lists > 1;

    sort = sort && is_worth_it(notice, *n, spare, l.lists);
    if (!sort && l.needless == 0)
        return notice;
    HEARTHI_ASSERT(l.lists <= *n);
    *n = neighbours_join(to, notice, *n);
    while (sort) {
        *n = pairs_join(into, from, *n, &l.lists);
        sort = l.lists > 1;
        was = from;
        from = into;
        into = was;
    }
    if (from != to)
        memcpy(to, from, *n * sizeof *to);
    return to;
}

void
hearthi_notices_sign(struct hearthi_notice *notice, size_t n, uint32_t writer)
{
    for (size_t i = 0; i < n; i++)
        notice[i].writer = writer;
}

/* ---- gathering ---- */

/* Room for n more, and for as many again if that may be. */
static void
room_make(struct hearthi_gathered *g, size_t n)
{
    size_t most = g->most / 2;

    if (n > most)
        most = g->most - n;
    g->n = (uint32_t)hearthi_notices_merge(g->notice, g->n, most);
}

void
hearthi_gathered_add(struct hearthi_gathered     *g,
                     const struct hearthi_notice *notice, size_t n,
                     bool invalidate_all)
{
    HEARTHI_ASSERT(g->n <= g->most && (!g->invalidate_all || g->n == 0));
    if (n <= g->most && n > g->most - g->n)
        room_make(g, n);
    if (invalidate_all || g->invalidate_all || n > g->most - g->n) {
        g->invalidate_all = true;
        g->n = 0;
        return;
    }
    if (n > 0)
        memcpy(g->notice + g->n, notice, n * sizeof *g->notice);
    g->n += (uint32_t)n;
    HEARTHI_ASSERT(g->n <= g->most);
}

void
hearthi_gathered_clear(struct hearthi_gathered *g)
{
    g->n = 0;
    g->invalidate_all = false;
}
