/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocked dense LU factorisation without pivoting.
 *
 * Problem: A = L U for a matrix of random elements in [-1, 1), its diagonal
 * raised by its order so that it is dominant and pivoting is not needed.
 *
 * Source: LU of SPLASH-2, contiguous blocks (Woo et al., The SPLASH-2
 * Programs, ISCA 1995), as in the papers on JIAJIA and Mocha: right-looking,
 * a barrier a step.
 *
 * Sharing with --layout blocks (rows.c has the other one): the blocks of a
 * block column lie one after the other, column by column, and a column is
 * dealt to the ranks in turn with whole pages, so that the layout makes its
 * owner its home.  (SPLASH-2 deals single blocks; of the papers' 512-byte
 * blocks eight share a page, and the page would have as many writers.)  Ranks
 * store only to their own columns.  In step k all of them read what is left
 * of column k, which lies in one piece, was finished before the barrier and
 * never changes again: each page crosses to each node once.
 *
 * Over clusters it can be read through the explicit interface instead, by
 * which it is read again as often as it is used: --read (reading.h).
 *
 * Limit: with blocks of 8 the step's arithmetic is short (1024: half a
 * millisecond on two ranks), so the barrier, the fetch of column k and the
 * uneven share of columns show.  The owner of column k + 1 brings it up to
 * date and factors it first, within step k, so nobody waits for that.  A copy
 * of a column takes memory that was not touched before, where MPI has two
 * buffers: of the 40 us that a fetch takes between two nodes of one machine,
 * half and more make that memory, 13 bring the column and 6 map it.  So two
 * nodes reach 0.83 of the MPI version's speed at 1024 and 0.93 at 2048.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "columns.h"
#include "common.h"
#include "lu.h"
#include "reading.h"

static long        size, block;
static const char *layout = "blocks";
static const char *how = READING_MEMORY;

static const struct app_option options[] = {
    APP_NUMBER('n', "size", &size, 1024, 512, 1, 1 << 16,
               "rows and columns of the matrix"),
    APP_NUMBER('b', "block", &block, 8, 8, 1, 1024,
               "rows and columns of a block"),
    APP_TEXT('l', "layout", &layout, "blocks|rows", NULL,
             "rows: a plain matrix; not with --mpi"),
    APP_TEXT('r', "read", &how,
             READING_MEMORY "|" READING_COLUMNS "|" READING_BLOCKS, NULL,
             "columns of others, by hearth_read: over clusters"),
};

static void
steps_run(struct app_run *run, const struct layout *l, double *lu)
{
    const size_t   ranks = (size_t)run->ranks, me = (size_t)run->rank;
    struct reading r = reading_make(run, l, how);

    if (me == 0)
        column_factor(l, lu, 0);
    for (size_t k = 0; k + 1 < l->blocks; k++) {
        hearth_barrier(); /* column k is finished */
        reading_begin(&r, lu, k);
        for (size_t j = k + 1 + (me + ranks - (k + 1) % ranks) % ranks;
             j < l->blocks; j += ranks) {
            double *column = lu + j * l->stride;

            reading_update(&r, column, k);
            if (j == k + 1)
                column_factor(l, column, j);
        }
        app_progress(run, "block column", (long)k, (long)l->blocks);
    }
    free(r.room);
}

/* Rank 0 verifies a copy. */
static void
blocks_verify(struct app_run *run, const struct layout *l, const double *lu)
{
    double *plain = app_private(run, (size_t)size * (size_t)size, sizeof *lu);

    for (size_t j = 0; j < l->blocks; j++)
        column_copy(l, plain, lu + j * l->stride, j);
    lu_verify(run, (size_t)size, plain);
    free(plain);
}

static void
blocks_run(struct app_run *run)
{
    size_t        page = app_page_size(run);
    struct layout l =
        layout_make((size_t)size, (size_t)block, page / sizeof(double));
    double *lu = app_alloc(run, l.blocks * l.stride, sizeof *lu,
                           hearth_cyclic(l.stride * sizeof *lu / page));

    for (size_t j = (size_t)run->rank; j < l.blocks; j += (size_t)run->ranks)
        column_start(&l, lu + j * l.stride, j);
    app_start(run);
    steps_run(run, &l, lu);
    app_stop(run);
    if (run->verify && run->rank == 0)
        blocks_verify(run, &l, lu);
    app_barrier(run);
    hearth_free(lu);
}

static void
lu_run(struct app_run *run)
{
    if (strcmp(layout, "rows") == 0)
        lu_rows_run(run, (size_t)size, (size_t)block);
    else
        blocks_run(run);
}

/*
 * The plain MPI version: the same columns on the same ranks.  Column k + 1 is
 * broadcast as soon as it is factored, and travels while the rest of step k
 * is computed.
 */
struct panel {
    double     *room[2]; /* for the columns of others, by turns */
    double     *at;      /* block k of column k */
    MPI_Request request;
};

/* Start to broadcast the finished part of column k; own: my columns. */
static void
panel_start(struct panel *p, const struct app_run *run, const struct layout *l,
            double *own, size_t k)
{
    const size_t area = l->b * l->b;
    int          owner = (int)(k % (size_t)run->ranks);

    p->at = p->room[k % 2];
    if (owner == run->rank)
        p->at = own + k / (size_t)run->ranks * l->stride + k * area;
    MPI_Ibcast(p->at, (int)((l->blocks - k) * area), MPI_DOUBLE, owner,
               MPI_COMM_WORLD, &p->request);
}

static void
mpi_steps_run(struct app_run *run, const struct layout *l, double *own,
              struct panel *p)
{
    const size_t ranks = (size_t)run->ranks, me = (size_t)run->rank;
    int          done;

    if (me == 0)
        column_factor(l, own, 0);
    panel_start(p, run, l, own, 0);
    for (size_t k = 0; k + 1 < l->blocks; k++) {
        size_t        j = k + 1 + (me + ranks - (k + 1) % ranks) % ranks;
        const double *panel;

        MPI_Wait(&p->request, MPI_STATUS_IGNORE);
        panel = p->at;
        if (j == k + 1) {
            column_update(l, own + j / ranks * l->stride, panel, k);
            column_factor(l, own + j / ranks * l->stride, j);
            j += ranks;
        }
        panel_start(p, run, l, own, k + 1);
        for (; j < l->blocks; j += ranks) {
            column_update(l, own + j / ranks * l->stride, panel, k);
            MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
        }
        app_progress(run, "block column", (long)k, (long)l->blocks);
    }
    MPI_Wait(&p->request, MPI_STATUS_IGNORE);
}

/* Bring all columns to rank 0 and verify there. */
static void
mpi_verify(struct app_run *run, const struct layout *l, double *own)
{
    const size_t n = run->rank == 0 ? (size_t)size : 0;
    double      *plain = app_private(run, n * n, sizeof *plain);
    double      *room = app_private(run, l->stride, sizeof *room);

    for (size_t j = 0; j < l->blocks; j++) {
        int     owner = (int)(j % (size_t)run->ranks);
        double *column = own + j / (size_t)run->ranks * l->stride;

        if (owner != 0 && owner == run->rank)
            MPI_Send(column, (int)l->stride, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        if (owner != 0 && run->rank == 0) {
            column = room;
            MPI_Recv(column, (int)l->stride, MPI_DOUBLE, owner, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (run->rank == 0)
            column_copy(l, plain, column, j);
    }
    if (run->rank == 0)
        lu_verify(run, n, plain);
    free(room);
    free(plain);
}

static void
lu_run_mpi(struct app_run *run)
{
    const size_t  ranks = (size_t)run->ranks, me = (size_t)run->rank;
    struct layout l = layout_make((size_t)size, (size_t)block, 1);
    double *own = app_private(run, (l.blocks + ranks - 1) / ranks * l.stride,
                              sizeof *own);
    struct panel p = { .request = MPI_REQUEST_NULL };

    for (int i = 0; i < 2; i++)
        p.room[i] = app_private(run, l.stride, sizeof *own);
    for (size_t j = me; j < l.blocks; j += ranks)
        column_start(&l, own + j / ranks * l.stride, j);
    app_start(run);
    mpi_steps_run(run, &l, own, &p);
    app_stop(run);
    if (run->verify)
        mpi_verify(run, &l, own);
    free(p.room[0]);
    free(p.room[1]);
    free(own);
}

static const char *
read_check(const struct app_run *run)
{
    if (run->mpi || strcmp(layout, "rows") == 0 || run->home != APP_HOMES)
        return "--read columns and blocks are not for --mpi, --layout rows "
               "and --home";
    if (hearth_clusters() == 1)
        return "--read columns and blocks are for several clusters "
               "(HEARTH_CLUSTERS)";
    return NULL;
}

static const char *
lu_check(const struct app_run *run)
{
    if (block > size)
        return "--block is larger than --size";
    if (run->mpi && strcmp(layout, "rows") == 0)
        return "--layout rows is for shared memory, not for --mpi";
    return strcmp(how, READING_MEMORY) == 0 ? NULL : read_check(run);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "lu",
        .about = "Blocked dense LU factorisation without pivoting.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = lu_check,
        .run = lu_run,
        .run_mpi = lu_run_mpi,
    };

    return app_main(&app, argc, argv);
}
