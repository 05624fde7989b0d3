/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Small programs for races.tap, each with one race and without it:
 * `racing CASE` and `racing CASE mended`.  Which of two stores comes first is
 * forced by messages of MPI between the ranks, which order nothing in the heap
 * without hearth_release() and hearth_acquire(); most cases need none, since
 * what orders two intervals does not depend on the time.  Each store changes
 * what its rank sees there.
 *
 * Most cases race on element AT of `cell`, which rank 0 is home of.
 */
#include <hearth/hearth.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 4096, AT = 3, BESIDE = 5 };

/* Of 63 bytes. */
#define NINE         "nnnnnnnnn"
#define LONGEST_NAME NINE NINE NINE NINE NINE NINE NINE

static int      me, ranks;
static bool     mended;
static int64_t *cell; /* of 8 bytes each */

/* What rank `from` did so far happened before what rank `to` does next, and
 * Hearth is told of nothing. */
static void
then(int from, int to)
{
    char c = 0;

    if (me == from)
        MPI_Send(&c, 1, MPI_CHAR, to, 0, MPI_COMM_WORLD);
    if (me == to)
        MPI_Recv(&c, 1, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void
store(int rank, int at)
{
    if (me == rank)
        cell[at] = 1000 + 7 * me;
}

static void
locked(int rank, int lock, int at)
{
    if (me != rank)
        return;
    hearth_lock(lock);
    store(rank, at);
    hearth_unlock(lock);
}

/* ---- barriers ---- */

static void
barrier(void)
{
    store(0, AT);
    if (mended)
        hearth_barrier();
    store(1, AT);
}

/* Each rank in turn stores to all cells, of all homes. */
static void
turns(void)
{
    for (int t = 0; t < 2 * ranks; t++) {
        if (t % ranks == me)
            for (int i = 0; i < CELLS; i++)
                cell[i] = 100 * t + i + 1;
        if (mended)
            hearth_barrier();
    }
}

/* Blocks of a row, of which one rank's is one too long. */
static void
halo(void)
{
    int each = CELLS / ranks, first = me * each, end = first + each;

    if (me == 0 && !mended)
        end++;
    for (int i = first; i < end; i++)
        cell[i] = i + 100000 * (me + 1);
}

/* Two rows of ints in one page, and stores that meet in a row only where each
 * rank's half was taken for all of it. */
static void
rows(void)
{
    int32_t(*row)[64] = hearth_alloc(2, sizeof *row, hearth_on(1));

    hearth_name(row, LONGEST_NAME "x"); /* of which the end is not told */
    for (int i = 0; i < 64; i++)
        if (me < 2 && (!mended || i / 32 == me))
            row[0][i] = i + 1 + 100 * me;
    hearth_free(row);
}

/* ---- bytes ---- */

static void
sharing(void)
{
    if (me < 2)
        cell[mended ? AT + me : AT] = me + 1;
}

/* Halves of a word: of elements of 4 bytes they are two ranks' to write. */
static void
halves(void)
{
    size_t   size = mended ? 4 : 8;
    int32_t *half = hearth_alloc(CELLS, size, hearth_block());

    hearth_name(half, LONGEST_NAME);
    if (me < 2)
        half[6 + me] = me + 1;
    hearth_free(half);
}

static void
chars(void)
{
    char *text = hearth_alloc(CELLS, 1, hearth_on(1));

    hearth_name(text, "text");
    if (me < 2)
        text[mended ? 9 + me : 9] = (char)('a' + me);
    hearth_free(text);
}

/* A copy of a struct that reaches over what another rank writes. */
static void
copies(void)
{
    struct three {
        int64_t a, b, c;
    } mine = { me + 1, me + 11, me + 111 };

    if (me == 0)
        memcpy(&cell[AT - 1], &mine, mended ? sizeof mine.a : sizeof mine);
    store(1, AT);
}

/* Both ranks see what is there already, and a store of that changes nothing.
 */
static void
same(void)
{
    if (me == 0)
        cell[AT] = 17;
    hearth_barrier();
    if (me < 2)
        cell[AT] = mended ? 17 : 18 + me;
}

/* ---- locks ---- */

static void
lock(void)
{
    int second = mended ? 1 : 2;

    locked(0, 1, AT);
    then(0, 1);
    locked(1, second, AT);
}

static void
one_side(void)
{
    locked(0, 1, AT);
    then(0, 1);
    if (mended)
        locked(1, 1, AT);
    else
        store(1, AT);
}

/* Lock 1 orders the section of rank 1 before that of rank 0, and not what rank
 * 1 stores behind it. */
static void
behind(void)
{
    if (me == 1) {
        hearth_lock(1);
        if (mended)
            store(1, AT);
        hearth_unlock(1);
    }
    then(1, 0);
    locked(0, 1, AT);
    then(0, 1);
    if (!mended)
        store(1, AT);
}

static void
reduction(void)
{
    double *sum = hearth_alloc(1, sizeof *sum, hearth_on(0));

    hearth_name(sum, "sum");
    if (mended)
        hearth_lock(4);
    *sum += 1.5 * (me + 1);
    if (mended)
        hearth_unlock(4);
    hearth_barrier();
    hearth_free(sum);
}

static void
tries(void)
{
    if (mended)
        while (me < 2 && !hearth_trylock(9))
            ;
    if (me < 2)
        store(me, AT);
    if (mended && me < 2)
        hearth_unlock(9);
}

static void
named(void)
{
    if (mended)
        hearth_lock(hearth_lock_of(&cell[AT]));
    if (me < 2)
        store(me, AT);
    if (mended)
        hearth_unlock(hearth_lock_of(&cell[AT]));
}

/* Rank 0, then 1, then 2: the first two by lock 1, the others by lock 2. */
static void
chain(void)
{
    int last = ranks - 1;

    locked(0, 1, AT);
    then(0, 1);
    locked(1, 1, BESIDE);
    locked(1, 2, BESIDE);
    then(1, last);
    if (me == last)
        locked(last, mended || ranks == 2 ? 2 : 3, AT);
    if (ranks == 2 && !mended)
        store(0, BESIDE);
}

/* What two ranks do under a lock each arrives at the home in the middle of
 * what that stores itself, side by side. */
static void
home(void)
{
    for (int i = 0; i < 6; i++) {
        if (me == 0)
            cell[AT] = 50 + i;
        together();
        if (me == 1) {
            hearth_lock(1);
            cell[mended ? AT + 1 : AT] = 70 + i;
            hearth_unlock(1);
        }
        together();
        if (me == 0) {
            cell[AT + 2] = i + 1;
            hearth_lock(2);
            hearth_unlock(2);
        }
        together();
    }
}

static void
cond(void)
{
    if (me == 0) {
        hearth_lock(1);
        cell[BESIDE] = 1;
        if (mended)
            store(0, AT);
        hearth_cond_signal(1);
        hearth_unlock(1);
        if (!mended)
            store(0, AT);
    }
    if (me == 1) {
        hearth_lock(1);
        while (cell[BESIDE] == 0)
            hearth_cond_wait(1, 1);
        store(1, AT);
        hearth_unlock(1);
    }
}

/* More sections, each in a place of its own, than a rank keeps places of. */
static void
many(void)
{
    int lock = mended ? 1 : me + 1, at = 0;

    if (me > 1)
        return;
#define TEN(x) x x x x x x x x x x
#define SECTION        \
    hearth_lock(lock); \
    store(me, at++);   \
    hearth_unlock(lock);
    TEN(TEN(TEN(SECTION SECTION)))
    TEN(TEN(SECTION))
}

/* ---- flags, reader-writer locks, teams, messages ---- */

static void
flag(void)
{
    if (me == 0) {
        if (mended)
            store(0, AT);
        hearth_flag_set(1);
        if (!mended)
            store(0, AT);
    }
    if (me == 1) {
        hearth_flag_wait(1);
        store(1, AT);
    }
}

/* Readers are inside at the same time. */
static void
readers(void)
{
    if (!mended) {
        hearth_rdlock(1);
        together();
        if (me < 2)
            store(me, AT);
        together();
        hearth_rwunlock(1);
    } else {
        hearth_wrlock(1);
        if (me < 2)
            store(me, AT);
        hearth_rwunlock(1);
    }
}

static void
team(void)
{
    MPI_Comm     two;
    hearth_team *t;

    MPI_Comm_split(MPI_COMM_WORLD, me < 2, me, &two);
    t = hearth_team_of(two);
    store(0, AT);
    if (mended)
        hearth_team_barrier(t);
    store(1, AT);
    hearth_team_free(t);
    MPI_Comm_free(&two);
}

static void
message(void)
{
    store(0, AT);
    if (me == 0 && mended)
        hearth_release(&cell[AT], sizeof *cell);
    then(0, 1);
    if (me == 1 && mended)
        hearth_acquire(&cell[AT], sizeof *cell);
    store(1, AT);
}

/* MPI stores what it receives. */
static void
receive(void)
{
    int64_t out[2] = { 5, 6 };

    if (me == 1)
        MPI_Send(out, mended ? 1 : 2, MPI_INT64_T, 0, 1, MPI_COMM_WORLD);
    if (me == 0)
        MPI_Recv(&cell[AT], mended ? 1 : 2, MPI_INT64_T, 1, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    store(1, AT + 1);
}

static void
atomics(void)
{
    if (mended)
        hearth_fetch_add(&cell[AT], me + 1);
    else if (me < 2)
        cell[AT] += me + 1;
}

/* A word that one rank steps on, and another stores to. */
static void
mixed(void)
{
    if (me == 0)
        hearth_fetch_add(&cell[AT], 5);
    if (me == 1)
        hearth_add(&cell[BESIDE], 5);
    if (mended)
        hearth_barrier();
    store(1, AT);
    store(0, BESIDE);
}

/* ---- memory that is used again ---- */

/* Rank 1 is done with an object, by a lock; the rank that has it from the
 * allocator then is ordered by that, and by nothing of the program's. */
static void
reuse(void)
{
    enum { OBJECTS = 200, BYTES = 64 };
    int64_t *p[OBJECTS];

    for (int i = 0; me == 0 && i < OBJECTS; i++)
        p[i] = hearth_malloc(BYTES);
    MPI_Bcast(p, sizeof p, MPI_BYTE, 0, MPI_COMM_WORLD);
    hearth_barrier();
    for (int i = 0; me == 1 && i < OBJECTS; i++)
        *p[i] = i + 1;
    for (int i = 0; me == 1 && i < OBJECTS && mended; i++)
        hearth_free(p[i]);
    if (me == 1)
        hearth_collect();
    then(1, 0);
    if (me == 0)
        hearth_collect();
    for (int i = 0; me == 0 && i < OBJECTS; i++) {
        if (mended)
            p[i] = hearth_malloc(BYTES);
        *p[i] = i + 1001;
    }
}

/* The same memory for the next collective allocation. */
static void
again(void)
{
    int64_t *p = hearth_alloc(CELLS, sizeof *p, hearth_on(0));

    hearth_name(p, "first");
    if (me == 0)
        p[AT] = 1;
    if (me == 1 && !mended)
        p[AT] = 2;
    hearth_free(p);
    p = hearth_alloc(CELLS, sizeof *p, hearth_on(0));
    if (me == 1)
        p[AT] = 3;
    hearth_free(p);
}

static void
overwrite(void)
{
    int64_t *p = hearth_alloc(CELLS, sizeof *p, hearth_on(0));
    int      half = CELLS / 2;

    hearth_name(p, "over");
    if (me < 2) {
        hearth_overwrite(p + me * half, (size_t)half * sizeof *p);
        for (int i = 0; i < half + (me == 0 && !mended); i++)
            p[me * half + i] = i + 1 + me;
    }
    hearth_free(p);
}

static const struct {
    const char *name;
    void (*run)(void);
} all[] = {
    { "barrier", barrier },     { "turns", turns },
    { "halo", halo },           { "rows", rows },
    { "sharing", sharing },     { "halves", halves },
    { "chars", chars },         { "copies", copies },
    { "same", same },           { "lock", lock },
    { "one_side", one_side },   { "behind", behind },
    { "reduction", reduction }, { "tries", tries },
    { "named", named },         { "chain", chain },
    { "home", home },           { "cond", cond },
    { "flag", flag },           { "readers", readers },
    { "team", team },           { "message", message },
    { "receive", receive },     { "atomics", atomics },
    { "mixed", mixed },         { "reuse", reuse },
    { "again", again },         { "overwrite", overwrite },
    { "many", many },
};

static void
run(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            all[i].run();
}

int
main(int argc, char **argv)
{
    if (argc < 2) { /* their names */
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            printf("%s\n", all[i].name);
        return 0;
    }
    mended = argc > 2;
    setlocale(LC_NUMERIC, ""); /* as many programs do */
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    ranks = hearth_size();
    cell = hearth_alloc(CELLS, sizeof *cell, hearth_block());
    hearth_name(cell, "cell");
    hearth_barrier();
    run(argv[1]);
    hearth_barrier();
    hearth_free(cell);
    hearth_finalize();
    return 0;
}
