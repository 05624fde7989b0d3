/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The meta file of a checkpoint: which run it is of, what its heap is like,
 * and length and checksum of the file of each rank.  It is written last.
 * Behind the struct come a struct hearthi_image_file for each rank, so many
 * words about allocations (save.c has their order), and a checksum of all of
 * it.
 */
#ifndef HEARTHI_CHECKPOINT_META_H
#define HEARTHI_CHECKPOINT_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image.h"

#define HEARTHI_META_MAGIC UINT64_C(0x314b434854524548) /* "HERTHCK1" */

/* One more with each change of what stands in a folder. */
enum { HEARTHI_META_FORMAT = 1, HEARTHI_META_PROGRAM = 256 };

struct hearthi_meta_head {
    uint64_t magic, format;
    uint64_t number;  /* of the checkpoint */
    uint64_t seconds; /* when it was made, since 1970 */
    uint64_t ranks, nodes;
    uint64_t base;   /* of the heap */
    uint64_t heap;   /* its bytes, without the arenas */
    uint64_t page;   /* bytes of one */
    uint64_t arenas; /* pages of the heap that are before all else */
    uint64_t arena;  /* pages of each arena */
    uint64_t arena_count;
    uint64_t arena_words; /* bytes of each that are not for objects */
    uint64_t locks;       /* numbers that hearth_lock_of() gave are below */
    uint64_t locks_on;    /* they are a table (node/lock_numbers.h) */
    uint64_t data;        /* bytes of all files of ranks */
    uint64_t built;       /* a checksum of the program's file */
    uint64_t words;       /* about allocations */
    char     version[32]; /* of the library */
    char     program[HEARTHI_META_PROGRAM];
};

struct hearthi_meta {
    struct hearthi_meta_head   head;
    struct hearthi_image_file *file;  /* of each rank */
    uint64_t                  *words; /* about allocations */
    void                      *all;   /* the memory of these two */
};

/* In the folder of one checkpoint.  0, or an errno; EBADMSG is damage, EPROTO
 * another format. */
int  hearthi_meta_write(const struct hearthi_meta *m, int folder);
int  hearthi_meta_read(struct hearthi_meta *m, int folder);
void hearthi_meta_free(struct hearthi_meta *m);

/* Is there a meta file, damaged or not? */
bool hearthi_meta_is(int folder);

/* "rank.7" */
enum { HEARTHI_RANK_NAME = 32 };
void hearthi_rank_name(uint64_t rank, char name[HEARTHI_RANK_NAME]);

/* What is wrong, for a line. */
const char *hearthi_damage_text(int failed);

/* The last part of the name of this process's file, and the file's checksum.
 */
void     hearthi_program_name(char name[HEARTHI_META_PROGRAM]);
uint64_t hearthi_program_built(void);

#endif
