/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "memfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "front/direct.h"

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
    fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0) {
        *why = errno == EPERM || errno == ENOSYS || errno == EACCES
                   ? "memfd_create(2) is refused, as a container's seccomp "
                     "profile may: let it admit that call"
                   : strerror(errno);
        return -1;
    }
    if (ftruncate(fd, (off_t)bytes) == 0)
        return fd;
    *why = strerror(errno);
    close(fd);
    return -1;
}
