/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Asks that come and go on a socket which is not waited for: what came in
 * parts, and what could not leave yet.  One thread uses a stream.
 */
#ifndef HEARTHI_CLUSTERS_BYTES_H
#define HEARTHI_CLUSTERS_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "ask.h"

/* Bytes one behind the other; those before `at` are used up. */
struct hearthi_bytes {
    char  *p;
    size_t at, end, room;
};

/* Room for n more, behind the end. */
char *hearthi_bytes_room(struct hearthi_bytes *b, size_t n);
void  hearthi_bytes_add(struct hearthi_bytes *b, const void *p, size_t n);
void  hearthi_bytes_free(struct hearthi_bytes *b);

static inline size_t
hearthi_bytes_left(const struct hearthi_bytes *b)
{
    return b->end - b->at;
}

/* A whole ask with its body, which stays until the next call; or NULL. */
const struct hearthi_ask *hearthi_bytes_next(struct hearthi_bytes *b);

/* Read what is there, or much of it; write what goes.  False: the other side
 * has closed. */
bool hearthi_bytes_read(struct hearthi_bytes *b, int fd);
bool hearthi_bytes_write(struct hearthi_bytes *b, int fd);

#endif
