/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The files of the ranks of the run before, once they were found whole.  That
 * of this rank, or of the one whose memory it has, stays open, since the
 * checkpoint may be removed before the program asks for more of it; others are
 * open only while they are read: there may be more than a process may have
 * open.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "checkpoint.h"

_Noreturn static void
unreadable(const char *call, uint64_t rank, int failed)
{
    hearthi_fatal(call,
                  "rank.%" PRIu64 " of number %" PRIu64
                  " of %s cannot be read: %s",
                  rank, hearthi_restart.number, hearthi_restart.where,
                  hearthi_damage_text(failed));
}

static void
file_open(struct hearthi_image_reader *file, const char *call, uint64_t rank)
{
    const struct hearthi_restart *r = &hearthi_restart;
    char                          name[HEARTHI_RANK_NAME];
    int                           failed;

    hearthi_rank_name(rank, name);
    failed = hearthi_image_open(file, r->folder, name, &r->meta.file[rank]);
    if (failed != 0)
        unreadable(call, rank, failed);
}

/* The first part is asked for before there is another thread. */
static const struct hearthi_image_reader *
file_take(struct hearthi_image_reader *other, const char *call, uint64_t rank)
{
    struct hearthi_restart *r = &hearthi_restart;

    if (rank != r->own_rank) {
        file_open(other, call, rank);
        return other;
    }
    if (r->own.fd < 0)
        file_open(&r->own, call, rank);
    return &r->own;
}

static void
file_leave(struct hearthi_image_reader *other, uint64_t rank)
{
    if (rank != hearthi_restart.own_rank)
        hearthi_image_close(other);
}

static void *
part_read(const struct hearthi_image_reader *file,
          const struct hearthi_image_part *p, const char *call, uint64_t rank)
{
    void *bytes;
    int   failed = hearthi_image_get(file, p, &bytes);

    if (failed != 0)
        unreadable(call, rank, failed);
    return bytes;
}

void
hearthi_restart_parts(const char *call, uint64_t rank,
                      enum hearthi_part_kind kind, hearthi_part_use *use)
{
    struct hearthi_image_reader        other;
    const struct hearthi_image_reader *file = file_take(&other, call, rank);

    for (size_t i = 0; i < file->n; i++) {
        void *bytes;

        if (file->part[i].kind != kind)
            continue;
        bytes = part_read(file, &file->part[i], call, rank);
        use(&file->part[i], bytes);
        free(bytes);
    }
    file_leave(&other, rank);
}

/* The part that a name has, or NULL. */
static const struct hearthi_image_part *
private_find(const struct hearthi_image_reader *file, const char *call,
             uint64_t rank, const char *name)
{
    char is[HEARTHI_PRIVATE_NAME];

    for (size_t i = 0; i < file->n; i++) {
        const struct hearthi_image_part *p = &file->part[i];

        if (p->kind != HEARTHI_PART_PRIVATE)
            continue;
        if (pread(file->fd, is, sizeof is, (off_t)p->offset) !=
            (ssize_t)sizeof is)
            unreadable(call, rank, EBADMSG);
        if (strncmp(is, name, sizeof is) == 0)
            return p;
    }
    return NULL;
}

/* The part has another size than it is asked for. */
_Noreturn static void
size_refuse(const char *call, uint64_t rank, const char *name, uint64_t saved,
            size_t bytes)
{
    hearthi_fatal(call,
                  "rank %" PRIu64 " has saved %" PRIu64 " bytes under the "
                  "name %s, and here are %zu: give as many",
                  rank, saved, name, bytes);
}

bool
hearthi_restart_private(const char *call, uint64_t rank, const char *name,
                        void *to, size_t bytes)
{
    struct hearthi_image_reader        other;
    const struct hearthi_image_reader *file = file_take(&other, call, rank);
    const struct hearthi_image_part *p = private_find(file, call, rank, name);
    void                            *all;

    if (p != NULL) {
        if (p->at != bytes || p->bytes != bytes + HEARTHI_PRIVATE_NAME)
            size_refuse(call, rank, name, p->at, bytes);
        all = part_read(file, p, call, rank);
        memcpy(to, (char *)all + HEARTHI_PRIVATE_NAME, bytes);
        free(all);
    }
    file_leave(&other, rank);
    return p != NULL;
}
