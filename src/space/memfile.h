/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Files of memory without a name.
 */
#ifndef HEARTHI_MEMFILE_H
#define HEARTHI_MEMFILE_H

#include <stddef.h>

/* A file of so many bytes, which take no memory until they are touched.
 * Returns its descriptor; or -1, and *why says what would help. */
int hearthi_memfile(const char *name, size_t bytes, const char **why);

/* Ends the job with one line if the program has closed the descriptor, or made
 * it another file's: what would be mapped are that file's bytes. */
void hearthi_memfile_check(int fd);

/* Close it if it is still what it was. */
void hearthi_memfile_close(int fd);

#endif
