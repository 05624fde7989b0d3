/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Each rank hands in one piece; rank 0 puts them together, finds out files and
 * lines, looks for advice, and writes.
 */
#include "config.h"

#include "job_report.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "front/direct.h"
#include "html.h"
#include "merged.h"
#include "part.h"
#include "terminal.h"
#include "transport/transport.h"
#include "world.h"

static struct hearthi_atomic_file file; /* rank 0's */

static bool
wants_file(void)
{
    return hearthi_opt.report.text[0] != '\0';
}

bool
hearthi_job_report_is_wanted(void)
{
    return (hearthi_opt.stats.how == HEARTHI_STATS_YES || wants_file()) &&
           hearthi_opt.clusters.text[0] == '\0';
}

void
hearthi_job_report_prepare(void)
{
    const char *why;

    if (!wants_file())
        return;
    if (hearthi_opt.clusters.text[0] != '\0') {
        hearthi_warn("hearth_init",
                     "HEARTH_REPORT=%s is not written over "
                     "several clusters: HEARTH_STATS=json:FILE "
                     "is",
                     hearthi_opt.report.text);
        return;
    }
    why = hearthi_atomic_file_open(&file, hearthi_opt.report.text);
    if (why != NULL)
        hearthi_fatal("hearth_init",
                      "HEARTH_REPORT=%s cannot be written: %s: name a file in "
                      "a folder that can be written to",
                      hearthi_opt.report.text, why);
}

/* ---- what all hand in ---- */

_Noreturn static void
no_memory(void)
{
    hearthi_fatal("hearth_finalize",
                  "no memory for the report: leave HEARTH_REPORT and "
                  "HEARTH_STATS=yes out");
}

/* One after the other: of many ranks all pieces together may be more than an
 * int counts. */
static struct hearthi_profile_part *
part_receive(int rank)
{
    enum { TAG = 0 };
    uint64_t                     bytes;
    struct hearthi_profile_part *p;

    HEARTHI_MPI(MPI_Recv(&bytes, 1, MPI_UINT64_T, rank, TAG,
                         hearthi_world.comm, MPI_STATUS_IGNORE));
    p = malloc(bytes);
    if (p == NULL)
        no_memory();
    HEARTHI_MPI(MPI_Recv(p, (int)bytes, MPI_BYTE, rank, TAG,
                         hearthi_world.comm, MPI_STATUS_IGNORE));
    return p;
}

static void
part_send(struct hearthi_profile_part *p)
{
    enum { TAG = 0 };
    uint64_t bytes = hearthi_profile_part_bytes(p);

    HEARTHI_MPI(MPI_Send(&bytes, 1, MPI_UINT64_T, 0, TAG, hearthi_world.comm));
    HEARTHI_MPI(MPI_Send(p, (int)bytes, MPI_BYTE, 0, TAG, hearthi_world.comm));
    free(p);
}

static struct hearthi_merged *
parts_gather(struct hearthi_profile_part *own)
{
    struct hearthi_profile_part **part;
    struct hearthi_merged        *m;

    if (hearthi_world.rank > 0) {
        part_send(own);
        return NULL;
    }
    part = calloc((size_t)hearthi_world.size, sizeof *part);
    if (part == NULL)
        no_memory();
    part[0] = own;
    for (int r = 1; r < hearthi_world.size; r++)
        part[r] = part_receive(r);
    m = hearthi_merged_make(part, hearthi_world.size, hearthi_world.nodes);
    if (m == NULL)
        no_memory();
    return m;
}

/* ---- what is told ---- */

static void
terminal_tell(struct hearthi_terminal *t)
{
    char  *text = NULL;
    size_t len = 0;
    FILE  *out = open_memstream(&text, &len);

    t->ranks = hearthi_world.size;
    t->nodes = hearthi_world.nodes;
    t->transport = hearthi_transport->name;
    t->message = hearthi_transport->kind_name;
    t->refusal = hearthi_transport->reason_name;
    if (out != NULL)
        hearthi_terminal_print(out, t);
    if (out == NULL || fclose(out) != 0)
        no_memory();
    hearthi_report_lines(text, len);
    free(text);
}

void
hearthi_job_report_sums(const struct hearthi_tally *sum, uint64_t elapsed_ns,
                        uint64_t whole_ns)
{
    terminal_tell(&(struct hearthi_terminal){
        .sum = sum,
        .elapsed_ns = elapsed_ns,
        .whole_ns = whole_ns,
    });
}

static void
file_write(const struct hearthi_html *h)
{
    FILE       *out;
    const char *why = hearthi_atomic_file_begin(&file, &out);

    if (why == NULL) {
        if (!hearthi_html_write(out, h))
            why = hearthi_file_write_error(errno);
        why = hearthi_atomic_file_end(&file, out, why);
    }
    hearthi_atomic_file_close(&file);
    if (why != NULL)
        hearthi_fatal("hearth_finalize",
                      "HEARTH_REPORT=%s was not written: %s",
                      hearthi_opt.report.text, why);
}

static void
all_tell(struct hearthi_merged *m, const struct hearthi_tally *sum,
         uint64_t begun)
{
    struct hearthi_advice advice[HEARTHI_ADVICES];
    size_t                n;

    hearthi_sites_resolve(m);
    if (!hearthi_merged_fold(m))
        no_memory();
    n = hearthi_advise(m, advice);
    if (hearthi_opt.stats.how == HEARTHI_STATS_YES)
        terminal_tell(&(struct hearthi_terminal){
            .sum = sum,
            .elapsed_ns = m->elapsed_ns,
            .whole_ns = m->whole_ns,
            .advice = advice,
            .advices = n,
            .no_lines = m->no_lines,
        });
    if (wants_file())
        file_write(&(struct hearthi_html){
            .m = m,
            .advice = advice,
            .advices = n,
            .transport = hearthi_transport->name,
            .begun = begun,
        });
}

void
hearthi_job_report(const struct hearthi_tally *tally, uint64_t ns)
{
    uint64_t                     begun = hearthi_now();
    struct hearthi_profile_part *own =
        hearthi_profile_part_make(&tally->counter, ns);
    struct hearthi_merged *m;
    struct hearthi_tally   sum;

    if (own == NULL)
        no_memory();
    HEARTHI_MPI(MPI_Reduce(tally, &sum, HEARTHI_TALLY, MPI_UINT64_T, MPI_SUM,
                           0, hearthi_world.comm));
    m = parts_gather(own);
    if (m == NULL)
        return;
    all_tell(m, &sum, begun);
    hearthi_merged_free(m);
}
