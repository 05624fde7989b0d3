/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "files.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "heap.h"
#include "memfile.h"

struct hearthi_node_files hearthi_node_files;

enum { CACHED, SHARED, FILES };

/* Where a rank has a file open, and which one it is; 0: none. */
struct place {
    uint64_t pid, fd, device, inode;
};

static struct place
place_of(int fd)
{
    struct place p = { 0 };
    struct stat  s;

    if (fd < 0 || fstat(fd, &s) != 0)
        return p;
    p.pid = (uint64_t)getpid();
    p.fd = (uint64_t)fd;
    p.device = (uint64_t)s.st_dev;
    p.inode = (uint64_t)s.st_ino;
    return p;
}

static bool
is_it(const struct stat *s, const struct place *p)
{
    return (uint64_t)s->st_dev == p->device && (uint64_t)s->st_ino == p->inode;
}

/* Its number there may be another process's here, and the file any other: so
 * it is looked at before it is opened, and after. */
static int
place_open(const char *name, const struct place *p, bool write)
{
    struct stat s;
    int         fd;

    if (stat(name, &s) != 0 || !is_it(&s, p))
        return -1;
    fd = hearthi_descriptor(open(name, (write ? O_RDWR : O_RDONLY) |
                                           O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd >= 0 && (fstat(fd, &s) != 0 || !is_it(&s, p))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* NULL if it cannot be had.  Its rank closes it after that at the earliest. */
static char *
file_map(const struct place *p, size_t bytes, bool write)
{
    char  name[64];
    void *at = MAP_FAILED;
    int   fd;

    if (p->pid == 0)
        return NULL;
    snprintf(name, sizeof name, "/proc/%llu/fd/%llu",
             (unsigned long long)p->pid, (unsigned long long)p->fd);
    fd = place_open(name, p, write);
    if (fd < 0)
        return NULL;
    at = mmap(NULL, bytes, write ? PROT_READ | PROT_WRITE : PROT_READ,
              MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return NULL;
    hearthi_dump(at, bytes, false);
    return at;
}

/* The first rank whose file cannot be had, or -1. */
static int
files_map(int fd, size_t bytes, char **at, int n, MPI_Comm comm)
{
    struct place mine = place_of(fd), *all = calloc((size_t)n, sizeof *all);
    int          missing = -1;

    if (all == NULL)
        hearthi_fatal("hearth_init", "no memory");
    hearthi_collective_gather(&mine, sizeof mine, all, comm);
    for (int r = 0; r < n && missing < 0; r++) {
        if (at[r] == NULL)
            at[r] = file_map(&all[r], bytes, true);
        if (at[r] == NULL)
            missing = r;
    }
    free(all);
    return missing;
}

void
hearthi_files_map(int fd, size_t bytes, char **at, int n, const int *member,
                  MPI_Comm comm)
{
    int missing = files_map(fd, bytes, at, n, comm);

    if (missing >= 0)
        hearthi_fatal("hearth_init",
                      "HEARTH_FABRIC=shm: memory of rank %d cannot be mapped "
                      "by way of /proc: use HEARTH_FABRIC=mpi",
                      member != NULL ? member[missing] : missing);
    hearthi_collective(comm);
}

static bool
all_map(const struct place (*of)[FILES])
{
    struct hearthi_node_files *f = &hearthi_node_files;
    bool                       all = true;

    f->shared = file_map(&of[0][SHARED], f->shared_bytes, true);
    for (int r = 0; r < hearthi_cluster.node_size; r++) {
        if (r == hearthi_cluster.node_rank)
            continue;
        f->cached[r] = file_map(&of[r][CACHED], hearthi_heap.bytes, false);
        all &= f->cached[r] != NULL;
    }
    return all && f->shared != NULL;
}

/* True if all ranks of the node say so. */
static bool
all_have(bool mine)
{
    int has = mine, all;

    hearthi_collective_reduce(&has, &all, 1, MPI_INT, MPI_LAND,
                              hearthi_cluster.node_comm);
    return all != 0;
}

bool
hearthi_files_are_seen(void)
{
    size_t      bytes = (size_t)sysconf(_SC_PAGESIZE);
    int         n = hearthi_cluster.node_size;
    char      **at = calloc((size_t)n, sizeof *at);
    const char *why; /* not told: it is done without */
    int         fd = hearthi_memfile("hearth-seen", bytes, &why);
    bool        all;

    if (at == NULL)
        hearthi_fatal("hearth_init", "no memory");
    all = all_have(files_map(fd, bytes, at, n, hearthi_cluster.node_comm) < 0);
    for (int r = 0; r < n; r++)
        if (at[r] != NULL)
            munmap(at[r], bytes);
    if (fd >= 0)
        close(fd); /* all who could have mapped it have */
    free(at);
    return all;
}

const char *
hearthi_node_files_open(size_t shared_bytes)
{
    struct hearthi_node_files *f = &hearthi_node_files;
    size_t                     n = (size_t)hearthi_cluster.node_size;
    struct place               mine[FILES], (*of)[FILES];
    int                        fd = -1;
    bool                       all;
    const char                *why; /* not told: it is done without */

    f->shared_bytes = shared_bytes;
    f->cached = calloc(n, sizeof *f->cached);
    of = calloc(n, sizeof *of);
    if (f->cached == NULL || of == NULL)
        hearthi_fatal("hearth_init", "no memory");
    if (hearthi_cluster.node_rank == 0)
        fd = hearthi_memfile("hearth-node", shared_bytes, &why);
    mine[CACHED] = place_of(hearthi_heap.fd);
    mine[SHARED] = place_of(fd);
    hearthi_collective_gather(mine, sizeof mine, of,
                              hearthi_cluster.node_comm);
    all = all_have(all_map((const struct place(*)[FILES])of));
    if (fd >= 0)
        close(fd); /* all who could have mapped it have */
    free(of);
    if (all)
        return NULL;
    hearthi_node_files_close();
    return "memory of the node's other ranks cannot be mapped by way of /proc";
}

void
hearthi_node_files_close(void)
{
    struct hearthi_node_files *f = &hearthi_node_files;

    for (int r = 0; f->cached != NULL && r < hearthi_cluster.node_size; r++)
        if (f->cached[r] != NULL)
            munmap(f->cached[r], hearthi_heap.bytes);
    if (f->shared != NULL)
        munmap(f->shared, f->shared_bytes);
    free(f->cached);
    memset(f, 0, sizeof *f);
}
