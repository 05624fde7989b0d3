/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A program that starts Hearth, uses a little of everything and ends it, for
 * short.tap, which lets one call of the system fail in each run.  It says
 * "right" where all that was read on each rank is what it should be; one rank
 * says it, since launchers mix the lines of several.
 */
#include <hearth/hearth.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "short.h"

enum { PAGES = 48, INTS = 1024, ROUNDS = 3, PAGE_INTS = PAGES * INTS };

struct shared {
    int counter, sum, turn;
};

static int rank, size;

/* Each rank writes every size-th page, and reads all. */
static bool
pages_pass(int *pages, int round)
{
    bool good = true;

    for (int i = rank; i < PAGES; i += size)
        for (int j = 0; j < INTS; j += 64)
            pages[i * INTS + j] = round * PAGE_INTS + i * INTS + j;
    hearth_barrier();
    for (int i = 0; i < PAGES; i++)
        for (int j = 0; j < INTS; j += 64)
            good = good &&
                   pages[i * INTS + j] == round * PAGE_INTS + i * INTS + j;
    hearth_barrier();
    return good;
}

static bool
objects_pass(struct shared *s)
{
    bool good;

    for (int i = 0; i < ROUNDS; i++) {
        hearth_lock(3);
        s->counter++;
        hearth_unlock(3);
        hearth_lock(70000 + i);
        hearth_unlock(70000 + i);
        hearth_wrlock(1);
        s->sum += rank + 1;
        hearth_rwunlock(1);
    }
    if (rank == 0) {
        s->turn = 7;
        hearth_flag_set(2);
    }
    hearth_flag_wait(2);
    good = s->turn == 7;
    hearth_barrier();
    hearth_rdlock(1);
    good = good && s->sum == ROUNDS * size * (size + 1) / 2;
    hearth_rwunlock(1);
    good = good && s->counter == ROUNDS * size;
    hearth_barrier();
    return good;
}

/* A rank brings what it has to the next one. */
static bool
memory_passes(int **slot)
{
    int *mine = hearth_malloc(20000 * sizeof *mine), *theirs;
    bool good;

    mine[0] = mine[19999] = rank + 100;
    slot[rank] = mine;
    hearth_barrier();
    theirs = slot[(rank + 1) % size];
    good = theirs[0] == (rank + 1) % size + 100 && theirs[0] == theirs[19999];
    hearth_barrier();
    hearth_free(mine);
    return good;
}

int
main(int argc, char **argv)
{
    int           *pages, **slot, level;
    struct shared *s;
    int64_t       *word;
    bool           good = true;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    short_open(rank);
    hearth_init(MPI_COMM_WORLD);
    pages = hearth_alloc(PAGE_INTS, sizeof *pages, hearth_cyclic(1));
    s = hearth_alloc(1, sizeof *s, hearth_cyclic(1));
    word = hearth_alloc(1, sizeof *word, hearth_cyclic(1));
    slot = hearth_alloc(64, sizeof *slot, hearth_cyclic(1));
    for (int round = 0; round < ROUNDS; round++)
        good = pages_pass(pages, round) && good;
    good = objects_pass(s) && good;
    good = memory_passes(slot) && good;
    hearth_fetch_add(word, 5);
    hearth_barrier();
    good = good && *word == 5 * size;
    hearth_free(pages);
    hearth_finalize();
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_C_BOOL, MPI_LAND,
                  MPI_COMM_WORLD);
    if (short_is(rank))
        short_print(good ? "right" : "wrong");
    MPI_Finalize();
    return good ? EXIT_SUCCESS : 3;
}
