/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "html.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/option.h"
#include "base/stat.h"
#include "front/session.h"
#include "world.h"

/* ---- text ---- */

void
hearthi_html_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out);
        }
}

/* A script ends at "</" and at "<!--" begins a comment.  Bytes beyond ASCII
 * may be in no known encoding. */
void
hearthi_html_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c >= 128)
            fputc('?', out);
        else if (c < ' ' || c == '"' || c == '\\' || c == '<' || c == '&')
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

void
hearthi_html_seconds(FILE *out, uint64_t ns)
{
    uint64_t us = ns / 1000;

    fprintf(out, "%" PRIu64 ".%03" PRIu64, us / 1000000, us / 1000 % 1000);
}

static void
row_put(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<dt>%s</dt><dd>", name);
    hearthi_html_text(out, text);
    fputs("</dd>\n", out);
}

/* ---- what ran ---- */

void
hearthi_html_command(char text[HEARTHI_HTML_COMMAND])
{
    int fd =
        hearthi_descriptor(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
    ssize_t n = fd < 0 ? 0 : read(fd, text, HEARTHI_HTML_COMMAND - 1);

    if (fd >= 0)
        close(fd);
    n = n < 0 ? 0 : n;
    for (ssize_t i = 0; i + 1 < n; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[n] = '\0';
}

static void
command_put(FILE *out)
{
    char text[HEARTHI_HTML_COMMAND];

    hearthi_html_command(text);
    row_put(out, "command", text);
}

static void
mpi_put(FILE *out)
{
    char line[HEARTHI_MPI_TEXT];

    hearthi_mpi_library_line(line);
    row_put(out, "MPI", line);
}

static void
options_put(FILE *out)
{
    char        value[HEARTHI_VALUE_MAX];
    const char *name;

    fputs("<details><summary>Options</summary><dl>\n", out);
    for (size_t i = 0;
         (name = hearthi_option_at(i, value, sizeof value)) != NULL; i++)
        row_put(out, name, value);
    fputs("</dl></details>\n", out);
}

static void
head_put(FILE *out, const struct hearthi_html *h)
{
    const struct hearthi_merged *m = h->m;

    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width,"
            "initial-scale=1\"><title>Hearth: where the time went</title>"
            "<style>\n%s</style></head><body>\n<h1>Where the time went</h1>\n"
            "<dl>\n",
            hearthi_html_style);
    command_put(out);
    row_put(out, "Hearth", HEARTH_VERSION);
    mpi_put(out);
    fprintf(out,
            "<dt>ranks</dt><dd>%d on %d node%s, transport %s</dd>\n"
            "<dt>elapsed</dt><dd>",
            m->ranks, m->nodes, m->nodes == 1 ? "" : "s", h->transport);
    hearthi_html_seconds(out, m->elapsed_ns);
    fputs(" s</dd>\n<dt>this report</dt><dd>", out);
    hearthi_html_seconds(out, hearthi_now() - h->begun);
    fprintf(out, " s at the end; %" PRIu64 " entries found no room",
            m->dropped);
    if (m->left_out > 0)
        fprintf(out, "; %" PRIu64 " that cost least are left out",
                m->left_out);
    if (m->every > 1)
        fprintf(out, "; of barriers one in %" PRIu64 " was looked at",
                m->every);
    fputs("</dd>\n", out);
    if (m->no_lines != NULL)
        row_put(out, "files and lines", m->no_lines);
    fputs("</dl>\n", out);
    options_put(out);
}

/* ---- where the time went ---- */

static void
share_cells(FILE *out, const hearth_stats *s, uint64_t ns, int nodes)
{
    struct hearthi_shares shares = hearthi_shares_of(s, ns, nodes);
    unsigned              permille[HEARTHI_SHARES];

    hearthi_shares_permille(&shares, permille);
    for (int i = 0; i < HEARTHI_SHARES; i++)
        fprintf(out, "<td%s data-n=\"%u\">%u.%u</td>",
                i > 0 ? " class=\"wide\"" : "", permille[i], permille[i] / 10,
                permille[i] % 10);
    fputs("</tr>\n", out);
}

static void
all_add(const struct hearthi_merged *m, hearth_stats *sum)
{
    memset(sum, 0, sizeof *sum);
    for (int r = 0; r < m->ranks; r++)
        for (int i = 0; i < HEARTHI_STAT_COUNT; i++)
            ((uint64_t *)(void *)sum)[i] +=
                hearthi_stat_value(&m->part[r]->stats, (enum hearthi_stat)i);
}

static void
shares_put(FILE *out, const struct hearthi_merged *m)
{
    struct hearthi_shares shares;
    unsigned              permille[HEARTHI_SHARES];
    hearth_stats          sum;

    all_add(m, &sum);
    shares = hearthi_shares_of(&sum, m->whole_ns, m->nodes);
    hearthi_shares_permille(&shares, permille);
    fputs("<section id=\"time\"><h2>Time of all ranks</h2><table>"
          "<tbody>\n",
          out);
    for (int i = 0; i < HEARTHI_SHARES; i++)
        fprintf(out,
                "<tr><td>%s<span class=\"bar\" style=\"width:%u.%u%%\"></span>"
                "</td><td>%u.%u&nbsp;%%</td></tr>\n",
                hearthi_share_name((enum hearthi_share)i), permille[i] / 10,
                permille[i] % 10, permille[i] / 10, permille[i] % 10);
    fputs("</tbody></table>\n<details><summary>Rank by rank</summary>"
          "<table class=\"sorts\"><thead><tr><th><button>rank</button></th>",
          out);
    for (int i = 0; i < HEARTHI_SHARES; i++)
        fprintf(out, "<th%s><button>%s, %%</button></th>",
                i > 0 ? " class=\"wide\"" : "",
                hearthi_share_name((enum hearthi_share)i));
    fputs("</tr></thead><tbody>\n", out);
    for (int r = 0; r < m->ranks; r++) {
        fprintf(out, "<tr><td data-n=\"%d\">%d, node %d, ", -r, r,
                m->part[r]->node);
        hearthi_html_text(out, m->part[r]->host);
        fputs("</td>", out);
        share_cells(out, &m->part[r]->stats, m->part[r]->ns, m->nodes);
    }
    fputs("</tbody></table></details></section>\n", out);
}

/* ---- advice ---- */

static void
advice_put(FILE *out, const struct hearthi_html *h)
{
    fputs("<section><h2>Advice</h2>\n", out);
    if (h->advices == 0)
        fputs("<p>nothing stands out</p>\n", out);
    fputs("<ol id=\"advice\">\n", out);
    for (size_t i = 0; i < h->advices; i++) {
        const struct hearthi_advice *a = &h->advice[i];
        double                       whole = (double)h->m->whole_ns;

        fprintf(out, "<li id=\"advice-%zu\" data-rule=\"%s\">", i + 1,
                a->rule);
        hearthi_html_text(out, a->what);
        fputs(".<br><span class=\"remedy\">", out);
        hearthi_html_text(out, a->remedy);
        fputs(".</span><br><span class=\"gain\">up to ", out);
        hearthi_html_seconds(out, a->saves_ns);
        fprintf(out, " s of all ranks together, %u&nbsp;%%; %s</span></li>\n",
                whole > 0 ? (unsigned)((double)a->saves_ns * 100 / whole + .5)
                          : 0,
                a->sure ? "sure" : "likely");
    }
    fputs("</ol></section>\n", out);
}

bool
hearthi_html_write(FILE *out, const struct hearthi_html *h)
{
    head_put(out, h);
    shares_put(out, h->m);
    advice_put(out, h);
    hearthi_html_tables(out, h->m);
    hearthi_html_maps(out, h->m);
    hearthi_html_memory(out, h->m);
    hearthi_html_json(out, h);
    fprintf(out, "<script>\n%s</script>\n</body></html>\n",
            hearthi_html_script);
    return !ferror(out);
}
