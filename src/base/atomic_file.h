/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A file that is there whole or not at all: it is written beside its place
 * under another name, and gets its own when all of it is on the disk.
 *
 * Functions return the reason why they failed, or NULL if all is well.
 */
#ifndef HEARTHI_ATOMIC_FILE_H
#define HEARTHI_ATOMIC_FILE_H

#include <limits.h>
#include <stdio.h>

#include "file_write.h"

struct hearthi_atomic_file {
    int  folder; /* held open: the program may go elsewhere meanwhile */
    char name[NAME_MAX + 1], other[NAME_MAX + 1];
    struct hearthi_file_write write; /* from begin to end */
};

/* Find the folder of a path and see that a file can be made there. */
const char *hearthi_atomic_file_open(struct hearthi_atomic_file *w,
                                     const char                 *path);
void        hearthi_atomic_file_close(struct hearthi_atomic_file *w);

/* A stream to print to, and the end of it by the same thread, which takes the
 * stream: `trouble` is what went wrong while printing, or NULL.  After that
 * there is the new file, or what was there before. */
const char *hearthi_atomic_file_begin(struct hearthi_atomic_file *w,
                                      FILE                      **out);
const char *hearthi_atomic_file_end(struct hearthi_atomic_file *w, FILE *out,
                                    const char *trouble);

#endif
