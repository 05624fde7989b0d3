/* SPDX-License-Identifier: BSD-2-Clause */
/* One line a figure on stdout for programs, one on stderr for people. */
#include "perf.h"

#include <string.h>

static bool
bound_met(const struct perf_figure *f, double ratio)
{
    return f->sense == PERF_AT_MOST ? ratio <= f->bound : ratio >= f->bound;
}

void
perf_report_begin(const struct perf *p, int rounds)
{
    char        version[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *progress = hearth_option("progress");
    int         length;

    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    fprintf(stderr,
            "hearth %s, %s, %d ranks on %d nodes, progress %s, "
            "medians of %d rounds%s\n\n",
            HEARTH_VERSION, version, p->size, hearth_nodes(),
            progress ? progress : "unknown", rounds,
            p->quick ? " (quick: small sizes)" : "");
    fprintf(stderr, "%-23s %10s %10s %-5s %7s %-8s %s\n", "figure", "hearth",
            "raw", "unit", "ratio", "bound", "met");
}

static void
table_line(const struct perf_figure *f, const double *sample, double ratio)
{
    char bound[16] = "-";

    if (f->bound > 0)
        snprintf(bound, sizeof bound, "%s %.2f",
                 f->sense == PERF_AT_MOST ? "<=" : ">=", f->bound);
    fprintf(stderr, "%-23s %10.2f %10.2f %-5s %7.3f %-8s %s\n", f->name,
            sample[0], sample[1], f->unit, ratio, bound,
            f->bound == 0         ? "-"
            : bound_met(f, ratio) ? "yes"
                                  : "NO");
}

void
perf_report(const struct perf_figure *f, const double *sample, double first,
            int rounds)
{
    double ratio = sample[0] / sample[1];

    printf("name=%s value=%.4g unit=%s raw=%.4g ratio=%.3f ", f->name,
           sample[0], f->unit, sample[1], ratio);
    if (f->bound > 0)
        printf("bound=%g met=%s", f->bound,
               bound_met(f, ratio) ? "yes" : "no");
    else
        printf("bound=none met=none");
    for (int i = 0; i < PERF_EXTRAS && f->extra[i]; i++)
        printf(" %s=%.4g", f->extra[i], sample[2 + i]);
    printf(" first=%.4g rounds=%d\n", first, rounds);
    fflush(stdout);
    table_line(f, sample, ratio);
}

void
perf_report_skip(const struct perf_figure *f, const char *reason)
{
    printf("name=%s value=none unit=%s raw=none ratio=none ", f->name,
           f->unit);
    if (f->bound > 0)
        printf("bound=%g met=skipped", f->bound);
    else
        printf("bound=none met=skipped");
    printf(" reason=\"%s\"\n", reason);
    fflush(stdout);
    fprintf(stderr, "%-23s skipped: %s\n", f->name, reason);
}

void
perf_report_list(FILE *out, const struct perf_figure *const *tables, int count)
{
    for (int t = 0; t < count; t++)
        for (const struct perf_figure *f = tables[t]; f->name; f++)
            fprintf(out, "%-23s %s, against %s\n", f->name, f->what,
                    f->against);
}
