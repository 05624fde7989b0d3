/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "meta.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/format.h"
#include "checksum.h"

static const char   file_name[] = "meta";
static const size_t MOST = (size_t)1 << 32; /* bytes of such a file */

static size_t
bytes_of(const struct hearthi_meta_head *h)
{
    return sizeof *h + h->ranks * sizeof(struct hearthi_image_file) +
           h->words * sizeof(uint64_t) + sizeof(uint64_t);
}

int
hearthi_meta_write(const struct hearthi_meta *m, int folder)
{
    size_t   bytes = bytes_of(&m->head), at = sizeof m->head;
    char    *all = calloc(1, bytes);
    uint64_t hash;
    int      failed;

    if (all == NULL)
        return ENOMEM;
    memcpy(all, &m->head, sizeof m->head);
    memcpy(all + at, m->file, m->head.ranks * sizeof *m->file);
    at += m->head.ranks * sizeof *m->file;
    if (m->head.words > 0)
        memcpy(all + at, m->words, m->head.words * sizeof *m->words);
    hash = hearthi_checksum(all, bytes - sizeof hash);
    memcpy(all + bytes - sizeof hash, &hash, sizeof hash);
    failed = hearthi_small_file_put(folder, file_name, all, bytes);
    free(all);
    return failed;
}

/* Is it what was written?  The counts are believed once they are no more than
 * the file has. */
static int
all_check(const char *all, size_t bytes, struct hearthi_meta_head *head)
{
    uint64_t hash;

    if (bytes < sizeof *head + sizeof hash)
        return EBADMSG;
    memcpy(head, all, sizeof *head);
    memcpy(&hash, all + bytes - sizeof hash, sizeof hash);
    if (head->magic != HEARTHI_META_MAGIC ||
        hash != hearthi_checksum(all, bytes - sizeof hash))
        return EBADMSG;
    if (head->format != HEARTHI_META_FORMAT)
        return EPROTO;
    if (head->ranks == 0 || head->ranks > bytes || head->words > bytes ||
        bytes_of(head) != bytes)
        return EBADMSG;
    return 0;
}

int
hearthi_meta_read(struct hearthi_meta *m, int folder)
{
    size_t bytes;
    int    failed;

    *m = (struct hearthi_meta){ .all = NULL };
    failed = hearthi_small_file_get(folder, file_name, MOST, &m->all, &bytes);
    if (failed == 0)
        failed = all_check(m->all, bytes, &m->head);
    if (failed != 0) {
        hearthi_meta_free(m);
        return failed;
    }
    m->file =
        (struct hearthi_image_file *)(void *)((char *)m->all + sizeof m->head);
    m->words = (uint64_t *)(void *)(m->file + m->head.ranks);
    return 0;
}

bool
hearthi_meta_is(int folder)
{
    int fd =
        hearthi_descriptor(openat(folder, file_name, O_RDONLY | O_CLOEXEC));
    uint64_t magic = 0;
    bool     is = fd >= 0 && read(fd, &magic, sizeof magic) == sizeof magic &&
              magic == HEARTHI_META_MAGIC;

    if (fd >= 0)
        close(fd);
    return is;
}

void
hearthi_meta_free(struct hearthi_meta *m)
{
    free(m->all);
    m->all = NULL;
    m->file = NULL;
    m->words = NULL;
}

void
hearthi_rank_name(uint64_t rank, char name[HEARTHI_RANK_NAME])
{
    snprintf(name, HEARTHI_RANK_NAME, "rank.%" PRIu64, rank);
}

const char *
hearthi_damage_text(int failed)
{
    switch (failed) {
    case EBADMSG: return "it is not what was written";
    case EPROTO: return "it has the format of another version of Hearth";
    default: return strerror(failed);
    }
}

/* ---- the program ---- */

void
hearthi_program_name(char name[HEARTHI_META_PROGRAM])
{
    char    path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    path[n < 0 ? 0 : n] = '\0';
    memset(name, 0, HEARTHI_META_PROGRAM);
    snprintf(name, HEARTHI_META_PROGRAM, "%.*s", HEARTHI_META_PROGRAM - 1,
             hearthi_base_name(path));
}

uint64_t
hearthi_program_built(void)
{
    int fd = hearthi_descriptor(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    struct stat is;
    uint64_t    hash = 0;
    void       *all;

    if (fd < 0)
        return 0;
    if (fstat(fd, &is) == 0 && is.st_size > 0) {
        all = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (all != MAP_FAILED) {
            hash = hearthi_checksum(all, (size_t)is.st_size);
            munmap(all, (size_t)is.st_size);
        }
    }
    close(fd);
    return hash;
}
