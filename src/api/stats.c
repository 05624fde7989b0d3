/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Counters: read by the program, and the section of it that is reported at the
 * end.  Counting never stops; the end of the section keeps a copy.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api.h"
#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "hearth/hearth.h"
#include "transport/transport.h"
#include "world.h"

static struct {
    bool                 over;
    uint64_t             begin, ns;
    struct hearthi_tally tally; /* when it is over */
} section;

/* The kernel's clock: this one is not read often. */
void
hearthi_section_begin(void)
{
    hearthi_tally_reset();
    section.over = false;
    section.begin = hearthi_clock_kernel();
}

static void
section_end(void)
{
    if (section.over)
        return;
    section.ns = hearthi_clock_kernel() - section.begin;
    hearthi_tally_copy(&section.tally);
    section.over = true;
}

void
hearth_stats_start(void)
{
    hearthi_require_up("hearth_stats_start");
    hearthi_section_begin();
}

void
hearth_stats_stop(void)
{
    hearthi_require_up("hearth_stats_stop");
    section_end();
}

void
hearth_get_stats(hearth_stats *stats)
{
    hearthi_require_up("hearth_get_stats");
    hearthi_stats_copy(stats);
}

/* ---- the table ---- */

static void
messages_print(const struct hearthi_tally *sum)
{
    const char *name;

    for (unsigned i = 0; (name = hearthi_transport->kind_name(i)) != NULL; i++)
        if (sum->sent[i] > 0)
            fprintf(stderr,
                    "hearth: %-14s %14" PRIu64 "    messages, %" PRIu64
                    " bytes\n",
                    name, sum->sent[i], sum->sent_bytes[i]);
    for (unsigned i = 0; (name = hearthi_transport->reason_name(i)) != NULL;
         i++)
        if (sum->refused[i] > 0)
            fprintf(stderr,
                    "hearth: %-14s %14" PRIu64 "    datagrams refused\n",
                    name, sum->refused[i]);
}

void
hearthi_stats_report(void)
{
    struct hearthi_tally sum;

    if (!hearthi_opt.stats)
        return;
    section_end();
    HEARTHI_MPI(MPI_Reduce(&section.tally, &sum, HEARTHI_TALLY, MPI_UINT64_T,
                           MPI_SUM, 0, hearthi_world.comm));
    if (hearthi_world.rank != 0)
        return;
    hearthi_stats_print(stderr, &sum.counter, hearthi_world.size);
    messages_print(&sum);
}
