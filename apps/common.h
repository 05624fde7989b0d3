/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the applications have in common: options, start and end, the timed
 * section, progress, the verdict and the result line.
 *
 * An application fills a struct app and its main() is one call of app_main().
 * That one parses the command line, starts Hearth (or, with --mpi, MPI
 * alone), calls run() or run_mpi(), and prints the result line on rank 0:
 *
 *   app=sor ranks=4 nodes=2 transport=mpi consistency=release seconds=1.234
 *   verify=ok rows=4096 columns=4096 iterations=400
 *
 * (one line).  A run of the plain MPI version has "transport=none
 * version=mpi" instead, so that it cannot be taken for Hearth's.
 *
 * Exit status of every rank: 0, 1 when the verification failed, 2 when the
 * command line was wrong.
 */
#ifndef APPS_COMMON_H
#define APPS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hearth/hearth.h>

#if defined(__GNUC__)
#define APP_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define APP_NORETURN     __attribute__((noreturn))
#else
#define APP_PRINTF(a, b)
#define APP_NORETURN
#endif

/*
 * A row of an application's option table: a number or a text.  The long name
 * is the key of the result line too.
 */
struct app_option {
    char         letter; /* 0: long name only */
    const char  *name;
    const char  *help;
    long        *number; /* where a number goes; NULL for a text */
    long         normal; /* its value by default */
    long         small;  /* its value under --small */
    long         min, max;
    const char **text;    /* where a text goes; holds the default or NULL */
    const char  *choices; /* NULL: any text; or "S|W|A" */
    const char  *little;  /* the text under --small; NULL: no other */
};

/* One row, for a number. */
#define APP_NUMBER(letter, name, variable, normal, small, min, max, help)  \
    {                                                                      \
        letter, name, help, variable, normal, small, min, max, NULL, NULL, \
            NULL                                                           \
    }

/* One row, for a text. */
#define APP_TEXT(letter, name, variable, choices, small, help)         \
    {                                                                  \
        letter, name, help, NULL, 0, 0, 0, 0, variable, choices, small \
    }

struct app_run;

struct app {
    const char              *name;  /* "sor": the program is hearth-sor */
    const char              *about; /* one line for --help */
    const struct app_option *options;
    size_t                   option_count;
    /* Complain about values that do not fit together, this number of ranks,
     * or a file: a message, or NULL.  Rank 0 is asked.  May be NULL. */
    const char *(*check)(const struct app_run *run);
    void (*run)(struct app_run *run);
    void (*run_mpi)(struct app_run *run); /* NULL: no --mpi */
    bool saves; /* --checkpoint: it calls app_saved() and app_checkpoint() */
};

/* Pages are at home where the application wants them, or where they are
 * written first. */
enum { APP_HOMES = -1, APP_HOMES_FIRST = -2 };

/* One run, on one rank; filled before run() is called. */
struct app_run {
    const struct app *app;
    int               rank, ranks, nodes;
    bool              mpi;        /* plain MPI: no Hearth call may be made */
    bool              verify;     /* the application calls app_verdict() */
    bool              small;      /* --small was given */
    long              home;       /* --home: a rank, or one of APP_HOMES */
    const char       *checkpoint; /* --checkpoint: a folder, or NULL */
    bool              failed;     /* what app_verdict() found here */
    bool              tty;        /* progress is shown, here */
    double            started;    /* app_start() */
    double            shown;      /* last progress */
    double            seconds;    /* app_stop() */
    double           *slots;      /* Hearth: a shared number per rank */
    char              fields[512];
};

/* The whole program; returns the exit status. */
int app_main(const struct app *app, int argc, char **argv);

/* Begin and end the timed section, which is what Hearth's statistics are
 * about, too; both are collective and are barriers. */
void app_start(struct app_run *run);
void app_stop(struct app_run *run);

/* Show how far rank 0 is, if its stderr is a terminal. */
void app_progress(struct app_run *run, const char *what, long done,
                  long total);

/*
 * Verdict of --verify, from any rank; one that is not ok also prints a line
 * that says why.  The run failed if any rank says so.
 */
void app_verdict(struct app_run *run, bool ok, const char *format, ...)
    APP_PRINTF(3, 4);

/*
 * What this rank needs to go on, under a name: true if it is there from a run
 * that was interrupted (HEARTH_RESTART), else the application begins.  False
 * without --checkpoint.
 */
bool app_saved(const struct app_run *run, void *p, size_t bytes,
               const char *name);

/* So many of so many steps are done, and what was registered says so: each
 * tenth of the run is saved.  Collective, and a barrier where it does. */
void app_checkpoint(const struct app_run *run, long done, long total);

/* Add " key=value" to the result line. */
void app_field(struct app_run *run, const char *format, ...) APP_PRINTF(2, 3);

/* Where --verify makes a sequential run in private memory: begin and end what
 * would be its timed section.  The result line says how long it took, which
 * tells what sharing costs a single rank. */
void app_sequential_start(struct app_run *run);
void app_sequential_stop(struct app_run *run);

/* Wait for all ranks; maximum over all ranks.  Collective. */
void   app_barrier(const struct app_run *run);
double app_max(struct app_run *run, double value);

#define APP_PI 3.14159265358979323846

/* Of two errors, the larger one; a NaN stays, unlike with fmax(). */
static inline double
app_worse(double most, double other)
{
    return most != most || other <= most ? most : other;
}

/* End the job with one line: what cannot be done on this rank. */
void app_fail(const struct app_run *run, const char *format, ...)
    APP_PRINTF(2, 3) APP_NORETURN;

/* Lock i of those that cost a rank least if it is the one that takes them.
 * There are HEARTH_LOCKS in all, so from some i on it is one of those before.
 */
int app_lock(const struct app_run *run, int rank, size_t i);

/* Private memory for count elements, cache-aligned and zero-filled. */
void *app_private(const struct app_run *run, size_t count, size_t size);

/* Shared memory, or with --home all of it at home where that says. */
void *app_alloc(const struct app_run *run, size_t count, size_t size,
                hearth_layout layout);

/* The home of a place in a shared array of so many bytes, whose layout must be
 * hearth_block(): that without --home, which changes where pages are and not
 * who works on them. */
int app_home(const struct app_run *run, const void *base, size_t bytes,
             const void *at);

/* The first row of such an array that begins at home on a rank or a later
 * one. */
size_t app_home_first(const struct app_run *run, const void *base, size_t rows,
                      size_t row_bytes, int rank);

/*
 * The rows of such an array that begin at home on this rank, [*first,
 * *last): a rank that computes these stores to its own memory only.
 */
void app_home_rows(const struct app_run *run, const void *base, size_t rows,
                   size_t row_bytes, size_t *first, size_t *last);

/* For the MPI versions: part r of p nearly equal ones of n. */
static inline size_t
app_part(size_t n, int r, int p)
{
    return n / (size_t)p * (size_t)r + n % (size_t)p * (size_t)r / (size_t)p;
}

/* Bytes in a page of the heap. */
size_t app_page_size(const struct app_run *run);

/*
 * Number i of a fixed pseudo-random sequence, in [0, 1): every rank and both
 * versions can make any element of the input.  The finaliser of SplitMix64
 * (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
 * OOPSLA 2014).
 */
static inline double
app_random(uint64_t i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

#endif
