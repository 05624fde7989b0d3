/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names for global variables and functions that mean the same on every rank:
 * which of the program's files one is in, and where in it.  Each rank has its
 * files at addresses of its own.
 */
#ifndef HEARTHI_TMK_IMAGE_H
#define HEARTHI_TMK_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hearthi_tmk_image {
    uint64_t file;   /* a hash of its name */
    uint64_t offset; /* from where it was loaded */
};

enum hearthi_tmk_part { HEARTHI_TMK_DATA, HEARTHI_TMK_CODE };

/* False if these bytes are not part of a file's writable data, or code. */
bool hearthi_tmk_image_of(const void *p, size_t bytes,
                          enum hearthi_tmk_part     part,
                          struct hearthi_tmk_image *image);

/* Where that is here; NULL if there is no such file. */
void *hearthi_tmk_image_at(const struct hearthi_tmk_image *image, size_t bytes,
                           enum hearthi_tmk_part part);

#endif
