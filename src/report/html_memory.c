/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What memory each rank took, as a table.
 */
#include "config.h"

#include <inttypes.h>

#include "html.h"

/* In MiB, to a tenth. */
static void
mebibytes_put(FILE *out, uint64_t bytes, bool wide)
{
    uint64_t tenths = (bytes * 10 + (1 << 19)) >> 20;

    fprintf(out, "<td%s data-n=\"%" PRIu64 "\">%" PRIu64 ".%" PRIu64 "</td>",
            wide ? " class=\"wide\"" : "", bytes, tenths / 10, tenths % 10);
}

static void
rank_put(FILE *out, const struct hearthi_profile_part *p, int rank)
{
    const struct hearthi_rank_memory *m = &p->memory;
    const char *bound = hearthi_rank_memory_bound(m, &p->stats);

    fprintf(out, "<tr id=\"memory-of-%d\"><td data-n=\"%d\">%d</td>", rank,
            -rank, rank);
    mebibytes_put(out, m->process, false);
    mebibytes_put(out, m->proportional, false);
    mebibytes_put(out, m->home, false);
    mebibytes_put(out, m->copies, false);
    mebibytes_put(out, m->twins, true);
    mebibytes_put(out, m->objects, true);
    mebibytes_put(out, m->tables, true);
    fprintf(out, "<td class=\"wide\">%s</td></tr>\n",
            bound == NULL ? "" : bound);
}

void
hearthi_html_memory(FILE *out, const struct hearthi_merged *m)
{
    static const char *const column[] = {
        "rank",  "process, MiB", "once, MiB",   "home, MiB", "copies, MiB",
        "twins", "objects",      "page tables", "bounded by"
    };

    fputs(
        "<section id=\"ranks\"><h2>Memory of the ranks</h2>"
        "<p class=\"dim\">The most in the whole run, but for page tables and "
        "what counts once, which are those at the end.  Home is what other "
        "ranks fetch from, "
        "copies are of pages of other homes, twins what copies are compared "
        "with, objects those of hearth_malloc().  The process has all that "
        "it touched, shared memory too, and MPI's, as top and ps show it: a "
        "page that two views show counts twice there.  Once is the kernel's "
        "PSS: each page counts once, divided among the ranks that share it."
        "</p>\n"
        "<table class=\"sorts\"><thead><tr>",
        out);
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        fprintf(out, "<th%s><button>%s</button></th>",
                i > 4 ? " class=\"wide\"" : "", column[i]);
    fputs("</tr></thead><tbody>\n", out);
    for (int r = 0; r < m->ranks; r++)
        rank_put(out, m->part[r], r);
    fputs("</tbody></table></section>\n", out);
}
