/* SPDX-License-Identifier: BSD-2-Clause
 *
 * random [--seconds S] [--seed N] [--world W] [--worlds K] [--blind]
 *        [--verbose] [--kill RANK] [--after S]
 *
 * Run worlds drawn from a seed for some seconds; see random.h.  Each rank
 * prints what is wrong, with the seed, and ends the job.  --world starts at
 * another number than 0, --worlds ends after so many, --kill kills a rank
 * after so many seconds.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "random.h"
#include "scene.h"
#include "watch.h"

struct run {
    double   seconds, after;
    uint64_t seed, first, count;
    int      kill; /* rank, or -1 */
    bool     blind, verbose;
};

static void
value_read(struct run *run, const char *name, const char *value)
{
    if (strcmp(name, "--seconds") == 0)
        run->seconds = atof(value);
    else if (strcmp(name, "--seed") == 0)
        run->seed = strtoull(value, NULL, 0);
    else if (strcmp(name, "--world") == 0)
        run->first = strtoull(value, NULL, 0);
    else if (strcmp(name, "--worlds") == 0)
        run->count = strtoull(value, NULL, 0);
    else if (strcmp(name, "--kill") == 0)
        run->kill = atoi(value);
    else if (strcmp(name, "--after") == 0)
        run->after = atof(value);
}

static void
arguments_read(struct run *run, int argc, char **argv)
{
    const char *seconds = getenv("MPI_TEST_SECONDS");
    const char *seed = getenv("MPI_TEST_SEED");

    *run = (struct run){ .seconds = seconds == NULL ? 10 : atof(seconds),
                         .seed = seed == NULL ? (uint64_t)time(NULL)
                                              : strtoull(seed, NULL, 0),
                         .count = UINT64_MAX,
                         .kill = -1 };
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool        flag = true;

        if (strcmp(argv[i], "--blind") == 0)
            run->blind = true;
        else if (strcmp(argv[i], "--verbose") == 0)
            run->verbose = true;
        else
            flag = false;
        if (flag)
            continue;
        value_read(run, argv[i], value);
        i++;
    }
}

static void
require_world_size(void)
{
    const char *want = getenv("MPI_TEST_NP");
    int         size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (want == NULL || atoi(want) == size)
        return;
    printf("Bail out! %d ranks instead of %s: launcher and library are not "
           "the same MPI\n",
           size, want);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 99);
}

/* Rank 0 has the clock. */
static bool
go_on(const struct run *run, double start, uint64_t done)
{
    int more = done < run->count && MPI_Wtime() - start < run->seconds;

    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
}

/* One world may take minutes: it ends early, with an epoch, where all of them
 * shall take much less, and their number was not asked for. */
static double
latest(const struct run *run, double start)
{
    enum { LONGEST = 5 };

    return run->count == UINT64_MAX ? start + LONGEST * run->seconds
                                    : HUGE_VAL;
}

static uint64_t
worlds_run(const struct run *run, bool threads, int rank)
{
    double   start = MPI_Wtime();
    uint64_t done = 0;

    while (go_on(run, start, done)) {
        if (run->verbose && rank == 0)
            fprintf(stderr, "random: seed %llu, world %llu\n",
                    (unsigned long long)run->seed,
                    (unsigned long long)(run->first + done));
        world_run(run->seed, run->first + done++, threads, latest(run, start));
    }
    return done;
}

int
main(int argc, char **argv)
{
    const char *level = getenv("MPI_TEST_THREADS");
    int         want = MPI_THREAD_MULTIPLE, rank;
    struct run  run;
    uint64_t    worlds;

    if (level != NULL && strcmp(level, "multiple") != 0)
        want = MPI_THREAD_FUNNELED;
    MPI_Init_thread(&argc, &argv, want, &want);
    require_world_size();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    arguments_read(&run, argc, argv);
    MPI_Bcast(&run, sizeof run, MPI_BYTE, 0, MPI_COMM_WORLD);
    oracle_open(run.blind);
    watch_start(rank);
    if (rank == run.kill)
        watch_kill(run.after);
    scenes_choose(getenv("MPI_TEST_SCENES"));
    worlds = worlds_run(&run, want == MPI_THREAD_MULTIPLE, rank);
    tally_print();
    if (rank == 0)
        printf("1..1\n"
               "ok - worlds without a wrong byte: %llu (seed %llu%s)\ndone\n",
               (unsigned long long)worlds, (unsigned long long)run.seed,
               oracle == NULL ? ", blind" : "");
    fflush(stdout);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
