/* SPDX-License-Identifier: BSD-2-Clause
 *
 * badinput CASE -- do one thing that cannot be done.  badinput.tap runs each
 * case and looks at what is said and how the job ends.  A case that comes back
 * goes on to a barrier and hearth_finalize(), and the program ends with 0.
 */
#include "config.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/init.h"
#include "badinput.h"
#ifdef HAVE_CLUSTERS
#include "link/link_state.h"
#include "transport/clusters/gateway_server.h"
#endif

int me, last, slow = -1;

static void
work(const char *name)
{
    static const struct badinput *const tables[] = {
        badinput_allocs,      badinput_calls,   badinput_holds,
        badinput_checkpoints, badinput_touches, badinput_ends,
        badinput_losses,      badinput_mallocs, badinput_fars,
        badinput_aparts,      badinput_masks
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

/* Each rank reads the pages of all. */
static void
pages_pass(void)
{
    enum { PAGES = 64 };
    const int ranks = hearth_size();
    char     *p = hearth_alloc((size_t)ranks * PAGES * page_bytes(), 1,
                               hearth_cyclic(PAGES));

    for (size_t i = 0; i < PAGES * page_bytes(); i++)
        p[(size_t)me * PAGES * page_bytes() + i] = (char)(me + 1);
    hearth_barrier();
    for (size_t i = 0; i < (size_t)ranks * PAGES * page_bytes(); i++)
        if (p[i] != (char)(i / (PAGES * page_bytes()) + 1))
            exit(3);
    hearth_barrier();
    hearth_free(p);
}

/* As ulimit -f and -v, once MPI is there; in MiB. */
static void
limit_set(const char *variable, int which)
{
    const char   *most = getenv(variable);
    struct rlimit l;

    if (most == NULL)
        return;
    l.rlim_cur = l.rlim_max = strtoull(most, NULL, 10) << 20;
    setrlimit(which, &l);
}

/* All clusters have met.  From now on they wait for each other only so many
 * seconds, in which two jobs need not have started. */
static void
giveup_shorten(void)
{
    const char *seconds = getenv("MPI_TEST_GIVEUP");

    if (seconds == NULL)
        return;
#ifdef HAVE_CLUSTERS
    if (hearthi_gateway_server.link != NULL)
        hearthi_gateway_server.link->options.giveup = atof(seconds);
#endif
    hearth_barrier();
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
    hearth_free(NULL); /* is nothing at any time */
    if (strcmp(name, "malloc_before_init") == 0)
        hearth_malloc(64);
    if (strcmp(name, "hold_before_init") == 0)
        hearth_hold(&me, sizeof me, HEARTH_READ);
    if (level != NULL && strcmp(level, "funneled") == 0)
        want = MPI_THREAD_FUNNELED;
    if (strcmp(name, "fake_unread") == 0)
        memory_hide();
    if (strcmp(name, "fake_own_shm") == 0)
        shm_leave();
    if (strcmp(name, "older_inherits") == 0)
        mask_inherit(argv);
    if (strncmp(name, "older_", 6) == 0)
        older_begin(strcmp(name, "older_blocks") == 0);
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
    if (strcmp(name, "fake_other_kind") == 0 && me != 0)
        strcpy(hearthi_kind, "Hearth 0.1.9, big-endian");
    if (strcmp(name, "null_communicator") == 0)
        hearth_init(MPI_COMM_NULL);
    if (strcmp(name, "intercommunicator") == 0)
        intercommunicator_give();
    descriptors_close();
    limit_set("BADINPUT_FILES", RLIMIT_FSIZE);
    limit_set("BADINPUT_ADDRESSES", RLIMIT_AS);
    hearth_init(MPI_COMM_WORLD);
    me = hearth_rank();
    last = hearth_size() - 1;
    giveup_shorten();
    if (*fake == '\0' && strcmp(name, "port_taken") != 0)
        work(name);
    if (strncmp(name, "fake_late", 9) == 0)
        sleep(2); /* for somebody to be missed */
    if (strcmp(name, "fake_unread") == 0)
        pages_pass();
    hearth_barrier();
    hearth_finalize();
    if (strcmp(name, "fake_apart") == 0)
        apart_wait(me == last, (unsigned)me * 300);
    MPI_Finalize();
    return strcmp(name, "fake_apart") == 0 && apart_answered() ? 7 : 0;
}
