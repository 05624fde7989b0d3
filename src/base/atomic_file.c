/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.h"
#include "format.h"

/* Create the other file. */
static int
other_open(struct hearthi_atomic_file *w)
{
    return hearthi_descriptor(openat(
        w->folder, w->other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

static void
other_remove(struct hearthi_atomic_file *w)
{
    unlinkat(w->folder, w->other, 0);
}

/* Cut a path into the folder, which is opened, and the name in it. */
static const char *
path_cut(struct hearthi_atomic_file *w, const char *path)
{
    char        folder[PATH_MAX];
    const char *name = hearthi_base_name(path);
    size_t      len = (size_t)(name - path);

    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return strerror(EISDIR);
    if (len >= sizeof folder ||
        snprintf(w->name, sizeof w->name, "%s", name) >= (int)sizeof w->name ||
        snprintf(w->other, sizeof w->other, "%s.%ld.tmp", name,
                 (long)getpid()) >= (int)sizeof w->other)
        return strerror(ENAMETOOLONG);
    memcpy(folder, path, len);
    folder[len] = '\0';
    w->folder = hearthi_descriptor(
        open(len == 0 ? "." : folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
    return w->folder < 0 ? strerror(errno) : NULL;
}

/* A device or a folder cannot be replaced by a file. */
static const char *
place_check(const struct hearthi_atomic_file *w)
{
    struct stat s;

    if (fstatat(w->folder, w->name, &s, 0) == 0 && !S_ISREG(s.st_mode))
        return "it is there and no plain file";
    return NULL;
}

const char *
hearthi_atomic_file_open(struct hearthi_atomic_file *w, const char *path)
{
    const char *why = path_cut(w, path);
    int         fd;

    if (why != NULL)
        return why;
    why = place_check(w);
    if (why == NULL) {
        fd = other_open(w);
        if (fd < 0) {
            why = strerror(errno);
        } else {
            close(fd);
            other_remove(w);
        }
    }
    if (why != NULL)
        hearthi_atomic_file_close(w);
    return why;
}

void
hearthi_atomic_file_close(struct hearthi_atomic_file *w)
{
    close(w->folder);
    w->folder = -1;
}

const char *
hearthi_atomic_file_begin(struct hearthi_atomic_file *w, FILE **out)
{
    const char *why;
    int         fd = other_open(w);

    *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (*out != NULL) {
        hearthi_file_write_begin(&w->write);
        return NULL;
    }
    why = strerror(errno);
    if (fd >= 0) {
        close(fd);
        other_remove(w);
    }
    return why;
}

/* All of it to the disk.  An error of a print before counts. */
static const char *
stream_finish(FILE *out)
{
    const char *why = NULL;

    if (ferror(out) || fflush(out) != 0 || fsync(fileno(out)) != 0)
        why = hearthi_file_write_error(errno);
    if (fclose(out) != 0 && why == NULL)
        why = hearthi_file_write_error(errno);
    return why;
}

const char *
hearthi_atomic_file_end(struct hearthi_atomic_file *w, FILE *out,
                        const char *trouble)
{
    const char *why = stream_finish(out);

    hearthi_file_write_end(&w->write);
    if (trouble != NULL)
        why = trouble;
    if (why == NULL && renameat(w->folder, w->other, w->folder, w->name) != 0)
        why = strerror(errno);
    if (why != NULL)
        other_remove(w);
    return why;
}
