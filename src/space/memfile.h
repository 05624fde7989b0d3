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

#endif
