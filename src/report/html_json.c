/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The numbers of the report, for programs.
 */
#include "config.h"

#include <inttypes.h>

#include "base/option.h"
#include "base/stat.h"
#include "html.h"
#include "world.h"

/* Members may be added; where others change this does, and hearth-report
 * (tools/report) refuses what it does not know. */
enum { FORMAT = 1 };

/* A key, with what stands before it. */
static void
key_put(FILE *out, const char *before, const char *key)
{
    fputs(before, out);
    hearthi_html_string(out, key);
    fputs(":", out);
}

static void
text_put(FILE *out, const char *before, const char *key, const char *text)
{
    key_put(out, before, key);
    hearthi_html_string(out, text);
}

static void
number_put(FILE *out, const char *before, const char *key, uint64_t n)
{
    key_put(out, before, key);
    fprintf(out, "%" PRIu64, n);
}

static void
shares_put(FILE *out, const hearth_stats *s, uint64_t ns, int nodes)
{
    struct hearthi_shares shares = hearthi_shares_of(s, ns, nodes);
    unsigned              permille[HEARTHI_SHARES];

    hearthi_shares_permille(&shares, permille);
    key_put(out, ",", "percent");
    for (int i = 0; i < HEARTHI_SHARES; i++) {
        key_put(out, i == 0 ? "{" : ",",
                hearthi_share_key((enum hearthi_share)i));
        fprintf(out, "%u.%u", permille[i] / 10, permille[i] % 10);
    }
    key_put(out, "},", "part_ns");
    for (int i = 0; i < HEARTHI_SHARES; i++)
        number_put(out, i == 0 ? "{" : ",",
                   hearthi_share_key((enum hearthi_share)i), shares.ns[i]);
    fputs("}", out);
}

/* Of a rank; bounded_by is "" where it had what it wanted. */
static void
memory_put(FILE *out, const struct hearthi_profile_part *p)
{
    const struct hearthi_rank_memory *m = &p->memory;
    const char *bound = hearthi_rank_memory_bound(m, &p->stats);

    key_put(out, ",", "memory");
    number_put(out, "{", "process", m->process);
    number_put(out, ",", "once", m->proportional);
    number_put(out, ",", "home", m->home);
    number_put(out, ",", "objects", m->objects);
    number_put(out, ",", "copies", m->copies);
    number_put(out, ",", "copies_bound", m->copies_bound);
    number_put(out, ",", "twins", m->twins);
    number_put(out, ",", "page_tables", m->tables);
    text_put(out, ",", "bounded_by", bound == NULL ? "" : bound);
    fputs("}", out);
}

static void
ranks_put(FILE *out, const struct hearthi_merged *m)
{
    key_put(out, ",\n", "rank");
    for (int r = 0; r < m->ranks; r++) {
        const struct hearthi_profile_part *p = m->part[r];

        number_put(out, r == 0 ? "[{" : ",\n{", "rank", (uint64_t)r);
        number_put(out, ",", "node", (uint64_t)p->node);
        text_put(out, ",", "host", p->host);
        number_put(out, ",", "ns", p->ns);
        shares_put(out, &p->stats, p->ns, m->nodes);
        memory_put(out, p);
        key_put(out, ",", "counters");
        for (int i = 0; i < HEARTHI_STAT_COUNT; i++)
            number_put(out, i == 0 ? "{" : ",",
                       hearthi_stat_name((enum hearthi_stat)i),
                       hearthi_stat_value(&p->stats, (enum hearthi_stat)i));
        fputs("}}", out);
    }
    fputs("]", out);
}

static void
advice_put(FILE *out, const struct hearthi_html *h)
{
    key_put(out, ",\n", "advice");
    fputs("[", out);
    for (size_t i = 0; i < h->advices; i++) {
        const struct hearthi_advice *a = &h->advice[i];

        text_put(out, i == 0 ? "{" : ",\n{", "rule", a->rule);
        text_put(out, ",", "what", a->what);
        text_put(out, ",", "remedy", a->remedy);
        number_put(out, ",", "saves_ns", a->saves_ns);
        fprintf(out, ",\"sure\":%s}", a->sure ? "true" : "false");
    }
    fputs("]", out);
}

static void
cost_put(FILE *out, const struct hearthi_cost *c)
{
    number_put(out, ",", "reads", c->reads);
    number_put(out, ",", "writes", c->writes);
    number_put(out, ",", "ahead", c->ahead);
    number_put(out, ",", "diffs", c->diffs);
    number_put(out, ",", "diff_bytes", c->diff_bytes);
    number_put(out, ",", "ns", c->ns);
    fputs("}", out);
}

static void
lines_put(FILE *out, const struct hearthi_merged *m)
{
    key_put(out, ",\n", "line");
    fputs("[", out);
    for (size_t i = 0; i < m->lines; i++) {
        text_put(out, i == 0 ? "{" : ",\n{", "at",
                 hearthi_site_words(m, m->line[i].site).text);
        number_put(out, ",", "prefetch_calls", m->line[i].calls);
        cost_put(out, &m->line[i].cost);
    }
    fputs("]", out);
}

static void
memories_put(FILE *out, const struct hearthi_merged *m)
{
    key_put(out, ",\n", "memory");
    fputs("[", out);
    for (size_t i = 0; i < m->memories; i++) {
        text_put(out, i == 0 ? "{" : ",\n{", "name", m->memory[i].name);
        text_put(out, ",", "at",
                 hearthi_site_words(m, m->memory[i].site).text);
        number_put(out, ",", "bytes", m->memory[i].bytes);
        cost_put(out, &m->memory[i].cost);
    }
    fputs("]", out);
}

static void
locks_put(FILE *out, const struct hearthi_merged *m)
{
    key_put(out, ",\n", "lock");
    fputs("[", out);
    for (size_t i = 0; i < m->locks; i++) {
        text_put(out, i == 0 ? "{" : ",\n{", "lock", m->lock[i].text);
        text_put(out, ",", "at", hearthi_site_words(m, m->lock[i].site).text);
        number_put(out, ",", "n", m->lock[i].n);
        number_put(out, ",", "wait_ns", m->lock[i].wait_ns);
        number_put(out, ",", "held_ns", m->lock[i].held_ns);
        number_put(out, ",", "ranks", (uint64_t)m->lock[i].ranks);
        fputs("}", out);
    }
    fputs("]", out);
}

static void
barriers_put(FILE *out, const struct hearthi_merged *m)
{
    key_put(out, ",\n", "barrier");
    fputs("[", out);
    for (size_t i = 0; i < m->barriers; i++) {
        text_put(out, i == 0 ? "{" : ",\n{", "at",
                 hearthi_site_words(m, m->barrier[i].site).text);
        number_put(out, ",", "n", m->barrier[i].n);
        number_put(out, ",", "wait_ns", m->barrier[i].wait_ns);
        key_put(out, ",", "last");
        for (int r = 0; r < m->ranks; r++)
            fprintf(out, "%s%" PRIu64, r == 0 ? "[" : ",",
                    m->barrier[i].last[r]);
        fputs("]}", out);
    }
    fputs("]", out);
}

void
hearthi_html_json(FILE *out, const struct hearthi_html *h)
{
    char        value[HEARTHI_VALUE_MAX], command[HEARTHI_HTML_COMMAND];
    const char *name;

    hearthi_html_command(command);
    fputs("<script type=\"application/json\" id=\"data\">\n", out);
    number_put(out, "{", "format", FORMAT);
    text_put(out, ",", "version", HEARTH_VERSION);
    text_put(out, ",", "command", command);
    number_put(out, ",", "ranks", (uint64_t)h->m->ranks);
    number_put(out, ",", "nodes", (uint64_t)h->m->nodes);
    text_put(out, ",", "transport", h->transport);
    number_put(out, ",", "elapsed_ns", h->m->elapsed_ns);
    number_put(out, ",", "dropped", h->m->dropped);
    number_put(out, ",", "left_out", h->m->left_out);
    key_put(out, ",\n", "options");
    for (size_t i = 0;
         (name = hearthi_option_at(i, value, sizeof value)) != NULL; i++)
        text_put(out, i == 0 ? "{" : ",", name, value);
    fputs("}", out);
    advice_put(out, h);
    ranks_put(out, h->m);
    lines_put(out, h->m);
    memories_put(out, h->m);
    locks_put(out, h->m);
    barriers_put(out, h->m);
    fputs("}\n</script>\n", out);
}
