/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <hearth/hearth.h>

#include "common.h"
#include "options.h"

enum { EXIT_VERIFY = 1, EXIT_USAGE = 2, CACHE_LINE = 64 };

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void
app_barrier(const struct app_run *run)
{
    if (run->mpi)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        hearth_barrier();
}

/*
 * Over Hearth this is done in shared memory too, as the whole program is: a
 * rank that waited in MPI would not serve the others on a transport that is
 * not MPI's.
 */
double
app_max(struct app_run *run, double value)
{
    double max = value;

    if (run->mpi) {
        MPI_Allreduce(&value, &max, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return max;
    }
    run->slots[run->rank] = value;
    hearth_barrier();
    for (int r = 0; r < run->ranks; r++)
        max = fmax(max, run->slots[r]);
    hearth_barrier(); /* before a slot is used again */
    return max;
}

void
app_start(struct app_run *run)
{
    app_barrier(run);
    if (!run->mpi)
        hearth_stats_start();
    run->started = now();
}

void
app_stop(struct app_run *run)
{
    app_barrier(run);
    run->seconds = now() - run->started;
    if (!run->mpi)
        hearth_stats_stop();
    if (run->shown > 0)
        fprintf(stderr, "\r\033[K");
    run->shown = 0;
}

void
app_progress(struct app_run *run, const char *what, long done, long total)
{
    double t;

    if (!run->tty)
        return;
    t = now();
    if (t - run->shown < 0.2)
        return;
    run->shown = t;
    fprintf(stderr, "\rhearth-%s: %s %ld of %ld, %.1f s\033[K", run->app->name,
            what, done, total, t - run->started);
}

void
app_verdict(struct app_run *run, bool ok, const char *format, ...)
{
    char    why[200];
    va_list args;

    if (ok)
        return;
    run->failed = true;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    fprintf(stderr, "hearth-%s: verification failed: %s\n", run->app->name,
            why);
}

void
app_field(struct app_run *run, const char *format, ...)
{
    size_t  used = strlen(run->fields);
    va_list args;

    if (used + 1 >= sizeof run->fields)
        return;
    run->fields[used++] = ' ';
    va_start(args, format);
    vsnprintf(run->fields + used, sizeof run->fields - used, format, args);
    va_end(args);
}

void
app_sequential_start(struct app_run *run)
{
    run->started = now();
}

void
app_sequential_stop(struct app_run *run)
{
    app_field(run, "sequential=%.6f", now() - run->started);
}

void
app_fail(const struct app_run *run, const char *format, ...)
{
    char    why[200];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    fprintf(stderr, "hearth-%s: rank %d: %s\n", run->app->name, run->rank,
            why);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

int
app_lock(const struct app_run *run, int rank, size_t i)
{
    const size_t ranks = (size_t)run->ranks;

    return (int)((i * ranks + (size_t)rank) % HEARTH_LOCKS);
}

void *
app_private(const struct app_run *run, size_t count, size_t size)
{
    void  *p = NULL;
    size_t bytes = count * size;

    if (size != 0 && count > (SIZE_MAX - CACHE_LINE) / size)
        errno = ENOMEM;
    else
        p = aligned_alloc(CACHE_LINE, (bytes / CACHE_LINE + 1) * CACHE_LINE);
    if (p == NULL)
        app_fail(run, "no private memory for %zu elements of %zu bytes: %s",
                 count, size, strerror(errno));
    return memset(p, 0, bytes);
}

static size_t
page_size_read(const struct app_run *run)
{
    const char *text = hearth_option("page_size"); /* "4k" */
    char       *unit;
    size_t      bytes = strtoul(text, &unit, 10);

    switch (*unit) {
    case 'g': bytes *= 1024; /* fall through */
    case 'm': bytes *= 1024; /* fall through */
    case 'k': bytes *= 1024; /* fall through */
    case '\0': return bytes;
    }
    app_fail(run, "cannot read a page size of %s", text);
}

size_t
app_page_size(const struct app_run *run)
{
    static size_t page;

    if (page == 0)
        page = page_size_read(run);
    return page;
}

/* A command line that runs nothing: rank 0 answers, all ranks agree. */
static int
command_answer(const struct app *app, enum app_command command,
               const char *problem)
{
    int rank;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && command == APP_HELP)
        app_help(app, stdout);
    if (rank == 0 && command == APP_VERSION)
        printf("hearth-%s (%s)\n", app->name, PACKAGE_STRING);
    if (rank == 0 && command == APP_WRONG)
        fprintf(stderr, "hearth-%s: %s; see hearth-%s --help\n", app->name,
                problem, app->name);
    MPI_Finalize();
    if (command == APP_WRONG)
        return EXIT_USAGE;
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void
mpi_open(struct app_run *run)
{
    MPI_Comm node;
    int      node_rank, leads;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &run->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run->ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_free(&node);
    leads = node_rank == 0;
    MPI_Allreduce(&leads, &run->nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

bool
app_saved(const struct app_run *run, void *p, size_t bytes, const char *name)
{
    return run->checkpoint != NULL && hearth_checkpoint_add(p, bytes, name);
}

void
app_checkpoint(const struct app_run *run, long done, long total)
{
    enum { TENTHS = 10 };

    if (run->checkpoint != NULL && done < total &&
        done * TENTHS / total != (done - 1) * TENTHS / total)
        hearth_checkpoint(run->checkpoint);
}

/* A run that goes on does the same work, and has the slots of that before. */
static void
hearth_open(struct app_run *run)
{
    static struct {
        double *slots, digest;
    } own;

    hearth_init(MPI_COMM_WORLD);
    run->rank = hearth_rank();
    run->ranks = hearth_size();
    run->nodes = hearth_nodes();
    own.digest = app_option_digest(run);
    if (app_saved(run, &own, sizeof own, "app")) {
        if (own.digest != app_option_digest(run))
            app_fail(run, "the run was saved with other options: give these");
        hearth_free(own.slots);
    }
    run->slots = own.slots =
        hearth_alloc((size_t)run->ranks, sizeof *run->slots, hearth_on(0));
}

static const char *
home_refuse(const struct app_run *run, char *why, size_t size)
{
    snprintf(why, size, "--home %ld: the last of %d ranks is %d", run->home,
             run->ranks, run->ranks - 1);
    return why;
}

/* Rank 0 knows and says why this run cannot be; all ranks are told. */
static bool
run_refuse(struct app_run *run)
{
    double      digest = app_option_digest(run);
    double      least = -app_max(run, -digest);
    const char *why = NULL;
    char        home[80];

    if (app_max(run, digest) > least)
        why = "the ranks were not given the same options";
    else if (run->home != APP_HOMES && run->mpi)
        why = "--home is not for --mpi";
    else if (run->home >= run->ranks)
        why = home_refuse(run, home, sizeof home);
    else if (run->app->check != NULL && run->rank == 0)
        why = run->app->check(run);
    if (why != NULL && run->rank == 0)
        fprintf(stderr, "hearth-%s: %s; see hearth-%s --help\n",
                run->app->name, why, run->app->name);
    return app_max(run, why != NULL) > 0;
}

static int
run_report(struct app_run *run)
{
    const char *verify = "no";
    double      seconds = app_max(run, run->seconds);
    bool        failed = app_max(run, run->failed) > 0;

    if (run->verify)
        verify = failed ? "failed" : "ok";
    if (run->rank == 0) {
        printf("app=%s ranks=%d nodes=%d ", run->app->name, run->ranks,
               run->nodes);
        if (run->mpi)
            printf("transport=none version=mpi ");
        else { /* two calls: a text is valid until the next */
            printf("transport=%s ", hearth_option("transport"));
            printf("consistency=%s ", hearth_option("consistency"));
        }
        printf("seconds=%.6f verify=%s", seconds, verify);
        app_option_fields(run->app, stdout);
        if (run->home == APP_HOMES_FIRST)
            printf(" home=first");
        else if (run->home != APP_HOMES)
            printf(" home=%ld", run->home);
        printf("%s\n", run->fields);
        if (fflush(stdout) != 0) {
            fprintf(stderr, "hearth-%s: result line: %s\n", run->app->name,
                    strerror(errno));
            return EXIT_FAILURE;
        }
    }
    return failed ? EXIT_VERIFY : EXIT_SUCCESS;
}

static void
run_close(struct app_run *run)
{
    if (run->mpi) {
        MPI_Finalize();
        return;
    }
    hearth_free(run->slots);
    hearth_finalize();
}

int
app_main(const struct app *app, int argc, char **argv)
{
    struct app_run   run = { .app = app, .home = APP_HOMES };
    char             problem[200] = "";
    enum app_command command;
    int              status = EXIT_USAGE;

    command = app_parse(&run, argc, argv, problem, sizeof problem);
    if (command != APP_RUN)
        return command_answer(app, command, problem);
    if (run.mpi)
        mpi_open(&run);
    else
        hearth_open(&run);
    run.tty = run.rank == 0 && isatty(STDERR_FILENO) == 1;
    if (!run_refuse(&run)) {
        (run.mpi ? app->run_mpi : app->run)(&run);
        status = run_report(&run);
    }
    run_close(&run);
    return status;
}
