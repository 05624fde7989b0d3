/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Files of memory that ranks of a machine map, and those of a node's ranks for
 * each other: each maps the cached frames of the others, to read, and all
 * share one file of small things.
 *
 * The files have no names.  A rank finds those of another under /proc, and
 * looks whether they are the ones that were told.  Where that cannot be, as
 * between containers that do not see each other's processes, nothing is
 * shared.
 *
 * No file ever shrinks; where a frame was given back (page/freed_frames.h) a
 * rank that still reads it finds zeroes, and then that its copy has no name
 * any more; and a mapping keeps its file, so what a rank reads is there when
 * its owner has unmapped it, or has died.
 */
#ifndef HEARTHI_FILES_H
#define HEARTHI_FILES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Map the file that each of n ranks gives, to read and write; at[] has where,
 * but keeps what is there already.  `member` has the ranks' numbers, or NULL:
 * they count from 0.  Ends the job if one cannot be had.  Collective over the
 * communicator of these ranks; when all have returned, files may be closed. */
void hearthi_files_map(int fd, size_t bytes, char **at, int n,
                       const int *member, MPI_Comm comm);

/* Can ranks of the node map files of each other?  Collective over it. */
bool hearthi_files_are_seen(void);

struct hearthi_node_files {
    char  *shared; /* zeroes, without memory where no rank touched them */
    size_t shared_bytes;
    char **cached; /* of each rank of the node, NULL for this one */
};

extern struct hearthi_node_files hearthi_node_files;

/* Returns NULL, or what could not be done, on all ranks of the node alike.
 * Collective over the node; after the heap. */
const char *hearthi_node_files_open(size_t shared_bytes);
void        hearthi_node_files_close(void);

#endif
