/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int
hearthi_descriptor(int fd)
{
    int above, code;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    code = errno;
    close(fd);
    errno = code;
    return above;
}

FILE *
hearthi_file_to_read(const char *path)
{
    int   fd = hearthi_descriptor(open(path, O_RDONLY | O_CLOEXEC));
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

    if (f == NULL && fd >= 0)
        close(fd);
    return f;
}

DIR *
hearthi_folder_to_read(int folder, const char *name)
{
    int fd = hearthi_descriptor(
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (d == NULL && fd >= 0)
        close(fd);
    return d;
}
