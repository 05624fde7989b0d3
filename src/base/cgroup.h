/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the kernel says in files: a line, a number, and the limits of the
 * control groups that this process is in.
 */
#ifndef HEARTHI_CGROUP_H
#define HEARTHI_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

enum { HEARTHI_LINE = 512 };

/* A line of a file that begins with a word: what stands behind it, in a text
 * of HEARTHI_LINE.  A file's number; false where it is none, as "max". */
bool hearthi_file_line(const char *file, const char *word, char *text);
bool hearthi_file_number(const char *file, uint64_t *n);

/* The least limit of a kind that this process's control group has, or one
 * above it.  Processes that share that group have the same numbers of it. */
struct hearthi_cgroup_limit {
    uint64_t most; /* UINT64_MAX: there is none */
    uint64_t device, group;
    char     file[2 * HEARTHI_LINE]; /* that says so */
};

/* The least number of that file, where its controller is mounted ("" is
 * version 2). */
struct hearthi_cgroup_limit hearthi_cgroup_least(const char *controller,
                                                 const char *file);

/* Bytes, by what kills (memory.max, limit_in_bytes) and by what slows down
 * (memory.high). */
struct hearthi_cgroup_limit hearthi_cgroup_memory(void);

/* Thousandths of a processor's time. */
struct hearthi_cgroup_limit hearthi_cgroup_processors(void);

/* For tests: what stands before /proc and /sys; "" usually. */
extern const char *hearthi_cgroup_root;

#endif
