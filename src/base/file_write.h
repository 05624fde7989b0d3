/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Writes to files of the library's own.  Beyond what a file of this process
 * may have (ulimit -f) the kernel sends SIGXFSZ, which would end the process
 * without a word: here such a write fails with EFBIG, and nothing else
 * happens.
 */
#ifndef HEARTHI_FILE_WRITE_H
#define HEARTHI_FILE_WRITE_H

#include <signal.h>
#include <stdbool.h>

/* What the program has of that signal, which it keeps. */
struct hearthi_file_write {
    sigset_t mask;
    bool     pending;
};

/* Around all writes, in one thread. */
void hearthi_file_write_begin(struct hearthi_file_write *w);
void hearthi_file_write_end(const struct hearthi_file_write *w);

/* strerror(3), with what would help.  Of one thread at a time. */
const char *hearthi_file_write_error(int code);

#endif
