/* SPDX-License-Identifier: BSD-2-Clause
 *
 * start none|single|funneled|serialized|multiple -- start Hearth with MPI not
 * initialised, or initialised at that thread level, use it, stop it, and see
 * that MPI is left as it was found.  If MPI was initialised Hearth is started
 * twice, the second time with MPI_TEST_STATS, if that is set, as HEARTH_STATS.
 */
#include <hearth/hearth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
level_of(const char *name)
{
    if (strcmp(name, "single") == 0)
        return MPI_THREAD_SINGLE;
    if (strcmp(name, "funneled") == 0)
        return MPI_THREAD_FUNNELED;
    if (strcmp(name, "serialized") == 0)
        return MPI_THREAD_SERIALIZED;
    return MPI_THREAD_MULTIPLE;
}

static void
fail(const char *what)
{
    fprintf(stderr, "start: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void
use(void)
{
    int      size = hearth_size(), me = hearth_rank();
    int64_t  sum = 0;
    int64_t *p = hearth_alloc((size_t)size * 512, sizeof *p, hearth_cyclic(1));

    for (int k = 0; k < 3; k++) {
        p[(size_t)((me + k) % size) * 512 + (size_t)me] = me + k;
        hearth_barrier();
    }
    hearth_lock(1);
    p[100]++;
    hearth_unlock(1);
    hearth_barrier();
    for (int r = 0; r < size; r++)
        for (int i = 0; i < size; i++)
            sum += p[(size_t)r * 512 + (size_t)i];
    if (p[100] != size)
        fail("updates under a lock were lost");
    for (int k = 0; k < 3 && k < size; k++)
        for (int r = 0; r < size; r++)
            sum -= size >= 3 ? r + k : 0;
    if (size >= 3 && sum != 0)
        fail("writes were lost");
    hearth_free(p);
}

int
main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "none";
    bool        own = strcmp(name, "none") != 0;
    int         want = level_of(name), got = want, down, level;
    const char *ranks = getenv("MPI_TEST_NP");
    const char *again = getenv("MPI_TEST_STATS");

    if (own)
        MPI_Init_thread(&argc, &argv, want, &got);
    hearth_init(MPI_COMM_WORLD);
    if (ranks != NULL && hearth_size() != atoi(ranks))
        fail("the launcher is not of this MPI");
    MPI_Query_thread(&level);
    if (own && level != got)
        fail("the thread level has changed");
    use();
    hearth_finalize();
    MPI_Finalized(&down);
    if (down == own) {
        fprintf(stderr, "start: MPI was not left as it was found\n");
        return 1;
    }
    if (own) {
        if (again != NULL)
            setenv("HEARTH_STATS", again, 1);
        hearth_init(MPI_COMM_WORLD);
        use();
        hearth_finalize();
        MPI_Finalize();
    }
    return 0;
}
