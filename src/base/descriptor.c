/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

bool
hearthi_file_line(const char *file, const char *word, char *text)
{
    FILE  *in = hearthi_file_to_read(file);
    size_t len = strlen(word);
    bool   found = false;

    while (in != NULL && !found && fgets(text, HEARTHI_LINE, in) != NULL)
        found = strncmp(text, word, len) == 0;
    if (in != NULL)
        fclose(in);
    if (!found)
        return false;
    memmove(text, text + len, strlen(text + len) + 1);
    text[strcspn(text, "\n")] = '\0';
    return true;
}

bool
hearthi_file_number(const char *file, uint64_t *n)
{
    char text[HEARTHI_LINE];

    if (!hearthi_file_line(file, "", text) || text[0] < '0' || text[0] > '9')
        return false; /* "max", or -1 */
    *n = strtoull(text, NULL, 10);
    return true;
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
