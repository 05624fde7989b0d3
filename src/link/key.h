/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The key that all clusters of a job share: a file of one line, 64 hexadecimal
 * digits, that only its owner may read.
 */
#ifndef HEARTHI_LINK_KEY_H
#define HEARTHI_LINK_KEY_H

#include <stdbool.h>

/* What is wrong, in one line, for the caller to say: the link and its files
 * are used by a library whose lines end a job, and by a command whose do not.
 */
struct hearthi_link_error {
    char text[600];
};

/* Returns false, so that a check ends with "return
 * hearthi_link_error(...)" (link_error.c). */
bool hearthi_link_error(struct hearthi_link_error *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

/* ---- the key ---- */

enum { HEARTHI_KEY_BYTES = 32 };

/* Into a new file, mode 0600; never over one that is there. */
bool hearthi_key_make(const char *path, struct hearthi_link_error *wrong);

bool hearthi_key_read(const char                *path,
                      unsigned char              key[static HEARTHI_KEY_BYTES],
                      struct hearthi_link_error *wrong);

#endif
