/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Files of a checkpoint: what one rank wrote, in parts that each have a
 * checksum, and at the end an index of them.  Every byte of a file is in a
 * part or in the index, and the checksum of the index and the length of the
 * file are in the checkpoint's meta file (meta.h): so a file that was cut off,
 * or has a bit that flipped, is told from one that is whole.
 *
 * Functions that can fail return 0, or an errno; EBADMSG is what was read and
 * is not what was written.
 */
#ifndef HEARTHI_CHECKPOINT_IMAGE_H
#define HEARTHI_CHECKPOINT_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* What a part has, and what `at` is. */
enum hearthi_part_kind {
    HEARTHI_PART_PAGES = 1, /* runs of pages, `at` of them: struct
                               hearthi_page_run each; then their bytes */
    HEARTHI_PART_PRIVATE,   /* a name (HEARTHI_PRIVATE_NAME bytes), and memory
                               of the program */
    HEARTHI_PART_OBJECTS,   /* malloc/malloc_image.h: what it owns */
    HEARTHI_PART_ARENA,     /* the same: what it says of its own arena */
    HEARTHI_PART_FLAGS,     /* flags that are set, of those it manages */
    HEARTHI_PART_LOCKS      /* numbers and names of the locks that it manages,
                               in order */
};

struct hearthi_page_run {
    uint64_t page, count;
};

enum { HEARTHI_PRIVATE_NAME = 64, HEARTHI_PART_PIECES = 512 };

struct hearthi_image_part {
    uint64_t kind, at, offset, bytes, hash;
};

/* A file of a rank, as the meta file knows it. */
struct hearthi_image_file {
    uint64_t bytes, parts, hash; /* hash: of the index, the last bytes */
};

/* ---- writing ---- */

struct hearthi_image_writer {
    int                        fd;
    uint64_t                   at;
    struct hearthi_image_part *part;
    size_t                     n, room;
};

int hearthi_image_create(struct hearthi_image_writer *w, int folder,
                         const char *name);
int hearthi_image_put(struct hearthi_image_writer *w,
                      enum hearthi_part_kind kind, uint64_t at,
                      const struct iovec *piece, int pieces);

/* The index, and all of it is on the disk; `failed` is what went wrong before,
 * or 0.  The writer is closed in any case. */
int hearthi_image_finish(struct hearthi_image_writer *w, int failed,
                         struct hearthi_image_file *is);

/* ---- reading ---- */

struct hearthi_image_reader {
    int                        fd;
    struct hearthi_image_part *part;
    size_t                     n;
};

int  hearthi_image_open(struct hearthi_image_reader *r, int folder,
                        const char *name, const struct hearthi_image_file *is);
void hearthi_image_close(struct hearthi_image_reader *r);

/* All bytes of a part, in memory that free(3) takes back. */
int hearthi_image_get(const struct hearthi_image_reader *r,
                      const struct hearthi_image_part *p, void **bytes);

/* Are all checksums right? */
int hearthi_image_check(const struct hearthi_image_reader *r);

/* ---- both, and the meta file ---- */

/* All of a small file, at most so many bytes. */
int hearthi_small_file_get(int folder, const char *name, size_t most,
                           void **bytes, size_t *n);
int hearthi_small_file_put(int folder, const char *name, const void *bytes,
                           size_t n);

#endif
