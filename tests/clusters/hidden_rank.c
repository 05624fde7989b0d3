/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hidden_rank [again] -- with HEARTH_GATEWAY=rank the program sees one rank
 * less than was started, and all else as with a thread.  Rank 0 says
 * "attended", or what is wrong.  For clusters.tap. */
#include <hearth/hearth.h>
#include <stdbool.h>
#include <stdio.h>

enum { ROUNDS = 8, PAGES = 1024, PAGE = 4096 };

static int wrong;

static void
expect(bool is, const char *what)
{
    if (!is && wrong++ == 0)
        printf("rank %d: %s\n", hearth_rank(), what);
}

/* The communicator has the ranks of this cluster, in their order. */
static void
comm_check(int started)
{
    MPI_Comm comm;
    int      size, rank, ranks = 0, first = hearth_size(), sum, one = 1;

    hearth_cluster_comm(&comm);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    for (int r = hearth_size() - 1; r >= 0; r--)
        if (hearth_cluster_of(r) == hearth_cluster()) {
            ranks++;
            first = r;
        }
    expect(size == ranks && sum == ranks, "the communicator's size");
    expect(size == started - 1, "one rank is not the program's");
    expect(first + rank == hearth_rank(), "the communicator's order");
    MPI_Comm_free(&comm);
}

/* Allocations come and go, since all ranks of a job have a part in them. */
static void
memory_check(void)
{
    int me = hearth_rank(), n = hearth_size();

    for (int i = 0; i < ROUNDS; i++) {
        int   *p = hearth_alloc((size_t)n * PAGES * (size_t)(i + 1), PAGE,
                                hearth_cyclic(1));
        size_t step = PAGE / sizeof *p;

        p[(size_t)me * step] = me + i;
        hearth_lock(i);
        p[2]++; /* another word of 8 bytes */
        hearth_unlock(i);
        hearth_barrier();
        for (int r = 0; r < n; r++)
            expect(p[(size_t)r * step] == r + i, "what was written");
        expect(p[2] == n, "a counter");
        hearth_barrier();
        if (i % 2 == 0)
            hearth_free(p);
    }
}

/* What the handler counts counts as its cluster's first rank's. */
static void
counts_check(void)
{
    hearth_stats s;
    int64_t     *p = hearth_alloc(1, sizeof *p, hearth_on(hearth_size() - 1));
    bool         speaks = hearth_rank() == 0 ||
                  hearth_cluster_of(hearth_rank() - 1) != hearth_cluster();

    hearth_get_stats(&s);
    expect((s.far_requests > 0) == speaks, "who counts requests");
    expect((s.far_messages > 0) == speaks, "who counts messages");
    hearth_stats_start();
    hearth_fetch_add(p, 1);
    hearth_barrier();
    expect(*p == hearth_size(), "atomic steps");
}

int
main(int argc, char **argv)
{
    int started, all;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &all);
    MPI_Comm_size(MPI_COMM_WORLD, &started);
    hearth_init(MPI_COMM_WORLD);
    comm_check(started);
    memory_check();
    counts_check();
    if (hearth_rank() == 0 && wrong == 0)
        printf("attended\n");
    hearth_finalize();
    if (argc > 1)
        hearth_init(MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong > 0;
}
