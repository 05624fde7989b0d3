/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A machine and an MPI that are not good enough, by the profiling interface.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "badinput.h"

const char *fake = "";

int
MPI_Win_get_attr(MPI_Win win, int key, void *value, int *found)
{
    static int separate = MPI_WIN_SEPARATE;
    int        rc = PMPI_Win_get_attr(win, key, value, found);

    if (key == MPI_WIN_MODEL && strcmp(fake, "fake_separate") == 0)
        *(void **)value = &separate;
    return rc;
}

static int
window_refused(MPI_Comm comm)
{
    MPI_Comm_call_errhandler(comm, MPI_ERR_WIN);
    return MPI_ERR_WIN;
}

int
MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info,
               MPI_Comm comm, MPI_Win *win)
{
    return strcmp(fake, "fake_no_windows") == 0
               ? window_refused(comm)
               : PMPI_Win_create(base, size, unit, info, comm, win);
}

int
MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                 void *base, MPI_Win *win)
{
    return strcmp(fake, "fake_no_windows") == 0
               ? window_refused(comm)
               : PMPI_Win_allocate(size, unit, info, comm, base, win);
}

/* Every rank on a machine of its own, which has no address. */
int
MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                    MPI_Comm *part)
{
    int rank;

    if (strcmp(fake, "fake_no_address") != 0)
        return PMPI_Comm_split_type(comm, type, key, info, part);
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank, key, part);
}

int
getifaddrs(struct ifaddrs **all)
{
    int (*real)(struct ifaddrs **);

    *all = NULL;
    if (strcmp(fake, "fake_no_address") == 0)
        return 0;
    *(void **)&real = dlsym(RTLD_NEXT, "getifaddrs");
    return real(all);
}

void
port_take(void)
{
    const char        *first = getenv("HEARTH_UDP_PORT");
    int                size, fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in own = { .sin_family = AF_INET };

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    own.sin_port = htons((uint16_t)(atoi(first) + size - 1));
    if (me == 0 && bind(fd, (struct sockaddr *)&own, sizeof own) != 0)
        perror("badinput: bind"); /* somebody's it is */
    MPI_Barrier(MPI_COMM_WORLD);
}
