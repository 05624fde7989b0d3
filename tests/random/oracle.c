/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The oracle: a file that all ranks map, if they all can.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "random.h"
#include "watch.h"

struct oracle *oracle;

struct file {
    struct oracle oracle;
    struct gauge  gauge;
};

static struct file *
file_map(int fd)
{
    void *p = mmap(NULL, sizeof(struct file), PROT_READ | PROT_WRITE,
                   MAP_SHARED, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Collective.  Ranks on other machines do not find the file: its name is as
 * good as unique. */
void
oracle_open(bool blind)
{
    char         path[] = "/dev/shm/hearth-random-XXXXXX";
    int          rank, fd = -1, ok, all;
    struct file *file = NULL;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        fd = mkstemp(path);
        if (fd >= 0 && ftruncate(fd, sizeof *file) == 0)
            file = file_map(fd);
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0) {
        fd = open(path, O_RDWR);
        if (fd >= 0)
            file = file_map(fd);
    }
    if (fd >= 0)
        close(fd);
    ok = file != NULL;
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        unlink(path);
    if (!all)
        return;
    gauge = &file->gauge;
    if (!blind)
        oracle = &file->oracle;
}
