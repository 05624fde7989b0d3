/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Descriptors of the library's own.  A program that has closed its standard
 * input, output or error gets the next file that is opened in their place, and
 * what it prints lands there: in memory of the heap, in a datagram.  So none
 * of the library's is one of the three, and each is closed by exec.  All that
 * opens a file, a socket or another thing that has a descriptor goes through
 * here (tests/sources/descriptors.sh).
 *
 * Until a number is exchanged here, another thread could write to what has it:
 * a thread that writes to what the program has closed.
 */
#ifndef HEARTHI_DESCRIPTOR_H
#define HEARTHI_DESCRIPTOR_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a call that opens something has returned, or the same at 3 or above;
 * -1 with errno where the call has failed or no descriptor is left.  A lock of
 * fcntl(2) is to be taken behind this: closing what it was before gives it
 * back. */
int hearthi_descriptor(int fd);

/* fopen(path, "r"), or NULL with errno. */
FILE *hearthi_file_to_read(const char *path);

/* A line of a file that begins with a word: what stands behind it, in a text
 * of HEARTHI_LINE.  A file's number; false where it is none, as "max". */
enum { HEARTHI_LINE = 512 };
bool hearthi_file_line(const char *file, const char *word, char *text);
bool hearthi_file_number(const char *file, uint64_t *n);

/* opendir() of a name in a folder that is open, or AT_FDCWD; its place is the
 * stream's own.  NULL with errno. */
DIR *hearthi_folder_to_read(int folder, const char *name);

#endif
