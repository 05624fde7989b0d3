/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "race_report.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "page/page.h"
#include "page/page_map.h"
#include "space/heap.h"
#include "transport/transport.h"
#include "world.h"

/* What each rank says first.  `late`: it has synchronised inside of the
 * barrier, by another thread. */
struct told {
    uint64_t pages, dropped, late, lost, lacked;
};

enum { MOST = 1 << 30 }; /* bytes of all together */

static struct {
    MPI_Comm                   comm;
    bool                       late; /* so it was at the last barrier */
    struct hearthi_race_counts counts;
} c;

void
hearthi_race_report_open(void)
{
    memset(&c, 0, sizeof c);
    c.comm = hearthi_collective_dup(hearthi_world.comm);
}

void
hearthi_race_report_close(void)
{
    HEARTHI_SPINS(MPI_Comm_free(&c.comm));
    hearthi_race_text_close();
}

/* ---- which pages ---- */

/* Of the pages of all ranks, those that several have, once each. */
static size_t
shared_keep(uint32_t *page, size_t n)
{
    size_t kept = 0;

    qsort(page, n, sizeof *page, hearthi_race_page_compare);
    for (size_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && page[i + run] == page[i];)
            run++;
        c.counts.pages++;
        if (run > 1)
            page[kept++] = page[i];
    }
    return kept;
}

/* An array of one element for each rank. */
static void *
for_ranks(size_t each)
{
    return hearthi_race_room((size_t)hearthi_world.size * each);
}

/* MPI counts by int. */
static int
places_make(int *n, int *at, int ranks)
{
    int sum = 0;

    for (int r = 0; r < ranks; r++) {
        at[r] = sum;
        sum += n[r];
    }
    return sum;
}

static size_t
shared_find(const struct told *told, const uint32_t *own, uint32_t **shared)
{
    int         ranks = hearthi_world.size, sum;
    int        *n = for_ranks(sizeof *n), *at = for_ranks(sizeof *at);
    MPI_Request request;

    for (int r = 0; r < ranks; r++)
        n[r] = (int)told[r].pages;
    sum = places_make(n, at, ranks);
    *shared = hearthi_race_room((size_t)sum * sizeof **shared);
    HEARTHI_MPI(MPI_Iallgatherv(own, n[hearthi_world.rank], MPI_UINT32_T,
                                *shared, n, at, MPI_UINT32_T, c.comm,
                                &request));
    hearthi_requests_wait(&request, 1);
    free(n);
    free(at);
    return shared_keep(*shared, (size_t)sum);
}

/* ---- rank 0 ---- */

static unsigned
unit_of(uint64_t page)
{
    const struct hearthi_allocation *in;
    unsigned                         unit;

    hearthi_table_lock();
    in = hearthi_page_place_of(page)->in;
    unit = in == NULL ? 1 : in->unit;
    hearthi_table_unlock();
    return unit;
}

static void
pair_found(const struct hearthi_race_pair *p, void *given)
{
    hearthi_race_tell(p, given);
}

static void
all_compare(const char *all, const int *at)
{
    int                        ranks = hearthi_world.size;
    struct hearthi_race_given *given = for_ranks(sizeof *given);
    struct hearthi_race_part  *part = for_ranks(sizeof *part);

    for (int r = 0; r < ranks; r++) {
        given[r] = hearthi_race_unpack(all + at[r]);
        part[r] = given[r].part;
    }
    if (!hearthi_races_compare(&(struct hearthi_race_comparison){
            .ranks = ranks,
            .part = part,
            .shift = hearthi_heap.shift,
            .unit_of = unit_of,
            .found = pair_found,
            .arg = given,
        }))
        c.counts.skipped++;
    free(given);
    free(part);
}

/* Of all: the same on all ranks. */
static bool
is_too_much(const uint64_t *bytes)
{
    uint64_t sum = 0;

    for (int r = 0; r < hearthi_world.size; r++)
        sum += bytes[r];
    return sum > MOST;
}

/* All that ranks hand in, on rank 0: NULL on the others. */
static char *
all_gather(const char *own, const uint64_t *bytes, int *at)
{
    int         ranks = hearthi_world.size;
    int        *sizes = for_ranks(sizeof *sizes);
    char       *all = NULL;
    MPI_Request request;

    for (int r = 0; r < ranks; r++)
        sizes[r] = (int)bytes[r];
    if (hearthi_world.rank == 0)
        all = hearthi_race_room((size_t)places_make(sizes, at, ranks));
    HEARTHI_MPI(MPI_Igatherv(own, sizes[hearthi_world.rank], MPI_BYTE, all,
                             sizes, at, MPI_BYTE, 0, c.comm, &request));
    hearthi_requests_wait(&request, 1);
    free(sizes);
    return all;
}

static void
own_hand_in(const struct hearthi_race_history *h, const uint32_t *page,
            size_t n)
{
    uint64_t *bytes = for_ranks(sizeof *bytes), mine;
    int      *at = for_ranks(sizeof *at);
    char     *own = hearthi_race_pack(h, page, n, &mine), *all = NULL;

    hearthi_collective_gather(&mine, sizeof mine, bytes, c.comm);
    if (is_too_much(bytes))
        c.counts.skipped++;
    else
        all = all_gather(own, bytes, at);
    if (all != NULL)
        all_compare(all, at);
    free(own);
    free(all);
    free(bytes);
    free(at);
}

/* ---- a barrier ---- */

/* True if nothing was lost by which a chain of releases and acquires could be
 * longer than is known: the same on all ranks. */
static bool
is_whole(const struct told *told)
{
    bool late = false, lost = false, before = c.late;

    for (int r = 0; r < hearthi_world.size; r++) {
        late |= told[r].late != 0;
        lost |= told[r].lost != 0;
        c.counts.dropped += told[r].dropped;
        c.counts.lacked += told[r].lacked;
    }
    c.late = late;
    return !late && !lost && !before;
}

/* What other threads add from here on stands behind the cut. */
static struct hearthi_race_history
history_take(struct told *told)
{
    struct hearthi_race_history h;

    hearthi_table_lock();
    h = *hearthi_races;
    hearthi_races->dropped = 0;
    hearthi_races->lost = false;
    hearthi_table_unlock();
    told->dropped = h.dropped;
    told->lacked = hearthi_race_places_lacked();
    told->lost = h.lost;
    told->late = h.events != h.cut_events + 1;
    return h;
}

static void
histories_look(const struct hearthi_race_history *h, struct told own)
{
    struct told *told = for_ranks(sizeof *told);
    uint32_t    *mine, *shared;
    size_t       n;

    own.pages = hearthi_race_pages(h, &mine);
    hearthi_collective_gather(&own, sizeof own, told, c.comm);
    c.counts.looks++;
    n = shared_find(told, mine, &shared);
    c.counts.shared += n;
    if (!is_whole(told))
        c.counts.skipped++;
    else if (n > 0)
        own_hand_in(h, shared, n);
    free(told);
    free(mine);
    free(shared);
}

void
hearthi_races_look(void)
{
    struct told                 own = { 0 };
    struct hearthi_race_history h;

    if (hearthi_world.nodes == 1)
        return; /* one rank */
    h = history_take(&own);
    histories_look(&h, own);
    hearthi_table_lock();
    hearthi_races_forget();
    hearthi_table_unlock();
}

uint64_t
hearthi_race_report_end(void)
{
    struct hearthi_race_counts *n = &c.counts;

    if (hearthi_world.rank == 0) {
        hearthi_race_count(&n->races, &n->pairs);
        hearthi_race_last_line(n);
    }
    hearthi_collective_bcast(&n->races, sizeof n->races, 0, c.comm);
    return n->races;
}
