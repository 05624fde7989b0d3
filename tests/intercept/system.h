/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls that hand memory to the kernel, as the tests of them see them: each
 * brings n bytes from one place to another.
 */
#ifndef HEARTH_TEST_SYSTEM_H
#define HEARTH_TEST_SYSTEM_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>

/* What a call reads from or writes to. */
enum medium { A_FILE, A_STREAM, A_SOCKET, A_PIPE };

struct transfer {
    const char *name;
    enum medium medium;
    bool        takes; /* it writes into memory */
    /* Of n bytes at p; in `place` is a descriptor or a FILE.  True if the call
     * says that it has done all of it. */
    bool (*work)(const void *place, char *p, size_t n);
};

/* The last has no name. */
extern const struct transfer transfers[];

void system_tells(TCase *tc); /* system_tells.c */
void system_small(TCase *tc); /* system_small.c */

#endif
