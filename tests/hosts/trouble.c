/* SPDX-License-Identifier: BSD-2-Clause
 *
 * trouble SECONDS -- count together under locks, and tell each other numbers
 * at barriers, for so long.  Rank 0 says "right" if nothing was lost, and
 * "done".
 *
 * trouble late -- rank 0 keeps a lock for which the others wait, and is late
 * at a barrier.
 *
 * MPI_TEST_PROCESSES begins the names of files in which each rank says which
 * process it is, so that trouble.tap can stop or end it in the midst of that:
 * *.starts.RANK before it calls hearth_init, and *.works.RANK behind that.
 */
#include <hearth/hearth.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOCKS = 3, WORDS = 512 }; /* of a page */

static int      me, ranks;
static int64_t *sum;  /* of each lock */
static int64_t *page; /* of each rank: written by the rank before it */

static int64_t *
page_of(int rank)
{
    return page + (size_t)rank % (size_t)ranks * WORDS;
}

static void
fail(const char *what, long round, int64_t got)
{
    fprintf(stderr, "trouble: rank %d, round %ld: %s, but %lld\n", me, round,
            what, (long long)got);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void
step(long round)
{
    int lock = (int)(round + me) % LOCKS;

    hearth_lock(lock);
    sum[lock]++;
    hearth_unlock(lock);
    page_of(me + 1)[round % WORDS] = round;
    hearth_barrier();
    for (int r = 0; r < ranks; r++)
        if (page_of(r)[round % WORDS] != round)
            fail("not the number of this round", round,
                 page_of(r)[round % WORDS]);
}

static void
work(double seconds)
{
    int64_t *more = hearth_alloc(1, sizeof *more, hearth_on(0)), total = 0;
    double   end = MPI_Wtime() + seconds;
    long     round = 0;

    do {
        step(++round);
        if (me == 0)
            *more = MPI_Wtime() < end;
        hearth_barrier();
    } while (*more);
    for (int i = 0; i < LOCKS; i++)
        total += sum[i];
    if (total != (int64_t)round * ranks)
        fail("not what all have counted", round, total);
    if (me == 0)
        printf("right after %ld rounds\n", round);
}

static void
late(void)
{
    if (me == 0)
        hearth_lock(0);
    hearth_barrier();
    if (me == 0)
        sleep(3);
    else
        hearth_lock(0);
    hearth_unlock(0);
    if (me == 0)
        sleep(2);
    hearth_barrier();
}

/* A file that is there is whole, as a line that goes by launchers of several
 * hosts may not be. */
static void
process_say(const char *what)
{
    const char *begin = getenv("MPI_TEST_PROCESSES");
    char        name[256], part[256];
    FILE       *f;

    if (begin == NULL)
        return;
    snprintf(name, sizeof name, "%s.%s.%d", begin, what, me);
    snprintf(part, sizeof part, "%s.part.%d", begin, me);
    f = fopen(part, "w");
    if (f == NULL || fprintf(f, "%ld\n", (long)getpid()) < 0 ||
        fclose(f) != 0 || rename(part, name) != 0)
        perror(name);
}

int
main(int argc, char **argv)
{
    const char *want = getenv("MPI_TEST_NP");
    int         level;

    /* MPICH's launcher, told not to clean up, sends it when a rank has died.
     */
    signal(SIGUSR1, SIG_IGN);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    process_say("starts");
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    ranks = hearth_size();
    if (want != NULL && atoi(want) != ranks)
        fail("not as many ranks as were asked for", 0, ranks);
    process_say("works");
    sum = hearth_alloc(LOCKS, sizeof *sum, hearth_on(ranks - 1));
    page = hearth_alloc((size_t)ranks * WORDS, sizeof *page, hearth_cyclic(1));
    hearth_barrier();
    if (argc > 1 && strcmp(argv[1], "late") == 0)
        late();
    else
        work(argc > 1 ? atof(argv[1]) : 1);
    hearth_finalize();
    if (me == 0)
        printf("done\n");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
