/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dense matrix multiply, C = A B.
 *
 * Problem: square matrices of doubles, of random elements in [-1, 1).
 *
 * Source: MM as in the papers on JIAJIA and Mocha, with a cache-blocked
 * kernel (gemm.c) in the place of their triple loop.
 *
 * Sharing: all three matrices lie in bands of rows.  A rank computes the
 * rows of C that are at home on it, from its own rows of A and from all of
 * B: it reads every page of B once and writes only to its own memory.
 *
 * Limit: how fast B arrives, against n^3 / ranks arithmetic.  B is asked for
 * ahead, a part at a time, so that few and long messages bring it.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "gemm.h"

static long size;

static const struct app_option options[] = {
    APP_NUMBER('n', "size", &size, 1280, 256, 1, 1 << 16,
               "rows and columns of the matrices"),
};

/* Rows of B that are asked for, or sent, at a time. */
enum { PANEL = 256 };

enum input { A, B };

/* Rows [from, from + rows) of an input. */
static void
rows_start(const struct matrix *m, enum input which, size_t from)
{
    size_t n = (size_t)size;

    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < n; j++)
            m->at[i * m->stride + j] =
                2 * app_random((which * n + from + i) * n + j) - 1;
}

static struct matrix
band(double *at, size_t rows)
{
    struct matrix m = { at, rows, (size_t)size, (size_t)size };

    return m;
}

/* Row `want` of C by the textbook's loop. */
static void
row_multiply(double *want, const double *a, const double *b)
{
    size_t n = (size_t)size;

    memset(want, 0, n * sizeof *want);
    for (size_t k = 0; k < n; k++) {
        const double  factor = a[k];
        const double *b_row = b + k * n;

#pragma omp simd
        for (size_t j = 0; j < n; j++)
            want[j] += factor * b_row[j];
    }
}

/* Rank 0 compares C with a sequential textbook run, bit for bit. */
static void
product_verify(struct app_run *run, const double *c)
{
    size_t        n = (size_t)size;
    double       *at = app_private(run, n * n, sizeof(double));
    double       *a_row = app_private(run, n, sizeof(double));
    double       *want = app_private(run, n, sizeof(double));
    struct matrix b = band(at, n), a = band(a_row, 1);

    rows_start(&b, B, 0);
    for (size_t i = 0; i < n && !run->failed; i++) {
        rows_start(&a, A, i);
        row_multiply(want, a_row, at);
        for (size_t j = 0; j < n && !run->failed; j++)
            if (memcmp(&c[i * n + j], &want[j], sizeof *want) != 0)
                app_verdict(run, false,
                            "row %zu column %zu is %.17g, sequentially %.17g",
                            i, j, c[i * n + j], want[j]);
    }
    free(want);
    free(a_row);
    free(at);
}

static void
mm_run(struct app_run *run)
{
    size_t        n = (size_t)size, from, to;
    double       *at[3];
    struct matrix a, b, c;
    struct gemm   work = gemm_open(run);

    for (int i = 0; i < 3; i++)
        at[i] = app_alloc(run, n * n, sizeof(double), hearth_block());
    app_home_rows(run, at[0], n, n * sizeof(double), &from, &to);
    a = band(at[0] + from * n, to - from);
    b = band(at[1] + from * n, to - from);
    c = band(at[2] + from * n, to - from);
    rows_start(&a, A, from);
    rows_start(&b, B, from);

    app_start(run);
    for (size_t k = 0; k < n; k += PANEL) {
        size_t        depth = n - k < PANEL ? n - k : PANEL;
        struct matrix a_part = matrix_part(&a, 0, k, a.rows, depth);
        struct matrix b_part = band(at[1] + k * n, depth);

        hearth_prefetch(b_part.at, depth * n * sizeof(double));
        gemm_add(&work, &c, &a_part, &b_part);
        app_progress(run, "row of B", (long)k, size);
    }
    app_stop(run);

    if (run->verify && run->rank == 0)
        product_verify(run, at[2]);
    app_barrier(run);
    for (int i = 2; i >= 0; i--)
        hearth_free(at[i]);
    gemm_close(&work);
}

/*
 * The plain MPI version: each rank has bands of A, B and C; panels of B are
 * broadcast one after the other by their owners, each while the one before
 * is multiplied.
 */
struct panel {
    double     *at;
    size_t      from, rows; /* rows of B */
    MPI_Request request;
};

static size_t
band_first(int rank, const struct app_run *run)
{
    return app_part((size_t)size, rank, run->ranks);
}

static int
row_owner(size_t row, const struct app_run *run)
{
    int r = 0;

    while (row >= band_first(r + 1, run))
        r++;
    return r;
}

/* Start to broadcast the panel that begins with row `from` of B: at most up
 * to the end of its owner's band.  Owners send from where it lies. */
static void
panel_start(struct panel *p, double *room, size_t from, const double *own_b,
            const struct app_run *run)
{
    int    owner = row_owner(from, run);
    size_t rest = band_first(owner + 1, run) - from;

    p->from = from;
    p->rows = rest < PANEL ? rest : PANEL;
    p->at = room;
    if (owner == run->rank)
        p->at =
            (double *)own_b + (from - band_first(owner, run)) * (size_t)size;
    MPI_Ibcast(p->at, (int)(p->rows * (size_t)size), MPI_DOUBLE, owner,
               MPI_COMM_WORLD, &p->request);
}

/* gemm_add() calls this in between: let the next panel come. */
static void
panel_poll(void *request)
{
    int done;

    MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void
panels_multiply(struct app_run *run, struct gemm *work, const struct matrix *c,
                const struct matrix *a, const double *own_b)
{
    size_t       n = (size_t)size;
    double      *room[2];
    struct panel now, next = { .request = MPI_REQUEST_NULL };

    for (int i = 0; i < 2; i++)
        room[i] = app_private(run, PANEL * n, sizeof(double));
    work->poll = panel_poll;
    work->argument = &next.request;
    app_start(run);
    panel_start(&now, room[0], 0, own_b, run);
    for (int turn = 1;; turn = !turn) {
        struct matrix a_part, b_part;

        MPI_Wait(&now.request, MPI_STATUS_IGNORE);
        if (now.from + now.rows < n)
            panel_start(&next, room[turn], now.from + now.rows, own_b, run);
        a_part = matrix_part(a, 0, now.from, a->rows, now.rows);
        b_part = band(now.at, now.rows);
        gemm_add(work, c, &a_part, &b_part);
        app_progress(run, "row of B", (long)now.from, size);
        if (now.from + now.rows == n)
            break;
        now = next;
        next.request = MPI_REQUEST_NULL; /* waited for as now's */
    }
    app_stop(run);
    free(room[0]);
    free(room[1]);
}

/* Bring C to rank 0 and verify it there. */
static void
mpi_verify(struct app_run *run, const struct matrix *c)
{
    size_t       n = run->rank == 0 ? (size_t)size : 0;
    double      *whole = app_private(run, n * n, sizeof(double));
    int         *count = app_private(run, (size_t)run->ranks, sizeof *count);
    int         *place = app_private(run, (size_t)run->ranks, sizeof *place);
    MPI_Datatype row;

    for (int r = 0; r < run->ranks; r++) {
        place[r] = (int)band_first(r, run);
        count[r] = (int)band_first(r + 1, run) - place[r];
    }
    MPI_Type_contiguous((int)size, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    MPI_Gatherv(c->at, (int)c->rows, row, whole, count, place, row, 0,
                MPI_COMM_WORLD);
    MPI_Type_free(&row);
    if (run->rank == 0)
        product_verify(run, whole);
    free(place);
    free(count);
    free(whole);
}

static void
mm_run_mpi(struct app_run *run)
{
    size_t        from = band_first(run->rank, run);
    size_t        rows = band_first(run->rank + 1, run) - from;
    struct matrix m[3];
    struct gemm   work = gemm_open(run);

    for (int i = 0; i < 3; i++)
        m[i] =
            band(app_private(run, rows * (size_t)size, sizeof(double)), rows);
    rows_start(&m[0], A, from);
    rows_start(&m[1], B, from);
    panels_multiply(run, &work, &m[2], &m[0], m[1].at);
    if (run->verify)
        mpi_verify(run, &m[2]);
    for (int i = 0; i < 3; i++)
        free(m[i].at);
    gemm_close(&work);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "mm",
        .about = "Dense matrix multiply, C = A B.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .run = mm_run,
        .run_mpi = mm_run_mpi,
    };

    return app_main(&app, argc, argv);
}
