/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages that come and go on a socket which is not waited for: what came in
 * parts, and what could not leave yet.  One thread uses a stream.
 */
#ifndef HEARTHI_MESSAGE_STREAM_H
#define HEARTHI_MESSAGE_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "wan_message.h"

/* Bytes one behind the other; those before `at` are used up.  There is no call
 * of malloc(3) here: a page fault may add some. */
struct hearthi_message_stream {
    char  *p;
    size_t at, end, room;
};

/* Room for n more, behind the end. */
char *hearthi_message_stream_room(struct hearthi_message_stream *b, size_t n);
void  hearthi_message_stream_add(struct hearthi_message_stream *b,
                                 const void *p, size_t n);
void  hearthi_message_stream_free(struct hearthi_message_stream *b);

/* Give back what is over so many bytes (whole pages), unless most of that is
 * full. */
void hearthi_message_stream_shrink(struct hearthi_message_stream *b,
                                   size_t                         room);

static inline size_t
hearthi_message_stream_left(const struct hearthi_message_stream *b)
{
    return b->end - b->at;
}

/* A whole message with its body, which stays until the next call; or NULL. */
const struct hearthi_wan_message *
hearthi_message_stream_next(struct hearthi_message_stream *b);

/* Read what is there, or much of it.  False: the other side has closed, or
 * errno is not 0 any more. */
bool hearthi_message_stream_read(struct hearthi_message_stream *b, int fd);

#endif
