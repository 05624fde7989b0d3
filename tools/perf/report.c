/* SPDX-License-Identifier: BSD-2-Clause */
/* One line a figure on stdout for programs, one on stderr for people. */
#include "perf.h"
#include "udp.h"

#include <arpa/inet.h>
#include <math.h>
#include <string.h>

static bool
bound_met(const struct perf_figure *f, double ratio)
{
    return f->sense == PERF_AT_MOST ? ratio <= f->bound : ratio >= f->bound;
}

/* What was chosen for the transport; an option's text is valid until the next
 * is asked for. */
static void
transport_describe(const struct perf *p)
{
    fprintf(stderr, "transport %s", hearth_option("transport"));
    if (p->transport == PERF_OVER_MPI) {
        fprintf(stderr, ", progress %s", hearth_option("progress"));
        return;
    }
    fprintf(stderr, ", ack %s", hearth_option("udp_ack"));
    fprintf(stderr, ", auth %s", hearth_option("udp_auth"));
    if (p->udp)
        fprintf(stderr, ", datagrams of %zu bytes to %s", p->udp->datagram,
                inet_ntoa(p->udp->server.sin_addr));
}

void
perf_report_begin(const struct perf *p, int rounds)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int  length;

    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    fprintf(stderr, "hearth %s, %s, %d ranks on %d nodes, ", HEARTH_VERSION,
            version, p->size, hearth_nodes());
    transport_describe(p);
    if (p->link > 0)
        fprintf(stderr, ", link of %g MB/s", p->link);
    if (p->pin)
        fprintf(stderr, ", pinned");
    fprintf(stderr, ", medians of %d rounds%s\n\n", rounds,
            p->quick ? " (quick: small sizes)" : "");
    fprintf(stderr, "%-23s %10s %10s %-5s %7s %-8s %s\n", "figure", "hearth",
            "raw", "unit", "ratio", "bound", "met");
}

static void
table_line(const struct perf_figure *f, const double *sample, double ratio)
{
    char bound[16] = "-";

    if (f->bound > 0)
        snprintf(bound, sizeof bound, "%s %g",
                 f->sense == PERF_AT_MOST ? "<=" : ">=", f->bound);
    fprintf(stderr, "%-23s %10.2f %10.2f %-5s %7.3f %-8s %s\n", f->name,
            sample[0], sample[1], f->unit, ratio, bound,
            f->bound == 0         ? "-"
            : bound_met(f, ratio) ? "yes"
                                  : "NO");
}

/* The extras of a figure that explains them. */
static void
table_words(const struct perf_figure *f, const double *sample)
{
    if (f->words[0])
        fprintf(stderr, "  %s,\n  against %s:\n", f->what, f->against);
    for (int i = 0; i < PERF_EXTRAS && f->words[i]; i++) {
        if (isnan(sample[2 + i]))
            fprintf(stderr, "    %-19s %10s", f->extra[i], "-");
        else
            fprintf(stderr, "    %-19s %10.2f", f->extra[i], sample[2 + i]);
        fprintf(stderr, " %s\n", f->words[i]);
    }
}

static void
extras_print(const struct perf_figure *f, const double *sample)
{
    for (int i = 0; i < PERF_EXTRAS && f->extra[i]; i++) {
        if (isnan(sample[2 + i]))
            printf(" %s=none", f->extra[i]);
        else
            printf(" %s=%.4g", f->extra[i], sample[2 + i]);
    }
}

void
perf_report(const struct perf_figure *f, const double *sample, double first,
            int rounds)
{
    double ratio = sample[0] / sample[1];

    printf("name=%s value=%.4g unit=%s raw=%.4g ratio=%.4g ", f->name,
           sample[0], f->unit, sample[1], ratio);
    if (f->bound > 0)
        printf("bound=%g met=%s", f->bound,
               bound_met(f, ratio) ? "yes" : "no");
    else
        printf("bound=none met=none");
    extras_print(f, sample);
    printf(" first=%.4g rounds=%d transport=%s\n", first, rounds,
           hearth_option("transport"));
    fflush(stdout);
    table_line(f, sample, ratio);
    table_words(f, sample);
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

static const char *
over_name(enum perf_over over)
{
    switch (over) {
    case PERF_OVER_MPI: return " (mpi)";
    case PERF_OVER_UDP: return " (udp)";
    case PERF_OVER_LINK: return " (--link)";
    case PERF_OVER_ANY: break;
    }
    return "";
}

void
perf_report_list(FILE *out, const struct perf_figure *const *tables, int count)
{
    for (int t = 0; t < count; t++)
        for (const struct perf_figure *f = tables[t]; f->name; f++)
            fprintf(out, "%-23s %s, against %s%s\n", f->name, f->what,
                    f->against, over_name(f->over));
}
