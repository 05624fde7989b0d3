/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"

enum { NAME = 32, FEW = 16 };

static void
number_name(uint64_t number, char name[NAME])
{
    snprintf(name, NAME, "%" PRIu64, number);
}

/* ---- what is there ---- */

/* A name that is a number, as it is written. */
static bool
number_of(const char *name, uint64_t *number)
{
    char again[NAME];

    if (!isdigit((unsigned char)name[0]))
        return false;
    *number = strtoull(name, NULL, 10);
    number_name(*number, again);
    return strcmp(name, again) == 0;
}

static int
number_compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* One more of n; false if there is no memory. */
static bool
number_add(uint64_t **number, size_t n, uint64_t one)
{
    uint64_t *grown;

    if (n >= FEW && (n & (n - 1)) == 0) {
        grown = realloc(*number, 2 * n * sizeof **number);
        if (grown == NULL)
            return false;
        *number = grown;
    }
    (*number)[n] = one;
    return true;
}

int
hearthi_folder_numbers(int folder, uint64_t **number, size_t *n)
{
    DIR           *d = hearthi_folder_to_read(folder, ".");
    struct dirent *e;
    uint64_t       one;
    int            failed = d == NULL ? errno : 0;

    *n = 0;
    *number = malloc(FEW * sizeof **number);
    if (failed == 0 && *number == NULL)
        failed = ENOMEM;
    while (failed == 0 && (e = readdir(d)) != NULL)
        if (number_of(e->d_name, &one) && !number_add(number, (*n)++, one))
            failed = ENOMEM;
    if (d != NULL)
        closedir(d);
    if (failed == 0)
        qsort(*number, *n, sizeof **number, number_compare);
    return failed;
}

int
hearthi_folder_number(int folder, uint64_t number)
{
    char name[NAME];

    number_name(number, name);
    return hearthi_descriptor(
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/* ---- removing ---- */

/* A folder of files. */
static void
files_remove(int folder, const char *name)
{
    int fd = hearthi_descriptor(
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    DIR           *d = fd < 0 ? NULL : hearthi_folder_to_read(fd, ".");
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(fd, e->d_name, 0);
    if (d != NULL)
        closedir(d);
    if (fd >= 0)
        close(fd);
    unlinkat(folder, name, AT_REMOVEDIR);
}

/* "new.8.0123abcd", or with old: no other folder of a user's goes. */
static bool
is_rest(const char *name)
{
    char     again[HEARTHI_NEW_NAME];
    uint64_t number;
    unsigned tag;

    if (sscanf(name, "%*3[a-z].%" SCNu64 ".%8x", &number, &tag) != 2)
        return false;
    snprintf(again, sizeof again, "%.3s.%" PRIu64 ".%08x", name, number, tag);
    return strcmp(name, again) == 0 &&
           (strncmp(name, "new", 3) == 0 || strncmp(name, "old", 3) == 0);
}

/* What a job that died has left. */
static void
rest_remove(int folder)
{
    DIR           *d = hearthi_folder_to_read(folder, ".");
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL)
        if (is_rest(e->d_name))
            files_remove(folder, e->d_name);
    if (d != NULL)
        closedir(d);
}

static unsigned
tag_new(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (unsigned)getpid() * 2654435761u ^ (unsigned)now.tv_nsec ^
           (unsigned)now.tv_sec << 16;
}

/* By its name first, so that it is never there in part. */
static int
number_remove(int folder, uint64_t number)
{
    char name[NAME], old[HEARTHI_NEW_NAME];

    number_name(number, name);
    snprintf(old, sizeof old, "old.%s.%08x", name, tag_new());
    if (renameat(folder, name, folder, old) != 0)
        return errno;
    files_remove(folder, old);
    return 0;
}

static int
length_look(int fd, const char *name, const struct hearthi_image_file *is)
{
    struct stat have;

    if (fstatat(fd, name, &have, 0) != 0)
        return errno;
    return (uint64_t)have.st_size == is->bytes ? 0 : EBADMSG;
}

static int
file_look(int fd, const char *name, const struct hearthi_image_file *is,
          enum hearthi_folder_look how)
{
    struct hearthi_image_reader image;
    int                         failed;

    if (how == HEARTHI_LENGTHS)
        return length_look(fd, name, is);
    failed = hearthi_image_open(&image, fd, name, is);
    if (failed != 0)
        return failed;
    if (how == HEARTHI_ALL_BYTES)
        failed = hearthi_image_check(&image);
    hearthi_image_close(&image);
    return failed;
}

int
hearthi_folder_look(int folder, uint64_t number, enum hearthi_folder_look how,
                    struct hearthi_meta *m, char file[HEARTHI_RANK_NAME])
{
    int fd = hearthi_folder_number(folder, number), failed;

    m->all = NULL;
    strcpy(file, "meta");
    if (fd < 0)
        return errno;
    failed = hearthi_meta_read(m, fd);
    for (uint64_t r = 0; failed == 0 && r < m->head.ranks; r++) {
        hearthi_rank_name(r, file);
        failed = file_look(fd, file, &m->file[r], how);
    }
    close(fd);
    return failed;
}

static bool
is_whole(int folder, uint64_t number, enum hearthi_folder_look how)
{
    struct hearthi_meta m;
    char                file[HEARTHI_RANK_NAME];
    int failed = hearthi_folder_look(folder, number, how, &m, file);

    hearthi_meta_free(&m);
    return failed == 0;
}

/* A folder whose name is a number, too, may be the user's. */
static bool
is_checkpoint(int folder, uint64_t number)
{
    int  fd = hearthi_folder_number(folder, number);
    bool is = fd >= 0 && hearthi_meta_is(fd);

    if (fd >= 0)
        close(fd);
    return is;
}

int
hearthi_folder_prune(int folder, size_t keep, enum hearthi_folder_look how)
{
    uint64_t *number;
    size_t    n, kept = 0;
    int       failed = hearthi_folder_numbers(folder, &number, &n);

    while (failed == 0 && n-- > 0)
        if (kept >= keep) {
            if (is_checkpoint(folder, number[n]))
                failed = number_remove(folder, number[n]);
        } else if (is_whole(folder, number[n], how))
            kept++;
    free(number);
    return failed;
}

/* ---- a new one ---- */

int
hearthi_folder_begin(const struct hearthi_folder *f, uint64_t *number,
                     char name[HEARTHI_NEW_NAME])
{
    uint64_t *there;
    size_t    n;
    int       failed;

    rest_remove(f->fd);
    failed = hearthi_folder_numbers(f->fd, &there, &n);
    *number = failed != 0 || n == 0 ? 1 : there[n - 1] + 1;
    free(there);
    if (failed != 0)
        return failed;
    snprintf(name, HEARTHI_NEW_NAME, "new.%" PRIu64 ".%08x", *number,
             tag_new());
    if (mkdirat(f->fd, name, 0777) != 0 && errno != EEXIST)
        return errno; /* nothing else has the name: see is_renamed */
    return 0;
}

/* The folder's own entries reach the disk before its name does. */
static int
entries_sync(int folder, const char *name)
{
    int fd = hearthi_descriptor(
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int failed = fd < 0 || fsync(fd) != 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    return failed == EINVAL ? 0 : failed; /* some file systems have none */
}

/* A file server that has renamed it, and whose answer was lost, is asked again
 * and finds nothing of the old name: ENOENT.  No other process makes that
 * number, since the folder is locked. */
static int
is_renamed(int folder, const char *name, uint64_t number, int failed)
{
    struct stat old;

    if (failed == ENOENT && fstatat(folder, name, &old, 0) != 0 &&
        is_whole(folder, number, HEARTHI_LENGTHS))
        return 0;
    return failed;
}

int
hearthi_folder_commit(const struct hearthi_folder *f, const char *name,
                      uint64_t number)
{
    char to[NAME];
    int  failed = entries_sync(f->fd, name);

    number_name(number, to);
    if (failed == 0 && renameat(f->fd, name, f->fd, to) != 0)
        failed = is_renamed(f->fd, name, number, errno);
    if (failed == 0)
        failed = entries_sync(f->fd, ".");
    if (failed == 0)
        unlinkat(f->fd, "starts", 0);
    return failed;
}

void
hearthi_folder_abandon(const struct hearthi_folder *f, const char *name)
{
    files_remove(f->fd, name);
}

const char *
hearthi_folder_number_at(const char *text, uint64_t *number)
{
    const char *at = strrchr(text, '@');
    char       *end;

    if (at == NULL || !isdigit((unsigned char)at[1]))
        return NULL;
    *number = strtoull(at + 1, &end, 10);
    return *end == '\0' ? at : NULL;
}

/* ---- how often it was started ---- */

unsigned
hearthi_folder_starts(int folder, uint64_t number)
{
    void    *text;
    size_t   n;
    uint64_t of = 0;
    unsigned times = 0;

    if (hearthi_small_file_get(folder, "starts", 4096, &text, &n) != 0)
        return 0;
    if (sscanf(text, "%" SCNu64 " %u", &of, &times) != 2)
        times = 0;
    else if (of != number)
        times = of != 0 && of < number ? HEARTHI_STARTS_MOST : 0;
    free(text);
    return times;
}

static void
starts_put(int folder, const char *text)
{
    if (hearthi_small_file_put(folder, "starts.new", text, strlen(text)) == 0)
        renameat(folder, "starts.new", folder, "starts");
}

void
hearthi_folder_started(int folder, uint64_t number, unsigned times)
{
    char text[64];

    snprintf(text, sizeof text, "%" PRIu64 " %u\n", number, times);
    if (times == 0)
        unlinkat(folder, "starts", 0);
    else
        starts_put(folder, text);
}

void
hearthi_folder_ended(int folder)
{
    starts_put(folder, HEARTHI_STARTS_ENDED);
}
