/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The key that all clusters of a job share: a file of one line, 64 hexadecimal
 * digits, that nobody but its owner may read.
 */
#ifndef HEARTHI_LINK_KEY_H
#define HEARTHI_LINK_KEY_H

#include "link_error.h"

enum { HEARTHI_KEY_BYTES = 32 };

/* Into a new file, mode 0600; never over one that is there. */
bool hearthi_key_make(const char *path, struct hearthi_link_error *wrong);

bool hearthi_key_read(const char                *path,
                      unsigned char              key[static HEARTHI_KEY_BYTES],
                      struct hearthi_link_error *wrong);

#endif
