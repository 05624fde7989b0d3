/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sparse Cholesky factorisation, A = L L^T.
 *
 * Problem: a matrix of n = k x k rows, those of a grid whose points are
 * coupled with their neighbours, or one from a file (matrix.h); in an order by
 * nested dissection (plan.h).
 *
 * Source: Cholesky of SPLASH-2 (Woo et al., The SPLASH-2 Programs, ISCA 1995;
 * Rothberg, Gupta: The performance impact of data reuse in parallel dense and
 * sparse Cholesky factorization, 1992).  As there, a task is a panel of
 * columns from which all has been subtracted that is to be: its rank makes it
 * a part of the factor and subtracts it from all later panels that it has rows
 * of, each under that panel's lock.  Who subtracts the last thing from a panel
 * puts it into the queue of its owner, who waits for a condition when there is
 * nothing in it.  The order is made here, for a matrix from a file too.
 *
 * Sharing: the panels, at home with their owners.  A rank owns a part of the
 * grid, so most panels are of nobody else's concern, and their locks never
 * leave it; those of the lines between the parts are dealt to their ranks.
 *
 * Limit: those few last panels, which depend on each other, and whose pages
 * move each time another rank subtracts something.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include <hearth/hearth.h>

#include "panel.h"
#include "plan.h"
#include "tasks.h"
#include "verify.h"

static long        grid, piece;
static const char *input;

static const struct app_option options[] = {
    APP_NUMBER('n', "grid", &grid, 320, 48, 1, 1 << 13,
               "points along each edge of the grid, if there is no file"),
    APP_NUMBER('p', "piece", &piece, 16, 16, 1, 1 << 10,
               "points that are not divided further"),
    APP_TEXT('f', "input", &input, NULL, NULL,
             "a file of Matrix Market or of Harwell and Boeing"),
};

/* Bounds of --verify. */
#define SAME_PRODUCT 1e-12
#define SAME_FACTOR  1e-9

enum { LOCKS_OWN = 16 };

struct factor {
    bool          alone; /* a sequential run: nothing is shared */
    struct plan  *plan;
    double       *value;   /* shared: of all panels */
    double       *product; /* what a panel takes from others */
    struct tasks *tasks;
};

/* How much has to be subtracted yet: the word before a panel's numbers. */
static int64_t *
panel_left(const struct factor *f, int32_t number)
{
    return (int64_t *)(void *)&f->value[f->plan->panel[number].at];
}

static double *
panel_value(const struct factor *f, int32_t number)
{
    return &f->value[f->plan->panel[number].at + 1];
}

/*
 * A panel that concerns several ranks has a lock for itself, as far as there
 * are so many; the others of a rank share some, which it alone takes, so that
 * they are soon at home there.
 */
static int
panel_lock(const struct factor *f, int32_t number)
{
    const struct panel *q = &f->plan->panel[number];
    const size_t i = q->shared ? TASKS_LOCKS + LOCKS_OWN + (size_t)number
                               : TASKS_LOCKS + (size_t)number % LOCKS_OWN;

    return app_lock(f->plan->run, q->owner, i);
}

/* My panels as they are before anything is subtracted; those that need nothing
 * are tasks.  Of the oldest tasks the last ones come first. */
static void
factor_start(struct factor *f)
{
    for (int32_t i = f->plan->panels - 1; i >= 0; i--) {
        const struct panel *q = &f->plan->panel[i];

        if (!f->alone && q->owner != f->plan->run->rank)
            continue;
        panel_start(f->plan, q, panel_value(f, i));
        *panel_left(f, i) = q->needs;
        if (q->needs == 0 && !f->alone)
            tasks_push(f->tasks, q->owner, i);
    }
}

/* Subtract a panel from another, of which it has rows [from, to). */
static void
panel_take(struct factor *f, int32_t number, int32_t from, int32_t to)
{
    const struct panel *q = &f->plan->panel[number];
    const int32_t       target = f->plan->panel_of[q->row[from]];
    const struct panel *t = &f->plan->panel[target];
    bool                last;

    panel_product(q, panel_value(f, number), from, to, f->product);
    if (!f->alone)
        hearth_lock(panel_lock(f, target));
    panel_subtract(t, panel_value(f, target), q, from, to, f->product);
    last = --*panel_left(f, target) == 0;
    if (f->alone)
        return;
    hearth_unlock(panel_lock(f, target));
    if (last)
        tasks_push(f->tasks, t->owner, target);
}

/* A task.  Under scope consistency its lock says what others subtracted. */
static void
panel_work(struct factor *f, int32_t number)
{
    const struct panel *q = &f->plan->panel[number];

    if (!f->alone)
        hearth_lock(panel_lock(f, number));
    panel_factor(q, panel_value(f, number));
    if (!f->alone)
        hearth_unlock(panel_lock(f, number));
    for (int32_t from = q->width, to; from < q->rows; from = to) {
        const int32_t target = f->plan->panel_of[q->row[from]];

        to = from + 1;
        while (to < q->rows && f->plan->panel_of[q->row[to]] == target)
            to++;
        panel_take(f, number, from, to);
    }
}

static void
factor_make(struct app_run *run, struct factor *f)
{
    for (int32_t done = 0; done < f->plan->own; done++) {
        panel_work(f, (int32_t)tasks_await(f->tasks));
        app_progress(run, "panel", done, f->plan->own);
    }
}

/* The same on one rank, in private memory: an order in which all is ready. */
static struct factor
sequential_run(struct app_run *run, const struct factor *like)
{
    struct plan  *p = like->plan;
    struct factor f = { .alone = true, .plan = p, .product = like->product };

    f.value = app_private(run, (size_t)run->ranks * p->words, sizeof *f.value);
    factor_start(&f);
    app_sequential_start(run);
    for (int32_t i = 0; i < p->panels; i++)
        panel_work(&f, i);
    app_sequential_stop(run);
    return f;
}

/* Rank 0. */
static void
factor_verify(struct app_run *run, const struct factor *f)
{
    struct factor want = sequential_run(run, f);
    double        error = factor_error(f->plan, f->value), off = 0, most = 1;

    app_verdict(run, error <= SAME_PRODUCT, "L L^T - A is %.3e", error);
    app_field(run, "error=%.1e", error);
    for (int32_t i = 0; i < f->plan->panels; i++) {
        const struct panel *q = &f->plan->panel[i];
        const double       *a = panel_value(f, i), *b = panel_value(&want, i);

        for (int32_t r = 0; r < q->rows; r++)
            for (int32_t c = 0; c < q->width && c <= r; c++) {
                off = app_worse(
                    off, fabs(a[r * q->width + c] - b[r * q->width + c]));
                if (input != NULL)
                    most = app_worse(most, fabs(b[r * q->width + c]));
            }
    }
    app_verdict(run, off <= SAME_FACTOR * most,
                "an entry of L is off by %.3e from a sequential run", off);
    free(want.value);
}

/* Room for the largest product. */
static double *
product_room(const struct plan *p)
{
    int32_t most = 1;

    for (int32_t i = 0; i < p->panels; i++)
        if (p->panel[i].rows > most)
            most = p->panel[i].rows;
    return app_private(p->run, (size_t)most * PANEL_MOST, sizeof(double));
}

/* Rank 0 has read it. */
static struct matrix matrix;

/* A square root of what is not positive is no number, and nor is what comes of
 * it: so it is enough to look at the diagonal. */
static void
factor_check(struct app_run *run, const struct factor *f)
{
    double bad = 0;

    for (int32_t i = 0; i < f->plan->panels; i++) {
        const struct panel *q = &f->plan->panel[i];

        for (int32_t c = 0; c < q->width && q->owner == run->rank; c++)
            if (!(panel_value(f, i)[c * q->width + c] > 0))
                bad = 1;
    }
    if (app_max(run, bad) > 0 && run->rank == 0)
        app_fail(run, "%s is not positive definite", input);
    app_barrier(run);
}

static void
cholesky_run(struct app_run *run)
{
    struct plan   p;
    struct tasks  t;
    struct factor f = { .plan = &p, .tasks = &t };

    if (input != NULL) {
        matrix_share(&matrix, run);
        grid = 0;
    }
    plan_make(&p, run, input != NULL ? &matrix : NULL, grid, piece);
    f.product = product_room(&p);
    f.value = app_alloc(run, (size_t)run->ranks * p.words, sizeof *f.value,
                        hearth_block());
    tasks_open(&t, run, (size_t)p.panels);
    factor_start(&f);
    app_start(run);
    factor_make(run, &f);
    app_stop(run);

    if (input != NULL)
        factor_check(run, &f);
    if (run->verify && run->rank == 0)
        factor_verify(run, &f);
    app_field(run, "columns=%d panels=%d entries=%.0f", (int)p.n,
              (int)p.panels, p.entries);
    app_barrier(run);
    tasks_close(&t);
    hearth_free(f.value);
    free(f.product);
    plan_free(&p);
    if (input != NULL)
        matrix_free(&matrix);
}

static const char *
cholesky_check(const struct app_run *run)
{
    (void)run;
    return input == NULL ? NULL : matrix_read(&matrix, input);
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "cholesky",
        .about = "Sparse Cholesky factorisation, panels as tasks.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = cholesky_check,
        .run = cholesky_run,
    };

    return app_main(&app, argc, argv);
}
