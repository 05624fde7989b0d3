/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A folder of checkpoints is opened and locked.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "folder.h"

/* Some file systems have no locks: Lustre unless it is mounted with them, NFS
 * without its lock manager.  There the user must see to it that jobs have
 * folders of their own. */
static bool
lock_is_missing(int failed)
{
    return failed == ENOSYS || failed == ENOLCK || failed == EOPNOTSUPP ||
           failed == EINVAL;
}

/* Where the file system is read-only there is nothing to protect. */
static int
lock_take(struct hearthi_folder *f)
{
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    f->lock = hearthi_descriptor(
        openat(f->fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (f->lock < 0)
        return errno == EROFS || errno == EACCES ? 0 : errno;
    if (fcntl(f->lock, F_SETLK, &all) == 0)
        return 0;
    if (errno == EAGAIN || errno == EACCES)
        return EBUSY;
    return lock_is_missing(errno) ? 0 : errno;
}

/* The new folder's name reaches the disk before a checkpoint in it counts. */
static void
parent_sync(int folder)
{
    int fd = hearthi_descriptor(
        openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

int
hearthi_folder_open(struct hearthi_folder *f, const char *path, bool make)
{
    bool made = make && mkdir(path, 0777) == 0;
    int  failed;

    *f = (struct hearthi_folder){ -1, -1 };
    if (make && !made && errno != EEXIST)
        return errno;
    f->fd = hearthi_descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (f->fd < 0)
        return errno;
    if (made)
        parent_sync(f->fd);
    failed = lock_take(f);
    if (failed != 0)
        hearthi_folder_close(f);
    return failed;
}

void
hearthi_folder_close(struct hearthi_folder *f)
{
    if (f->lock >= 0)
        close(f->lock);
    if (f->fd >= 0)
        close(f->fd);
    *f = (struct hearthi_folder){ -1, -1 };
}
