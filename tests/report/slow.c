/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Programs with one classical fault each, and the same ones mended, for
 * report.tap: `slow FAULT` and `slow FAULT mended`.  The lines that are to be
 * named end with a comment that says so: the script looks for it.  Nothing
 * here depends on how fast the machine is: what a rule looks for is counted,
 * and where it is time, one that no machine makes short.
 */
#include <dlfcn.h>
#include <hearth/hearth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int           me, ranks;
static bool          mended;
static volatile long seen; /* so that what is loaded is used */

static long
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
work(long ms)
{
    for (long end = now_ms() + ms; now_ms() < end;)
        ;
}

/* Counters of all ranks side by side, or those of each rank together. */
static void
counters(void)
{
    enum { TURNS = 20, EACH = 1 << 15 };
    size_t        n = (size_t)ranks * EACH;
    hearth_layout l = hearth_block();
    long         *count;

    count = hearth_alloc(n, sizeof *count, l); /* allocates: counters */
    hearth_name(count, "count");
    for (int t = 0; t < TURNS; t++) {
        for (int i = 0; i < EACH; i++) {
            int at = mended ? me * EACH + i : i * ranks + me;

            count[at] += t; /* touches: counters */
        }
        hearth_barrier();
    }
    hearth_free(count);
}

/* Each rank has a part of its own, and rank 0 is home to all. */
static void
homes(void)
{
    enum { TURNS = 12, EACH = 1 << 16 };
    size_t        n = (size_t)ranks * EACH;
    hearth_layout l = mended ? hearth_block() : hearth_on(0);
    double *grid = hearth_alloc(n, sizeof *grid, l); /* allocates: homes */

    hearth_name(grid, "grid");
    for (int t = 0; t < TURNS; t++) {
        for (size_t i = 0; i < EACH; i++)
            grid[(size_t)me * EACH + i] += t; /* touches: homes */
        hearth_barrier();
    }
    hearth_free(grid);
}

/* A turn at what a lock guards: each rank but the last, which is its home, has
 * one in its turn, and looks for it again and again.  So the lock goes from
 * rank to rank for each, however fast the machine is and whatever runs beside
 * it.  The first words are stored to; the first of all is whose turn it is,
 * or less than 0 when it is over. */
static bool
turn_take(long *word, int words, bool over)
{
    enum { TURNS = 320 };
    long now;

    hearth_lock(7); /* touches: lock */ /* touches: word */
    now = word[0];
    if (now >= 0 && now % (ranks - 1) == me)
        for (int i = 0; i < words; i++)
            word[i] = over && now >= TURNS ? -1 : now + 1;
    hearth_unlock(7);
    return now >= 0;
}

/* For half a second at least, so that nothing else takes as long. */
static void
turns(int words)
{
    enum { LEAST_MS = 500 };
    long *sum = hearth_alloc(8, sizeof *sum, hearth_on(ranks - 1));
    long  begun = now_ms();

    hearth_name(sum, "sum");
    while (!mended && me < ranks - 1 &&
           turn_take(sum, words, me == 0 && now_ms() - begun > LEAST_MS))
        ;
    for (int i = 0; mended && i < 1000; i++)
        hearth_fetch_add(sum, 1);
    hearth_lock(7);
    sum[1] += me;
    hearth_unlock(7);
    hearth_barrier();
    hearth_free(sum);
}

static void
lock(void)
{
    turns(8);
}

/* All that it guards is one word. */
static void
word(void)
{
    turns(1);
}

/* Rank 1 has twelve times as much to do, or each rank in its turn.  It sleeps,
 * as that takes no longer where other programs run beside it. */
static void
late(void)
{
    enum { TURNS = 12 };

    for (int i = 0; i < TURNS; i++) {
        struct timespec some = { .tv_nsec = 8000000 };

        if (me == (mended ? i % ranks : 1))
            some.tv_nsec *= 12;
        nanosleep(&some, NULL);
        hearth_barrier(); /* touches: late */
    }
}

/* A matrix by rows, of which each rank has columns. */
static void
columns(void)
{
    enum { TURNS = 8, SIDE = 512 };
    const size_t  n = SIDE * SIDE;
    hearth_layout l = hearth_block();
    double       *matrix;
    int           low = me * SIDE / ranks, high = (me + 1) * SIDE / ranks;

    matrix = hearth_alloc(n, sizeof *matrix, l); /* allocates: columns */
    hearth_name(matrix, "matrix");
    for (int t = 0; t < TURNS; t++) {
        for (int a = low; a < high; a++)
            for (int b = 0; b < SIDE; b++) {
                int at = mended ? a * SIDE + b : b * SIDE + a;

                matrix[at] += t; /* touches: columns */
            }
        hearth_barrier();
    }
    hearth_free(matrix);
}

/* What takes long is done under the lock, or before it. */
static void
held(void)
{
    enum { TURNS = 25, LONG_MS = 20 };
    long *sum = hearth_alloc(1, sizeof *sum, hearth_on(0));

    for (int i = 0; i < TURNS; i++) {
        if (mended)
            work(LONG_MS);
        hearth_lock(3); /* touches: held */
        if (!mended)
            work(LONG_MS);
        *sum += i;
        hearth_unlock(3);
    }
    hearth_barrier();
    hearth_free(sum);
}

/* A table that is read again and again, and does not fit the cache, but where
 * that is larger. */
static void
cache(void)
{
    enum { TURNS = 6, WORDS = 1 << 20 };
    hearth_layout l = hearth_on(0);
    const long   *table;

    table = hearth_alloc(WORDS, sizeof *table, l); /* allocates: cache */
    hearth_name(table, "table");
    for (int t = 0; t < TURNS && me > 0; t++)
        for (int i = 0; i < WORDS; i += 64)
            seen += table[i];
    hearth_barrier();
}

/* Most stores leave the word as it was. */
static void
same(void)
{
    enum { TURNS = 30, WORDS = 1 << 18 };
    hearth_layout l = hearth_on(0);
    long         *state;

    state = hearth_alloc(WORDS, sizeof *state, l); /* allocates: same */
    hearth_name(state, "state");
    for (int t = 0; t < TURNS; t++) {
        for (int i = 0; i < WORDS && me > 0; i++)
            if (!mended || state[i] != 0)
                state[i] = 0; /* touches: same */
        hearth_barrier();
    }
    hearth_free(state);
}

/* A word of each rank, all in one page or each in a page of its own. */
static void
page(void)
{
    enum { TURNS = 60 };
    size_t        bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t        apart = bytes / sizeof(long) / (mended ? 1 : 4);
    size_t        n = (size_t)ranks * apart;
    hearth_layout l = hearth_block();
    long         *tally;

    tally = hearth_alloc(n, sizeof *tally, l); /* allocates: page */
    hearth_name(tally, "tally");
    for (int t = 0; t < TURNS; t++) {
        tally[(size_t)me * apart] += t; /* touches: page */
        hearth_barrier();
    }
    hearth_free(tally);
}

static void
flag_take(int flag)
{
    hearth_flag_wait(flag); /* touches: flag */
    hearth_flag_reset(flag);
}

/* Numbers go from one rank to the other one by one, for half a second at
 * least, or many at a time. */
static void
numbers_send(long *number, int step)
{
    enum { NUMBERS = 320, LEAST_MS = 500 };
    long begun = now_ms();
    bool over = false;

    for (int i = 0; !over; i += step) {
        over = i + step >= NUMBERS && (mended || now_ms() - begun > LEAST_MS);
        for (int k = 0; k < step; k++)
            number[k] = over ? -1 : i + k;
        hearth_flag_set(0);
        flag_take(1);
    }
}

static void
numbers_take(const long *number, int step)
{
    long last;

    do {
        flag_take(0);
        last = number[0];
        for (int k = 0; k < step; k++)
            seen += number[k];
        hearth_flag_set(1);
    } while (last >= 0);
}

static void
flag(void)
{
    enum { MANY = 160 };
    long *number = hearth_alloc(MANY, sizeof *number, hearth_on(0));

    if (me == 0)
        numbers_send(number, mended ? MANY : 1);
    else
        numbers_take(number, mended ? MANY : 1);
    hearth_barrier();
    hearth_free(number);
}

/* A table that is asked for page by page, or at once. */
static void
prefetch(void)
{
    enum { PAGES = 1024 };
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    char  *table = hearth_alloc(PAGES, bytes, hearth_on(0));

    if (mended && me > 0)
        hearth_prefetch(table, PAGES * bytes);
    for (size_t i = 0; i < PAGES && me > 0; i++) {
        if (!mended)
            hearth_prefetch(table + i * bytes, 1); /* touches: prefetch */
        seen += table[i * bytes];
    }
    hearth_barrier();
    hearth_free(table);
}

/* One word is new in each turn, and copies of all that is there are dropped
 * for it, or of that one alone. */
static void
again(void)
{
    enum { TURNS = 40, WORDS = 1 << 15 };
    hearth_layout l = hearth_on(0);
    const long   *table, *news = hearth_alloc(1, sizeof *news, l);

    table = hearth_alloc(WORDS, sizeof *table, l); /* allocates: again */
    hearth_name(table, "table");
    for (int t = 0; t < TURNS && me > 0; t++) {
        hearth_acquire(mended ? news : NULL, mended ? sizeof *news : 0);
        seen += *news;
        for (int i = 0; i < WORDS; i++)
            seen += table[i]; /* touches: again */
    }
    hearth_barrier();
}

/* Numbers in memory that was allocated as bytes, or as numbers.  Two ranks
 * store to it by turns, and another is its home. */
static void
bytes(void)
{
    enum { TURNS = 24, WORDS = 1 << 14 };
    hearth_layout l = hearth_on(0);
    size_t        each = mended ? sizeof(long) : 1;
    size_t        n = WORDS * sizeof(long) / each;
    long         *number = hearth_alloc(n, each, l); /* allocates: bytes */

    hearth_name(number, "number");
    for (int t = 0; t < TURNS; t++) {
        for (int i = 0; i < WORDS && me == 1 + t % 2; i++)
            number[i] += 1; /* touches: bytes */
        hearth_barrier();
    }
    hearth_free(number);
}

/* More objects, one after the other, than a rank keeps allocations of; or so
 * few that all are shown. */
static void
objects(void)
{
    enum { MANY = 33000, FEW = 2000, BYTES = 100000 };

    for (int i = 0; i < (mended ? FEW : MANY); i++) {
        char *p = hearth_malloc(BYTES);

        *p = 1;
        hearth_free(p);
    }
    hearth_barrier();
}

/* More of them than a rank has room for, or as many. */
static void
locks(void)
{
    enum { MOST = 1024, MORE = 1100 };

    for (int i = 0; me == 0 && i < (mended ? MOST : MORE); i++) {
        hearth_lock(i);
        hearth_unlock(i);
    }
    hearth_barrier();
}

/* From more places of the program than a rank has room for, or from as many:
 * with the first barrier of main(), and that of the end, two are elsewhere. */
static void
barriers(void)
{
#define FIVE(x) x x x x x
#define BARRIER hearth_barrier();
    FIVE(FIVE(FIVE(BARRIER)))
    if (!mended) {
        FIVE(BARRIER)
    }
}

/* More pages with a cost than a rank hands in; or less. */
static void
pages(void)
{
    enum { MANY = 4500, FEW = 1000, WORDS = 512 };
    long *p = hearth_alloc((size_t)MANY * WORDS, sizeof *p, hearth_on(0));

    for (int i = 0; me == 1 && i < (mended ? FEW : MANY); i++)
        p[i * WORDS] += 1;
    hearth_barrier();
    hearth_free(p);
}

/* Stores of more instructions than a rank knows the cost of, each to a page of
 * its own; or of some hundred. */
static void
instructions(void)
{
    enum { MANY = 5 * 1250, STEP = 4096 };
    char          *p = hearth_alloc(MANY, STEP, hearth_on(0));
    volatile char *at = p;

#define STORE \
    *at = 1;  \
    at += STEP;
    if (me == 1) {
        FIVE(FIVE(FIVE(FIVE(STORE))))
    }
    if (me == 1 && !mended) {
        FIVE(FIVE(FIVE(FIVE(FIVE(STORE)))))
        FIVE(FIVE(FIVE(FIVE(STORE STORE))))
    }
    hearth_barrier();
    hearth_free(p);
}

/* More pages than a rank knows the cost of; or less. */
static void
known_pages(void)
{
    enum { MANY = 70000, FEW = 1000, STEP = 4096 };
    char *p = hearth_alloc(MANY, STEP, hearth_on(0));

    for (int i = 0; me == 1 && i < (mended ? FEW : MANY); i++)
        p[(size_t)i * STEP] = 1;
    hearth_barrier();
    hearth_free(p);
}

/* Stores of the code of more files than the report tells apart, of one rank
 * and of all; or of a few.  Rank 0 is home to what they store to.  Hearth
 * learns which files there are when it starts. */
enum { LIBRARIES = 140, SOME = 10, STEP = 4096 };

static void (*library[LIBRARIES])(volatile char *);

static int
libraries_each(void)
{
    return mended ? SOME : LIBRARIES;
}

static void
libraries_load(const char *folder)
{
    int level;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; me > 0 && i < libraries_each(); i++) {
        char  path[400];
        void *l, *touch;

        snprintf(path, sizeof path, "%s/touch.%d.so", folder,
                 (me - 1) * LIBRARIES + i);
        l = dlopen(path, RTLD_NOW);
        touch = l == NULL ? NULL : dlsym(l, "touch");
        if (touch == NULL) {
            fprintf(stderr, "slow: %s\n", dlerror());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        memcpy(&library[i], &touch, sizeof touch);
    }
}

static void
libraries(void)
{
    char *p = hearth_alloc((size_t)ranks * LIBRARIES, STEP, hearth_on(0));

    for (int i = 0; me > 0 && i < libraries_each(); i++)
        library[i](p + (size_t)(me * LIBRARIES + i) * STEP);
    hearth_barrier();
    hearth_free(p);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } fault[] = { { "counters", counters },
                  { "homes", homes },
                  { "lock", lock },
                  { "late", late },
                  { "columns", columns },
                  { "held", held },
                  { "cache", cache },
                  { "same", same },
                  { "page", page },
                  { "word", word },
                  { "flag", flag },
                  { "prefetch", prefetch },
                  { "again", again },
                  { "bytes", bytes },
                  { "objects", objects },
                  { "pages", pages },
                  { "locks", locks },
                  { "barriers", barriers },
                  { "instructions", instructions },
                  { "known_pages", known_pages },
                  { "libraries", libraries } };
    const char *folder = getenv("MPI_TEST_LIBRARIES");

    mended = argc > 2;
    if (folder != NULL)
        libraries_load(folder);
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    ranks = hearth_size();
    hearth_barrier();
    hearth_stats_start();
    for (size_t i = 0; argc > 1 && i < sizeof fault / sizeof *fault; i++)
        if (strcmp(argv[1], fault[i].name) == 0)
            fault[i].run();
    hearth_finalize();
    if (folder != NULL)
        MPI_Finalize();
    return 0;
}
