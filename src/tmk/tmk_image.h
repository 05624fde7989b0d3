/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Global variables by what they are called on every rank: in which of the
 * program's files they are, and where in it.  Each rank has its files at
 * addresses of its own.
 */
#ifndef HEARTHI_TMK_IMAGE_H
#define HEARTHI_TMK_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hearthi_image {
    uint64_t file;   /* a hash of its name */
    uint64_t offset; /* from where it was loaded */
};

/* False if these bytes are not part of the writable data of a file. */
bool hearthi_image_of(const void *p, size_t bytes,
                      struct hearthi_image *image);

/* Where that is here; NULL if there is no such file. */
void *hearthi_image_at(const struct hearthi_image *image, size_t bytes);

#endif
