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

#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "heap.h"

struct hearthi_node_files hearthi_node_files;

/* Where a rank has a file open, and which one it is. */
struct place {
    uint64_t pid, fd, device, inode;
};

enum { CACHED, SHARED, FILES };

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

/* Its number there may be another process's here, and the file anybody's: so
 * it is looked at before it is opened, and after. */
static int
place_open(const char *name, const struct place *p, bool write)
{
    struct stat s;
    int         fd;

    if (stat(name, &s) != 0 || !is_it(&s, p))
        return -1;
    fd = open(name,
              (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &s) != 0 || !is_it(&s, p))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* NULL if it cannot be had. */
static char *
place_map(const struct place *p, size_t bytes, bool write)
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

static int
shared_make(size_t bytes)
{
    int fd = memfd_create("hearth-mates", MFD_CLOEXEC);

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool
all_map(const struct place (*of)[FILES])
{
    struct hearthi_node_files *f = &hearthi_node_files;
    bool                       all = true;

    f->shared = place_map(&of[0][SHARED], f->shared_bytes, true);
    for (int r = 0; r < hearthi_cluster.node_size; r++) {
        if (r == hearthi_cluster.node_rank)
            continue;
        f->cached[r] = place_map(&of[r][CACHED], hearthi_heap.bytes, false);
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

const char *
hearthi_node_files_open(size_t shared_bytes)
{
    struct hearthi_node_files *f = &hearthi_node_files;
    size_t                     n = (size_t)hearthi_cluster.node_size;
    struct place               mine[FILES], (*of)[FILES];
    int                        fd = -1;
    bool                       all;

    f->shared_bytes = shared_bytes;
    f->cached = calloc(n, sizeof *f->cached);
    of = calloc(n, sizeof *of);
    if (f->cached == NULL || of == NULL)
        hearthi_fatal("hearth_init", "no memory");
    if (hearthi_cluster.node_rank == 0)
        fd = shared_make(shared_bytes);
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
