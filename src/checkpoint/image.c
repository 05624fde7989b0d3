/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/file_write.h"
#include "base/min.h"
#include "checksum.h"

enum { FOLDER_WAIT = 100, FOLDER_TRIES = 100, MOST_AT_ONCE = 1 << 30 };
enum { BUFFER = 1 << 20 };

/* ---- files ---- */

/* What a file system has no room for may show as a short write first. */
static int
rest_write(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n > 0) {
        ssize_t did = write(fd, p, hearthi_min(n, MOST_AT_ONCE));

        if (did < 0 && errno == EINTR)
            continue;
        if (did <= 0)
            return did < 0 ? errno : ENOSPC;
        p += did;
        n -= (size_t)did;
    }
    return 0;
}

static int
all_write(int fd, const void *bytes, size_t n)
{
    struct hearthi_file_write w;
    int                       failed;

    hearthi_file_write_begin(&w);
    failed = rest_write(fd, bytes, n);
    hearthi_file_write_end(&w);
    return failed;
}

static int
all_read(int fd, void *bytes, size_t n, uint64_t at)
{
    char *p = bytes;

    while (n > 0) {
        ssize_t did = pread(fd, p, hearthi_min(n, MOST_AT_ONCE), (off_t)at);

        if (did < 0 && errno == EINTR)
            continue;
        if (did <= 0)
            return did < 0 ? errno : EBADMSG;
        p += did;
        at += (uint64_t)did;
        n -= (size_t)did;
    }
    return 0;
}

/* What is written: bytes that are gathered until a write is worth it. */
struct gathered {
    int                 fd;
    char               *bytes;
    size_t              n;
    struct hearthi_sum *sum;
};

static int
gathered_write(struct gathered *g)
{
    size_t n = g->n;

    g->n = 0;
    hearthi_sum_add(g->sum, g->bytes, n);
    return all_write(g->fd, g->bytes, n);
}

static int
piece_gather(struct gathered *g, const char *from, size_t left)
{
    int failed = 0;

    while (left > 0 && failed == 0) {
        size_t n = hearthi_min(left, BUFFER - g->n);

        memcpy(g->bytes + g->n, from, n);
        g->n += n;
        from += n;
        left -= n;
        if (g->n == BUFFER)
            failed = gathered_write(g);
    }
    return failed;
}

/* Memory may change meanwhile, as that of a freed object does which the kernel
 * is given back: it is read once, so that the sum is that of the file. */
static int
pieces_write(int fd, const struct iovec *piece, int pieces, uint64_t *sum)
{
    struct gathered g = { fd, malloc(BUFFER), 0, hearthi_sum_new() };
    int             failed = g.bytes == NULL || g.sum == NULL ? ENOMEM : 0;

    for (int i = 0; i < pieces && failed == 0; i++)
        failed = piece_gather(&g, piece[i].iov_base, piece[i].iov_len);
    if (failed == 0)
        failed = gathered_write(&g);
    free(g.bytes);
    if (g.sum != NULL)
        *sum = hearthi_sum_end(g.sum);
    return failed;
}

/* A folder that another rank has just made may be seen later on another
 * machine. */
static int
file_open(int folder, const char *name, int how)
{
    int fd;

    for (int i = 0; i < FOLDER_TRIES; i++) {
        do
            fd = hearthi_descriptor(
                openat(folder, name, how | O_CLOEXEC, 0666));
        while (fd < 0 && errno == EINTR);
        if (fd >= 0 || (errno != ESTALE && errno != ENOENT) ||
            (how & O_CREAT) == 0)
            return fd;
        usleep(FOLDER_WAIT * 1000);
    }
    return fd;
}

/* ---- writing ---- */

int
hearthi_image_create(struct hearthi_image_writer *w, int folder,
                     const char *name)
{
    *w = (struct hearthi_image_writer){ 0 };
    w->fd = file_open(folder, name, O_WRONLY | O_CREAT | O_EXCL);
    return w->fd < 0 ? errno : 0;
}

static struct hearthi_image_part *
part_next(struct hearthi_image_writer *w)
{
    size_t room = w->room == 0 ? 64 : 2 * w->room;
    void  *grown;

    if (w->n < w->room)
        return &w->part[w->n];
    grown = realloc(w->part, room * sizeof *w->part);
    if (grown == NULL)
        return NULL;
    w->part = grown;
    w->room = room;
    return &w->part[w->n];
}

int
hearthi_image_put(struct hearthi_image_writer *w, enum hearthi_part_kind kind,
                  uint64_t at, const struct iovec *piece, int pieces)
{
    struct hearthi_image_part *p = part_next(w);
    int                        failed;

    if (p == NULL)
        return ENOMEM;
    *p = (struct hearthi_image_part){ kind, at, w->at, 0, 0 };
    for (int i = 0; i < pieces; i++)
        p->bytes += piece[i].iov_len;
    failed = pieces_write(w->fd, piece, pieces, &p->hash);
    if (failed != 0)
        return failed;
    w->at += p->bytes;
    w->n++;
    return 0;
}

/* The time that close(2) finds an error is too late for a file server: so
 * fsync(2) comes first. */
int
hearthi_image_finish(struct hearthi_image_writer *w, int failed,
                     struct hearthi_image_file *is)
{
    size_t index = w->n * sizeof *w->part;

    if (w->fd < 0)
        return failed;
    if (failed == 0)
        failed = all_write(w->fd, w->part, index);
    if (failed == 0 && fsync(w->fd) != 0)
        failed = errno;
    if (close(w->fd) != 0 && failed == 0)
        failed = errno;
    *is = (struct hearthi_image_file){ w->at + index, w->n,
                                       hearthi_checksum(w->part, index) };
    free(w->part);
    *w = (struct hearthi_image_writer){ .fd = -1 };
    return failed;
}

/* ---- reading ---- */

/* Parts follow each other and fill all that is before the index. */
static bool
index_good(const struct hearthi_image_reader *r, uint64_t end)
{
    uint64_t at = 0;

    for (size_t i = 0; i < r->n; i++) {
        if (r->part[i].offset != at || r->part[i].bytes > end - at)
            return false;
        at += r->part[i].bytes;
    }
    return at == end;
}

static int
index_read(struct hearthi_image_reader *r, const struct hearthi_image_file *is)
{
    size_t      index = (size_t)is->parts * sizeof *r->part;
    struct stat have;
    int         failed;

    if (fstat(r->fd, &have) != 0)
        return errno;
    if ((uint64_t)have.st_size != is->bytes ||
        is->parts > is->bytes / sizeof *r->part)
        return EBADMSG;
    r->part = malloc(index + 1);
    if (r->part == NULL)
        return ENOMEM;
    r->n = is->parts;
    failed = all_read(r->fd, r->part, index, is->bytes - index);
    if (failed == 0 && (hearthi_checksum(r->part, index) != is->hash ||
                        !index_good(r, is->bytes - index)))
        failed = EBADMSG;
    return failed;
}

int
hearthi_image_open(struct hearthi_image_reader *r, int folder,
                   const char *name, const struct hearthi_image_file *is)
{
    int failed;

    *r = (struct hearthi_image_reader){ 0 };
    r->fd = file_open(folder, name, O_RDONLY);
    if (r->fd < 0)
        return errno;
    failed = index_read(r, is);
    if (failed != 0)
        hearthi_image_close(r);
    return failed;
}

void
hearthi_image_close(struct hearthi_image_reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    free(r->part);
    *r = (struct hearthi_image_reader){ .fd = -1 };
}

int
hearthi_image_get(const struct hearthi_image_reader *r,
                  const struct hearthi_image_part *p, void **bytes)
{
    int failed;

    *bytes = malloc(p->bytes + 1);
    if (*bytes == NULL)
        return ENOMEM;
    failed = all_read(r->fd, *bytes, p->bytes, p->offset);
    if (failed == 0 && hearthi_checksum(*bytes, p->bytes) != p->hash)
        failed = EBADMSG;
    if (failed != 0) {
        free(*bytes);
        *bytes = NULL;
    }
    return failed;
}

/* A part may be as large as the memory that is left. */
static int
part_check(const struct hearthi_image_reader *r,
           const struct hearthi_image_part *p, void *buffer)
{
    struct hearthi_sum *s = hearthi_sum_new();
    int                 failed = s == NULL ? ENOMEM : 0;

    for (uint64_t at = 0, n; at < p->bytes && failed == 0; at += n) {
        n = hearthi_min(p->bytes - at, BUFFER);
        failed = all_read(r->fd, buffer, n, p->offset + at);
        if (failed == 0)
            hearthi_sum_add(s, buffer, n);
    }
    if (s != NULL && hearthi_sum_end(s) != p->hash && failed == 0)
        failed = EBADMSG;
    return failed;
}

int
hearthi_image_check(const struct hearthi_image_reader *r)
{
    void *buffer = malloc(BUFFER);
    int   failed = buffer == NULL ? ENOMEM : 0;

    for (size_t i = 0; i < r->n && failed == 0; i++)
        failed = part_check(r, &r->part[i], buffer);
    free(buffer);
    return failed;
}

/* ---- small files ---- */

int
hearthi_small_file_get(int folder, const char *name, size_t most, void **bytes,
                       size_t *n)
{
    struct stat have;
    int         fd = file_open(folder, name, O_RDONLY), failed;

    *bytes = NULL;
    if (fd < 0)
        return errno;
    failed = fstat(fd, &have) != 0 ? errno : 0;
    if (failed == 0 && (have.st_size < 0 || (uint64_t)have.st_size > most))
        failed = EBADMSG;
    if (failed == 0) {
        *n = (size_t)have.st_size;
        *bytes = calloc(1, *n + 1);
        failed = *bytes == NULL ? ENOMEM : all_read(fd, *bytes, *n, 0);
    }
    close(fd);
    if (failed != 0) {
        free(*bytes);
        *bytes = NULL;
    }
    return failed;
}

int
hearthi_small_file_put(int folder, const char *name, const void *bytes,
                       size_t n)
{
    int fd = file_open(folder, name, O_WRONLY | O_CREAT | O_TRUNC), failed;

    if (fd < 0)
        return errno;
    failed = all_write(fd, bytes, n);
    if (failed == 0 && fsync(fd) != 0)
        failed = errno;
    if (close(fd) != 0 && failed == 0)
        failed = errno;
    return failed;
}
