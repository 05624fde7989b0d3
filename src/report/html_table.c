/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A row's link is made of what it is about and not of its number, so that it
 * leads to the same in the report of the next run.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "html.h"

enum { ROWS = 200 };

/* Ids that a table has had: of several rows of one name the others get a
 * number, too. */
static struct {
    uint32_t had[ROWS];
    size_t   n;
} ids;

/* ---- cells ---- */

static void
head_put(FILE *out, const char *id, const char *title, const char *what,
         const char *const *column)
{
    ids.n = 0;
    fprintf(out,
            "<section id=\"%s\"><h2>%s</h2><p class=\"dim\">%s</p>\n"
            "<input type=\"search\" placeholder=\"search\" "
            "aria-label=\"search %s\"><table class=\"sorts\"><thead><tr>",
            id, title, what, title);
    for (int i = 0; column[i] != NULL; i++)
        fprintf(out, "<th%s><button>%s</button></th>",
                i > 2 ? " class=\"wide\"" : "", column[i]);
    fputs("</tr></thead><tbody>\n", out);
}

static void
tail_put(FILE *out, size_t rows)
{
    fputs("</tbody></table>", out);
    if (rows == 0)
        fputs("<p>none</p>", out);
    if (rows > ROWS)
        fprintf(out, "<p class=\"dim\">%zu more cost less.</p>", rows - ROWS);
    fputs("</section>\n", out);
}

static unsigned
times_had(uint32_t id)
{
    unsigned times = 0;

    for (size_t i = 0; i < ids.n; i++)
        times += ids.had[i] == id;
    if (ids.n < ROWS)
        ids.had[ids.n++] = id;
    return times;
}

static void
name_put(FILE *out, const char *kind, const char *text)
{
    uint32_t id = (uint32_t)hearthi_hash_text(HEARTHI_HASH, text);
    unsigned times = times_had(id);
    char     name[64];

    snprintf(name, sizeof name, times == 0 ? "%s-%08x" : "%s-%08x-%u", kind,
             (unsigned)id, times + 1);
    fprintf(out, "<tr id=\"%s\"><td>", name);
    hearthi_html_text(out, text);
    fprintf(out,
            " <a class=\"row\" href=\"#%s\" aria-label=\"link to this "
            "row\">#</a></td>",
            name);
}

static void
time_put(FILE *out, uint64_t ns, bool wide)
{
    fprintf(out, "<td%s data-n=\"%" PRIu64 "\">",
            wide ? " class=\"wide\"" : "", ns);
    hearthi_html_seconds(out, ns);
    fputs("</td>", out);
}

static void
count_put(FILE *out, uint64_t n, bool wide)
{
    fprintf(out, "<td%s data-n=\"%" PRIu64 "\">%" PRIu64 "</td>",
            wide ? " class=\"wide\"" : "", n, n);
}

static void
cost_put(FILE *out, const struct hearthi_cost *c)
{
    time_put(out, c->ns, false);
    count_put(out, c->reads + c->writes, false);
    count_put(out, c->writes, true);
    count_put(out, c->ahead, true);
    count_put(out, c->diffs, true);
    count_put(out, c->diff_bytes, true);
    fputs("</tr>\n", out);
}

/* ---- in which order ---- */

/* Entries begin with their cost. */
static size_t
dearest_next(const void *of, size_t size, size_t n, bool *done)
{
    const struct hearthi_cost *best = NULL;
    size_t                     at = n;

    for (size_t i = 0; i < n; i++) {
        const struct hearthi_cost *c =
            (const void *)((const char *)of + i * size);

        if (!done[i] && (best == NULL || c->ns > best->ns)) {
            best = c;
            at = i;
        }
    }
    if (at < n)
        done[at] = true;
    return at;
}

/* ---- tables ---- */

static void
lines_put(FILE *out, const struct hearthi_merged *m)
{
    static const char *const column[] = {
        "line of the program", "seconds", "faults", "by stores",
        "fetched ahead",       "diffs",   "bytes",  NULL
    };
    bool  *done = calloc(m->lines + 1, sizeof *done);
    size_t i;

    head_put(out, "lines", "Lines",
             "Instructions that touched a page which was not here, and calls "
             "of hearth_prefetch() that brought some.  What diffs and fetches "
             "ahead cost for a page is charged to the last that did.",
             column);
    for (size_t n = 0; done != NULL && n < m->lines && n < ROWS; n++) {
        i = dearest_next(m->line, sizeof *m->line, m->lines, done);
        name_put(out, "line", hearthi_site_words(m, m->line[i].site).text);
        cost_put(out, &m->line[i].cost);
    }
    tail_put(out, m->lines);
    free(done);
}

static void
memories_put(FILE *out, const struct hearthi_merged *m)
{
    static const char *const column[] = { "memory",        "seconds",
                                          "faults",        "by stores",
                                          "fetched ahead", "diffs",
                                          "bytes",         NULL };
    bool                    *done = calloc(m->memories + 1, sizeof *done);
    size_t                   i;

    head_put(out, "memory", "Memory",
             "What was allocated, by the place that did; hearth_name() gives "
             "names.",
             column);
    for (size_t n = 0; done != NULL && n < m->memories && n < ROWS; n++) {
        i = dearest_next(m->memory, sizeof *m->memory, m->memories, done);
        name_put(out, "memory", hearthi_memory_words(m, i).text);
        cost_put(out, &m->memory[i].cost);
    }
    tail_put(out, m->memories);
    free(done);
}

static void
locks_put(FILE *out, const struct hearthi_merged *m)
{
    static const char *const column[] = { "lock or flag", "waited, s", "times",
                                          "longest, s",   "held, s",   "ranks",
                                          "waited most",  NULL };

    head_put(out, "locks", "Locks and flags",
             "Calls that did not find the lock at this rank.", column);
    for (size_t i = 0; i < m->locks && i < ROWS; i++) {
        const struct hearthi_seen_lock *l = &m->lock[i];
        char                            name[256];

        snprintf(name, sizeof name, "%s, %s", l->text,
                 hearthi_site_words(m, l->site).text);
        name_put(out, "lock", name);
        time_put(out, l->wait_ns, false);
        count_put(out, l->n, false);
        time_put(out, l->longest_ns, true);
        time_put(out, l->held_ns, true);
        count_put(out, (uint64_t)l->ranks, true);
        fprintf(out, "<td class=\"wide\" data-n=\"%d\">rank %d</td></tr>\n",
                l->who, l->who);
    }
    tail_put(out, m->locks);
}

static void
barriers_put(FILE *out, const struct hearthi_merged *m)
{
    static const char *const column[] = { "barrier",     "waited, s",
                                          "times",       "longest, s",
                                          "mostly last", "in so many cases",
                                          NULL };

    head_put(out, "barriers", "Barriers",
             "Of all ranks together.  A rank that waits least came last.",
             column);
    for (size_t i = 0; i < m->barriers && i < ROWS; i++) {
        const struct hearthi_seen_barrier *b = &m->barrier[i];
        int                                who = 0;

        for (int r = 1; r < m->ranks; r++)
            if (b->last[r] > b->last[who])
                who = r;
        name_put(out, "barrier", hearthi_site_words(m, b->site).text);
        time_put(out, b->wait_ns, false);
        count_put(out, b->n, false);
        time_put(out, b->longest_ns, true);
        fprintf(out, "<td class=\"wide\" data-n=\"%d\">rank %d</td>", who,
                who);
        fprintf(out,
                "<td class=\"wide\" data-n=\"%" PRIu64 "\">%" PRIu64
                " of %" PRIu64 "</td></tr>\n",
                b->last[who], b->last[who], b->samples);
    }
    tail_put(out, m->barriers);
}

void
hearthi_html_tables(FILE *out, const struct hearthi_merged *m)
{
    lines_put(out, m);
    memories_put(out, m);
    locks_put(out, m);
    barriers_put(out, m);
}
