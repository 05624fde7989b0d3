/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Counters: read by the program, and the section of it that is reported at the
 * end.  Counting never stops; the end of the section keeps a copy.
 */
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "profile/profile.h"
#include "report/job_report.h"
#include "stats.h"
#include "transport/clusters/hidden_rank.h"
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
    hearthi_hidden_rank_counts();
    hearthi_tally_reset();
    hearthi_profile_reset();
    section.over = false;
    section.begin = hearthi_clock_kernel();
}

static void
section_end(void)
{
    if (section.over)
        return;
    section.ns = hearthi_clock_kernel() - section.begin;
    hearthi_hidden_rank_counts();
    hearthi_tally_copy(&section.tally);
    hearthi_profile_stop();
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

/* A program's struct is as large as its header had it, and a later header only
 * adds members at the end: so what both have is copied, and never more than
 * the program has room for. */
void
hearth_get_stats_sized(hearth_stats *stats, size_t bytes)
{
    hearth_stats now;
    size_t       both = bytes < sizeof now ? bytes : sizeof now;

    hearthi_require_up("hearth_get_stats");
    hearthi_hidden_rank_counts();
    hearthi_stats_copy(&now);
    memcpy(stats, &now, both);
    memset((char *)stats + both, 0, bytes - both);
}

#undef hearth_get_stats

/* Who calls it by its symbol says no size.  The last member of version 0.2
 * stays this one, however many are added. */
void
hearth_get_stats(hearth_stats *stats)
{
    hearth_get_stats_sized(stats, offsetof(hearth_stats, service_wait_ns) +
                                      sizeof stats->service_wait_ns);
}

const char *
hearth_counter_name(int i)
{
    return i >= 0 && i < HEARTHI_STAT_COUNT
               ? hearthi_stat_name((enum hearthi_stat)i)
               : NULL;
}

uint64_t
hearth_counter(const char *name)
{
    hearth_stats stats;

    hearth_get_stats_sized(&stats, sizeof stats);
    for (int i = 0; i < HEARTHI_STAT_COUNT; i++)
        if (strcmp(name, hearthi_stat_name((enum hearthi_stat)i)) == 0)
            return hearthi_stat_value(&stats, (enum hearthi_stat)i);
    hearthi_fatal("hearth_counter",
                  "there is no counter %s: hearth-env(7) and hearth-info name "
                  "them",
                  name);
}

/* ---- what people read ---- */

static void
sums_report(void)
{
    struct hearthi_tally sum;
    uint64_t             longest, whole;

    hearthi_all_reduce(&section.tally, &sum, HEARTHI_TALLY, MPI_UINT64_T,
                       MPI_SUM, hearthi_collective_wait);
    hearthi_all_reduce(&section.ns, &whole, 1, MPI_UINT64_T, MPI_SUM,
                       hearthi_collective_wait);
    hearthi_all_reduce(&section.ns, &longest, 1, MPI_INT64_T, MPI_MAX,
                       hearthi_collective_wait);
    if (hearthi_world.rank == 0)
        hearthi_job_report_sums(&sum, longest, whole);
}

/* ---- the file ---- */

static struct hearthi_atomic_file file; /* rank 0's */

void
hearthi_stats_prepare(void)
{
    const char *why;

    hearthi_job_report_prepare();
    if (hearthi_opt.stats.how != HEARTHI_STATS_JSON)
        return;
    if (!hearthi_stats_can_write())
        hearthi_fatal("hearth_init",
                      "HEARTH_STATS=json:FILE needs a library that was built "
                      "with libjansson: install it and configure again, or "
                      "set HEARTH_STATS=yes");
    why = hearthi_atomic_file_open(&file, hearthi_opt.stats.file);
    if (why != NULL)
        hearthi_fatal("hearth_init",
                      "HEARTH_STATS=json:%s cannot be written: %s: name a "
                      "file in a folder that can be written to",
                      hearthi_opt.stats.file, why);
}

static void
file_write(const struct hearthi_stats_part *part)
{
    struct hearthi_tally sum = { 0 };
    FILE                *out;
    const char          *why;

    for (int r = 0; r < hearthi_world.size; r++)
        hearthi_tally_add(&sum, &part[r].tally);
    why = hearthi_atomic_file_begin(&file, &out);
    if (why == NULL) {
        if (!hearthi_stats_write(out, part, &sum))
            why = ferror(out) ? hearthi_file_write_error(errno) : "no memory";
        why = hearthi_atomic_file_end(&file, out, why);
    }
    hearthi_atomic_file_close(&file);
    if (why != NULL)
        hearthi_fatal("hearth_finalize",
                      "HEARTH_STATS=json:%s was not written: %s",
                      hearthi_opt.stats.file, why);
}

static void
file_report(void)
{
    struct hearthi_stats_part  mine = { .tally = section.tally,
                                        .ns = section.ns };
    struct hearthi_stats_part *all = NULL;

    gethostname(mine.host, sizeof mine.host - 1);
    if (hearthi_world.rank == 0 || hearthi_world.gather != NULL) {
        all = calloc((size_t)hearthi_world.size, sizeof *all);
        if (all == NULL)
            hearthi_fatal("hearth_finalize", "no memory for statistics");
    }
    if (hearthi_world.gather != NULL)
        hearthi_world.gather(&mine, sizeof mine, all);
    else
        HEARTHI_MPI(MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine,
                               MPI_BYTE, 0, hearthi_world.comm));
    if (hearthi_world.rank == 0)
        file_write(all);
    free(all);
}

/* Over several clusters each has options of its own, and rank 0 speaks for
 * all. */
static int
how_to_report(void)
{
    int mine = hearthi_world.rank == 0 ? (int)hearthi_opt.stats.how : 0;

    return hearthi_world.gather != NULL ? hearthi_collective_int(mine, MPI_MAX)
                                        : (int)hearthi_opt.stats.how;
}

void
hearthi_stats_report(void)
{
    int how;

    section_end();
    how = how_to_report();
    if (hearthi_profile_kept() != NULL)
        hearthi_job_report(&section.tally, section.ns);
    else if (how == HEARTHI_STATS_YES)
        sums_report();
    if (how == HEARTHI_STATS_JSON)
        file_report();
}
