/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What stands in a letter: pieces, each a run of bytes or a patch (patch.h).
 * Pure data, no state.
 */
#ifndef HEARTHI_AM_BUFFER_H
#define HEARTHI_AM_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "transport/patch.h"

/* Its pieces follow, one behind the other. */
struct hearthi_am_buffer {
    uint64_t bytes;
    uint8_t  body[];
};

/* A run begins with where it goes and how long it is. */
enum { HEARTHI_RUN_HEAD = sizeof(uint64_t) };

/* Of a patch, beside its units. */
enum { HEARTHI_PATCH_HEAD = 2 * sizeof(uint64_t) };

/* Append to a letter that has room. */
void hearthi_am_buffer_run(struct hearthi_am_buffer *l, size_t offset,
                           const void *src, size_t len);
void hearthi_am_buffer_patch(struct hearthi_am_buffer   *l,
                             const struct hearthi_patch *p, size_t offset,
                             const char *src);

/* Store all of it where it belongs in a segment. */
void hearthi_am_buffer_store(const struct hearthi_am_buffer *l, char *segment);

#endif
