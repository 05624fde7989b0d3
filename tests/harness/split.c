/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "split.h"

#include "hearth/hearth.h"

#ifdef HAVE_CLUSTERS

#include <arpa/inet.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link/key.h"
#include "link_proxy.h"

enum { CLUSTERS_MAX = 8, PATH = 256, BYTES_TO_TROUBLE = 1 << 20 };

static char path[PATH]; /* of the folder with the files and the key */

static void
folder_remove(void)
{
    char name[PATH + 16];

    for (int i = 0; i < CLUSTERS_MAX; i++) {
        snprintf(name, sizeof name, "%s/conf%d", path, i);
        unlink(name);
    }
    snprintf(name, sizeof name, "%s/key", path);
    unlink(name);
    rmdir(path);
}

/* One that nobody has; the socket keeps it from all who ask for any, but not
 * from a gateway, which asks for this one and reuses it. */
static int
port_draw(int *fd)
{
    struct sockaddr_in a = { .sin_family = AF_INET };
    socklen_t          size = sizeof a;
    int                one = 1;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(*fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        getsockname(*fd, (struct sockaddr *)&a, &size) != 0)
        MPI_Abort(MPI_COMM_WORLD, 99);
    return ntohs(a.sin_port);
}

static void
folder_make(void)
{
    const char               *folder = getenv("TMPDIR");
    struct hearthi_link_error wrong;
    char                      name[PATH + 16];

    if (snprintf(path, sizeof path, "%s/hearth-split-XXXXXX",
                 folder != NULL ? folder : "/tmp") >= PATH ||
        mkdtemp(path) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 99);
    snprintf(name, sizeof name, "%s/key", path);
    if (!hearthi_key_make(name, &wrong))
        MPI_Abort(MPI_COMM_WORLD, 99);
    atexit(folder_remove);
}

/* The file of one cluster, which finds those before it at other ports than
 * they listen at if there is something between. */
static void
conf_make(int me, int n, int ranks, const int *port, const int *between)
{
    char  name[PATH + 16];
    FILE *f;

    snprintf(name, sizeof name, "%s/conf%d", path, me);
    f = fopen(name, "w");
    if (f == NULL)
        MPI_Abort(MPI_COMM_WORLD, 99);
    fprintf(f, "key = key\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "[c%d]\ngateway = 127.0.0.1:%d\nranks = %d\n", i,
                i < me ? between[i] : port[i],
                ranks * (i + 1) / n - ranks * i / n);
    fclose(f);
}

/* A bad network in front of a gateway, below all that is tested, which has
 * cuts and silence of so many seconds.  Those of the world before end. */
static int
trouble_start(int cluster, int port, double seconds)
{
    static struct proxy *last[CLUSTERS_MAX];
    static uint64_t      seed;
    struct proxy        *p = calloc(1, sizeof *p);

    if (p == NULL)
        MPI_Abort(MPI_COMM_WORLD, 99);
    if (last[cluster] != NULL)
        last[cluster]->over = true;
    last[cluster] = p;
    *p = (struct proxy){ .to = port,
                         .seed = ++seed,
                         .every = BYTES_TO_TROUBLE,
                         .silent = seconds,
                         .calm = seconds,
                         .unspoilt = true };
    proxy_start(p);
    return p->port;
}

/* The ports are kept by files. */
static void
confs_make(int n, int ranks, int *fd)
{
    const char *cut = getenv("MPI_TEST_CUT");
    int         port[CLUSTERS_MAX], between[CLUSTERS_MAX];

    for (int i = 0; i < n; i++)
        port[i] = port_draw(&fd[i]);
    for (int i = 0; i < n; i++)
        between[i] =
            cut != NULL ? trouble_start(i, port[i], atof(cut)) : port[i];
    for (int i = 0; i < n; i++)
        conf_make(i, n, ranks, port, between);
}

void
split_init(MPI_Comm comm)
{
    const char *want = getenv("MPI_TEST_CLUSTERS");
    int         n = want != NULL ? atoi(want) : 1, rank, ranks, mine = 0;
    int         fd[CLUSTERS_MAX];
    char        text[PATH + 16];
    MPI_Comm    part;

    if (n < 2 || comm != MPI_COMM_WORLD) {
        hearth_init(comm);
        return;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody is in the world before */
    if (rank == 0) {
        if (path[0] == '\0')
            folder_make();
        confs_make(n, ranks, fd);
    }
    MPI_Bcast(path, sizeof path, MPI_BYTE, 0, MPI_COMM_WORLD);
    while (rank >= ranks * (mine + 1) / n)
        mine++;
    snprintf(text, sizeof text, "%s/conf%d", path, mine);
    setenv("HEARTH_CLUSTERS", text, 1);
    snprintf(text, sizeof text, "c%d", mine);
    setenv("HEARTH_CLUSTER", text, 1);
    MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &part);
    hearth_init(part); /* all gateways listen when it returns */
    for (int i = 0; rank == 0 && i < n; i++)
        close(fd[i]);
    MPI_Comm_free(&part);
}

#else

void
split_init(MPI_Comm comm)
{
    hearth_init(comm);
}

#endif
