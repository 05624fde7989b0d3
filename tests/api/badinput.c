/* SPDX-License-Identifier: BSD-2-Clause
 *
 * badinput CASE -- do one thing that cannot be done.  badinput.tap runs each
 * case and looks at what is said and how the job ends.  A case that comes back
 * goes on to a barrier and hearth_finalize(), and the program ends with 0.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "badinput.h"

int me, last, slow = -1;

static void
work(const char *name)
{
    static const struct badinput *const tables[] = {
        badinput_allocs,  badinput_calls, badinput_holds,
        badinput_touches, badinput_ends,  badinput_losses,
        badinput_mallocs, badinput_fars
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct badinput *b = tables[i]; b->name != NULL; b++)
            if (strcmp(name, b->name) == 0) {
                b->work();
                return;
            }
    fprintf(stderr, "badinput: no case %s\n", name);
    exit(2);
}

/* Rank 0 is one group, all others are the other. */
static void
intercommunicator_give(void)
{
    MPI_Comm group, both;
    int      rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 0, &both);
    hearth_init(both);
}

int
main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const char *level = getenv("MPI_TEST_THREADS");
    int         want = MPI_THREAD_MULTIPLE;

    /* MPICH's launcher, told not to clean up, sends it when a rank has died.
     */
    signal(SIGUSR1, SIG_IGN);
    if (strcmp(name, "before_init") == 0)
        hearth_barrier();
    if (strcmp(name, "malloc_before_init") == 0)
        hearth_malloc(64);
    if (strcmp(name, "hold_before_init") == 0)
        hearth_hold(&me, sizeof me, HEARTH_READ);
    if (level != NULL && strcmp(level, "funneled") == 0)
        want = MPI_THREAD_FUNNELED;
    MPI_Init_thread(&argc, &argv, want, &want);
    if (strcmp(name, "before_init_with_mpi") == 0)
        hearth_alloc(1, 1, hearth_block());
    if (strcmp(name, "port_taken") == 0)
        port_take();
    if (strncmp(name, "fake_", 5) == 0)
        fake = name;
    if (getenv("BADINPUT_SLOW") != NULL)
        slow = atoi(getenv("BADINPUT_SLOW"));
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (strcmp(name, "null_communicator") == 0)
        hearth_init(MPI_COMM_NULL);
    if (strcmp(name, "intercommunicator") == 0)
        intercommunicator_give();
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    last = hearth_size() - 1;
    if (*fake == '\0' && strcmp(name, "port_taken") != 0)
        work(name);
    if (strncmp(name, "fake_late", 9) == 0)
        sleep(2); /* for somebody to be missed */
    hearth_barrier();
    hearth_finalize();
    MPI_Finalize();
    return 0;
}
