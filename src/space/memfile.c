/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/report.h"
#include "front/direct.h"

/* By these a descriptor is known again: no other file of a program is likely
 * to have them and no more, and one system call tells it, which sees nothing
 * but the descriptor. */
enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW };
static bool sealed = true; /* the kernel, or what filters its calls, lets us */

/* A file that grows beyond RLIMIT_FSIZE is SIGXFSZ, holes or not, so it is
 * asked before. */
static const char *
size_check(size_t bytes)
{
    static char   text[160];
    struct rlimit most;

    if (getrlimit(RLIMIT_FSIZE, &most) != 0 ||
        most.rlim_cur == RLIM_INFINITY || bytes <= most.rlim_cur)
        return NULL;
    snprintf(text, sizeof text,
             "a file may have %llu KiB (ulimit -f), though this one has no "
             "place on a disk: raise that (ulimit -f unlimited)",
             (unsigned long long)most.rlim_cur >> 10);
    return text;
}

int
hearthi_memfile(const char *name, size_t bytes, const char **why)
{
    int fd;

    if ((*why = size_check(bytes)) != NULL)
        return -1;
    fd = hearthi_descriptor(
        memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd < 0) {
        *why = errno == EPERM || errno == ENOSYS || errno == EACCES
                   ? "memfd_create(2) is refused, as a container's seccomp "
                     "profile may: let it admit that call"
                   : strerror(errno);
        return -1;
    }
    if (ftruncate(fd, (off_t)bytes) == 0) {
        sealed &= fcntl(fd, F_ADD_SEALS, SEALS) == 0;
        return fd;
    }
    *why = strerror(errno);
    close(fd);
    return -1;
}

static bool
is_it(int fd)
{
    return !sealed || fcntl(fd, F_GET_SEALS) == SEALS;
}

void
hearthi_memfile_check(int fd)
{
    if (!is_it(fd))
        hearthi_fatal("heap",
                      "descriptor %d is no longer the heap's file: the "
                      "program has closed it or made it another one's "
                      "(close, closefrom, dup2): descriptors that it has not "
                      "opened are not its own",
                      fd);
}

void
hearthi_memfile_close(int fd)
{
    if (is_it(fd))
        close(fd);
}
