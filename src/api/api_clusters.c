/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clusters by name, and the explicit interface between them.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/cancel.h"
#include "base/min.h"
#include "base/report.h"
#include "base/timing.h"
#include "cluster.h"
#include "coherence/range_sync.h"
#include "front/direct.h"
#include "hearth/hearth.h"
#include "page/copies.h"
#include "page/home_write_guard.h"
#include "page/migration_freeze.h"
#include "page/node_cache.h"
#include "page/page.h"
#include "page/pin.h"
#include "space/heap.h"
#include "transport/clusters/clusters.h"
#include "world.h"

int
hearth_cluster(void)
{
    hearthi_require_up("hearth_cluster");
    return hearthi_world.cluster;
}

int
hearth_clusters(void)
{
    hearthi_require_up("hearth_clusters");
    return hearthi_world.clusters;
}

int
hearth_cluster_of(int rank)
{
    hearthi_require_up("hearth_cluster_of");
    if (rank < 0 || rank >= hearthi_world.size)
        hearthi_fatal("hearth_cluster_of",
                      "rank %d does not exist: ranks are 0 to %d", rank,
                      hearthi_world.size - 1);
    return hearthi_cluster_of(rank);
}

void
hearth_cluster_comm(MPI_Comm *comm)
{
    enum { TAG = 30100 };
    int       ranks[1][3] = { { 0, hearthi_cluster_ranks() - 1, 1 } };
    MPI_Group all, mine;

    hearthi_require_thread("hearth_cluster_comm");
    HEARTHI_MPI(MPI_Comm_group(hearthi_cluster.comm, &all));
    HEARTHI_MPI(MPI_Group_range_incl(all, 1, ranks, &mine));
    HEARTHI_MPI_SPINS(
        MPI_Comm_create_group(hearthi_cluster.comm, mine, TAG, comm));
    MPI_Comm_set_errhandler(*comm, MPI_ERRORS_ARE_FATAL);
    MPI_Group_free(&mine);
    MPI_Group_free(&all);
}

uint64_t
hearth_offset(const void *p)
{
    hearthi_require_up("hearth_offset");
    if (!hearthi_in_heap(p))
        hearthi_fatal("hearth_offset", "%p is not in the heap", p);
    return (uint64_t)((const char *)p - (const char *)hearthi_app(0));
}

/* ---- reading and writing ---- */

static void
range_check(const char *call, int cluster, uint64_t offset, size_t bytes)
{
    hearthi_require_thread(call);
    if (hearthi_world.gather == NULL)
        hearthi_fatal(call, "this job is one cluster alone: name several by "
                            "HEARTH_CLUSTERS, or use the memory itself");
    if (cluster < 0 || cluster >= hearthi_world.clusters)
        hearthi_fatal(call, "cluster %d does not exist: clusters are 0 to %d",
                      cluster, hearthi_world.clusters - 1);
    if (offset > hearthi_heap.bytes || bytes > hearthi_heap.bytes - offset)
        hearthi_fatal(call,
                      "%zu bytes at offset %llu are not in the heap of %zu "
                      "bytes",
                      bytes, (unsigned long long)offset, hearthi_heap.bytes);
}

/* The part of the bytes that lies on one page.  With the table's lock. */
static struct hearthi_remote_io
part_of(const char *call, int cluster, uint64_t offset, size_t bytes, char *to)
{
    uint64_t page = offset >> hearthi_heap.shift;
    size_t   in = offset & (hearthi_heap.page - 1);
    int      home = hearthi_home_of(page);

    if (home < 0)
        hearthi_fatal(call, "offset %llu is in no allocation",
                      (unsigned long long)offset);
    if (hearthi_cluster_of(home) != cluster)
        hearthi_fatal(call,
                      "offset %llu is at home on rank %d, in cluster %d and "
                      "not %d",
                      (unsigned long long)offset, home,
                      hearthi_cluster_of(home), cluster);
    return (struct hearthi_remote_io){
        home, hearthi_home_at(page) + in,
        hearthi_min(bytes, hearthi_heap.page - in), to
    };
}

enum { MOST = 256 << 10 };

/* The first of the bytes, as many as go at once; gives how many. */
static size_t
parts_of(const char *call, int cluster, uint64_t offset, size_t bytes,
         char *to, struct hearthi_remote_io *part, int *n)
{
    size_t done = 0;

    *n = 0;
    while (done < bytes && *n < HEARTHI_REMOTE_IO && done < MOST) {
        part[*n] =
            part_of(call, cluster, offset + done, bytes - done, to + done);
        done += part[(*n)++].len;
    }
    return done;
}

/* What parts_of() may give of so many bytes. */
static size_t
some_of(size_t bytes)
{
    return hearthi_min(bytes, MOST + hearthi_heap.page);
}

/* The kernel does not fault: what is to go into the heap, or comes from there,
 * lies aside meanwhile.  NULL: it does not. */
static char *
aside_of(const char *call, const void *p, size_t bytes)
{
    char *aside = NULL;

    if (bytes == 0 || !hearthi_in_heap(p))
        return NULL;
    aside = malloc(some_of(bytes));
    if (aside == NULL)
        hearthi_fatal(call, "no memory for %zu bytes", some_of(bytes));
    return aside;
}

void
hearth_read(int cluster, uint64_t offset, void *to, size_t bytes)
{
    HEARTHI_UNCANCELLED;
    struct hearthi_remote_io part[HEARTHI_REMOTE_IO];
    char                    *at = to, *aside;
    uint64_t                 start;

    range_check("hearth_read", cluster, offset, bytes);
    start = hearthi_time_begin();
    aside = aside_of("hearth_read", to, bytes);
    while (bytes > 0) {
        size_t some;
        int    n;

        hearthi_table_lock();
        some = parts_of("hearth_read", cluster, offset, bytes,
                        aside != NULL ? aside : at, part, &n);
        hearthi_table_unlock();
        hearthi_remote_io_read(part, n);
        if (aside != NULL)
            memcpy(at, aside, some);
        offset += some;
        at += some;
        bytes -= some;
    }
    free(aside);
    hearthi_time_end(explicit_ns, start);
}

/* The pages count as written by this rank, and its own copies go, as with an
 * atomic step (coherence/home_atomic.c). */
static void
written(uint64_t page)
{
    if (!hearthi_is_home(hearthi_state_of(page)))
        hearthi_copies_drop(page, 1);
    hearthi_list_changed(page);
}

/* What this rank has stored there before comes home before it, and not over
 * it. */
static void
stored_before(uint64_t offset, size_t bytes)
{
    uint64_t first = offset >> hearthi_heap.shift;
    uint64_t last = (offset + some_of(bytes) - 1) >> hearthi_heap.shift;

    hearthi_range_sync_release(first, last - first + 1);
}

/* As many of the bytes as go at once; gives how many. */
static size_t
some_write(int cluster, uint64_t offset, char *from, size_t bytes)
{
    struct hearthi_remote_io        part[HEARTHI_REMOTE_IO];
    struct hearthi_home_write_guard past;
    uint64_t                        page = offset >> hearthi_heap.shift;
    uint64_t end = (offset + some_of(bytes) - 1) >> hearthi_heap.shift;
    size_t   some;
    int      n;

    stored_before(offset, bytes);
    hearthi_table_lock();
    while (hearthi_frozen_wait(page, end - page + 1))
        ; /* and then look where they are */
    some = parts_of("hearth_write", cluster, offset, bytes, from, part, &n);
    hearthi_home_write_guard_begin(&past, offset, some);
    hearthi_table_unlock();
    hearthi_remote_io_write(part, n);
    hearthi_table_lock();
    hearthi_node_cache_acquired();
    for (int i = 0; i < n; i++)
        written(page + (uint64_t)i);
    hearthi_pins_renew();
    hearthi_home_write_guard_end(&past);
    hearthi_table_unlock();
    return some;
}

void
hearth_write(int cluster, uint64_t offset, const void *from, size_t bytes)
{
    HEARTHI_UNCANCELLED;
    char    *at = (char *)from, *aside;
    uint64_t start;

    range_check("hearth_write", cluster, offset, bytes);
    start = hearthi_time_begin();
    aside = aside_of("hearth_write", from, bytes);
    while (bytes > 0) {
        size_t some = some_of(bytes);

        if (aside != NULL)
            memcpy(aside, at, some);
        some = some_write(cluster, offset, aside != NULL ? aside : at, bytes);
        offset += some;
        at += some;
        bytes -= some;
    }
    free(aside);
    hearthi_time_end(explicit_ns, start);
}
