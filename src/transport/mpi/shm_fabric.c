/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The fabric of ranks of one machine: memory that all of them map, and the
 * processor's atomic steps.  It is what an implementation of fabric.h comes
 * down to where nothing is between the ranks: an operation is done when its
 * call returns, by no thread but the one that calls, and there is no bound on
 * how many.  Tests run over it, and it shows what the engine costs without
 * MPI's RMA.
 *
 * Each rank's segment is a file of memory (space/segment.c), and so are its
 * sync region and what it says to other leaders.  The others find them by way
 * of /proc (space/files.h).
 *
 * A get that meets a put sees some of it, as over any fabric.  The fence of a
 * wait orders what this thread has put before all that it does afterwards, for
 * whoever sees that; an atomic step is a fence itself.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "fabric.h"
#include "mpi.h"
#include "node/relax.h"
#include "progress.h"
#include "space/files.h"
#include "space/memfile.h"
#include "space/segment.h"
#include "transport/word_split.h"

/* What a leader says to the others, in front of its sync region.  A round's
 * block and bytes lie where those of the round before the last did: a leader
 * begins a round when it has what all others said in the last, and so these
 * have read what was said before that. */
enum {
    GATHER_MOST =
        HEARTHI_BARRIER_NOTICES_MAX * (int)sizeof(struct hearthi_notice)
};

struct meeting {
    _Atomic uint64_t exchanged, gathered; /* rounds */
    _Alignas(64) char block[2][HEARTHI_EXCHANGE_MOST];
    char bytes[2][GATHER_MOST];
};

static char           **home, **sync_at; /* of each rank */
static struct meeting **meeting;         /* of each rank */
static int             *leader;          /* of each node: its rank */
static size_t           sync_bytes;
static uint64_t         exchanges, gathers;

/* ---- files ---- */

static void *
room(int n, size_t each)
{
    void *p = calloc((size_t)n, each);

    if (p == NULL)
        hearthi_fatal("hearth_init", "no memory");
    return p;
}

static void
files_of_all_map(int fd, size_t bytes, char **at)
{
    hearthi_files_map(fd, bytes, at, hearthi_cluster.size, NULL,
                      hearthi_cluster.comm);
}

static void
machine_check(void)
{
    if (!hearthi_one_machine() && hearthi_cluster.rank == 0)
        hearthi_fatal("hearth_init",
                      "HEARTH_FABRIC=shm is for ranks of one machine, and "
                      "these are on several: use HEARTH_FABRIC=mpi, or "
                      "HEARTH_TRANSPORT=udp");
    hearthi_collective(hearthi_cluster.comm);
}

/* ---- home regions ---- */

static void
home_open(void)
{
    home = room(hearthi_cluster.size, sizeof *home);
    for (int i = 0; i < hearthi_cluster.node_size; i++)
        home[hearthi_cluster.node_member[i]] = hearthi_segments.base[i];
    files_of_all_map(hearthi_segments.fd, hearthi_segments.bytes, home);
}

static void
home_close(void)
{
    for (int r = 0; r < hearthi_cluster.size; r++)
        if (hearthi_cluster.node_of[r] != hearthi_cluster.node)
            munmap(home[r], hearthi_segments.bytes);
    free(home);
}

static void
operation_count(struct hearthi_fabric_batch *b, int rank, size_t at,
                size_t len)
{
    HEARTHI_ASSERT(rank >= 0 && rank < hearthi_cluster.size);
    HEARTHI_ASSERT(len > 0 && at + len <= hearthi_segments.bytes);
    b->count++;
    b->bytes += len;
    hearthi_mpi_count(rank, len);
}

void
hearthi_shm_batch_get(struct hearthi_fabric_batch *b, int rank, size_t at,
                      void *to, size_t len)
{
    operation_count(b, rank, at, len);
    hearthi_run_load(to, home[rank] + at, len);
}

void
hearthi_shm_batch_put(struct hearthi_fabric_batch *b, int rank, size_t at,
                      const void *from, size_t len)
{
    operation_count(b, rank, at, len);
    hearthi_run_store(home[rank] + at, from, len);
}

/* The fence: what is read comes before all that follows. */
void
hearthi_shm_home_read(int rank, size_t at, void *to, size_t len)
{
    hearthi_mpi_count(rank, len);
    hearthi_run_load(to, home[rank] + at, len);
    atomic_thread_fence(memory_order_seq_cst);
}

uint64_t
hearthi_shm_home_atomic(int rank, size_t at, const struct hearthi_atomic_op *s)
{
    HEARTHI_ASSERT(at % hearthi_atomic_op_bytes(s) == 0);
    hearthi_mpi_count(rank, hearthi_atomic_op_bytes(s));
    return hearthi_atomic_op_here(home[rank] + at, s);
}

void
hearthi_shm_home_adds(const struct hearthi_add_run *run)
{
    for (size_t i = 0; i < run->n; i++) {
        hearthi_mpi_count(run->home, sizeof run->add->value);
        hearthi_add_here(home[run->home], &run->add[i]);
    }
}

/* Files of memory are as long as a segment from the start. */
static void
home_grow(uint64_t frames)
{
    HEARTHI_ASSERT(frames <= hearthi_segments.frames);
    (void)frames;
}

/* ---- sync regions ---- */

static void *
sync_open(size_t bytes)
{
    int         n = hearthi_cluster.size, fd;
    const char *why;

    sync_bytes = bytes;
    sync_at = room(n, sizeof *sync_at);
    meeting = room(n, sizeof *meeting);
    leader = room(hearthi_cluster.nodes, sizeof *leader);
    fd = hearthi_memfile("hearth-sync", sizeof **meeting + bytes, &why);
    if (fd < 0)
        hearthi_fatal("hearth_init", "no memory of %zu bytes for locks: %s",
                      bytes, why);
    files_of_all_map(fd, sizeof **meeting + bytes, (char **)meeting);
    close(fd);
    for (int r = 0; r < n; r++) {
        sync_at[r] = (char *)(meeting[r] + 1);
        if (hearthi_cluster.node_rank_of[r] == 0)
            leader[hearthi_cluster.node_of[r]] = r;
    }
    exchanges = gathers = 0;
    return sync_at[hearthi_cluster.rank];
}

/* The fence: what was written at first comes before the message of each. */
static void
sync_ready(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    hearthi_collective(hearthi_cluster.comm);
}

static void
sync_close(void)
{
    for (int r = 0; r < hearthi_cluster.size; r++)
        munmap(meeting[r], sizeof **meeting + sync_bytes);
    free(sync_at);
    free(meeting);
    free(leader);
}

void
hearthi_shm_sync_get(int rank, size_t at, void *to, size_t len)
{
    HEARTHI_ASSERT(len > 0 && at + len <= sync_bytes);
    hearthi_mpi_count(rank, len);
    memcpy(to, sync_at[rank] + at, len);
}

void
hearthi_shm_sync_put(int rank, size_t at, const void *from, size_t len)
{
    HEARTHI_ASSERT(len > 0 && at + len <= sync_bytes);
    hearthi_mpi_count(rank, len);
    memcpy(sync_at[rank] + at, from, len);
}

uint64_t
hearthi_shm_sync_step(int rank, size_t at, enum hearthi_fabric_op op,
                      uint64_t value)
{
    uint64_t *word = (uint64_t *)(void *)(sync_at[rank] + at);

    HEARTHI_ASSERT(at % sizeof *word == 0 && at < sync_bytes);
    hearthi_mpi_count(rank, sizeof *word);
    switch (op) {
    case HEARTHI_OP_ADD:
        return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    case HEARTHI_OP_SWAP:
        return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    case HEARTHI_OP_READ: break;
    }
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* ---- leaders ---- */

/* The acquire pairs with the releases of exchange() and gather(): the bytes of
 * a round come before its number. */
static void
round_wait(const _Atomic uint64_t *round, uint64_t until)
{
    unsigned turn = 0;

    while (atomic_load_explicit(round, memory_order_acquire) < until)
        hearthi_relax(&turn);
}

/* The leader that is i nodes further. */
static int
leader_at(int i)
{
    return leader[(hearthi_cluster.node + i) % hearthi_cluster.nodes];
}

static void
exchange(void *all, size_t bytes)
{
    struct meeting *own = meeting[hearthi_cluster.rank];
    char           *to = all;

    HEARTHI_ASSERT(bytes <= HEARTHI_EXCHANGE_MOST);
    exchanges++;
    memcpy(own->block[exchanges % 2], to, bytes);
    atomic_store_explicit(&own->exchanged, exchanges, memory_order_release);
    for (int i = 1; i < hearthi_cluster.nodes; i++) {
        struct meeting *other = meeting[leader_at(i)];

        round_wait(&other->exchanged, exchanges);
        memcpy(to + (size_t)i * bytes, other->block[exchanges % 2], bytes);
        hearthi_mpi_count(leader_at(i), bytes);
    }
}

static void
gather(void *all, const int *counts, const int *starts)
{
    struct meeting *own = meeting[hearthi_cluster.rank];
    int             me = hearthi_cluster.node, n = hearthi_cluster.nodes;
    char           *to = all;

    HEARTHI_ASSERT(counts[me] <= GATHER_MOST);
    gathers++;
    memcpy(own->bytes[gathers % 2], to + starts[me], (size_t)counts[me]);
    atomic_store_explicit(&own->gathered, gathers, memory_order_release);
    for (int i = 1; i < n; i++) {
        struct meeting *other = meeting[leader_at(i)];
        int             node = (me + i) % n;

        round_wait(&other->gathered, gathers);
        memcpy(to + starts[node], other->bytes[gathers % 2],
               (size_t)counts[node]);
    }
}

/* No operation needs its target. */
static void
probe(void)
{
    for (int i = 0; i < HEARTHI_OPERATIONS; i++)
        hearthi_help.need[i] = HEARTHI_FREE;
}

const struct hearthi_fabric_ops hearthi_shm_fabric = {
    .name = "shm",
    .check = machine_check,
    .registers = false,
    .home_open = home_open,
    .home_close = home_close,
    .home_grow = home_grow,
    .sync_open = sync_open,
    .sync_ready = sync_ready,
    .sync_close = sync_close,
    .probe = probe,
    .exchange = exchange,
    .gather = gather,
};
