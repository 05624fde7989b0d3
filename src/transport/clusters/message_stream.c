/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "message_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/report.h"

enum {
    LEAST = 1 << 16,
    AT_ONCE = 8 << 20, /* are read before others have their turn */
};

char *
hearthi_message_stream_room(struct hearthi_message_stream *b, size_t n)
{
    if (b->at == b->end)
        b->at = b->end = 0;
    if (b->room - b->end >= n)
        return b->p + b->end;
    if (b->at > 0) {
        memmove(b->p, b->p + b->at, b->end - b->at);
        b->end -= b->at;
        b->at = 0;
    }
    if (b->room - b->end < n) {
        size_t room = b->room > LEAST ? b->room : LEAST;

        while (room - b->end < n)
            room *= 2;
        b->p = realloc(b->p, room);
        if (b->p == NULL)
            hearthi_fatal("gateway", "no memory for messages of %zu bytes",
                          room);
        b->room = room;
    }
    return b->p + b->end;
}

void
hearthi_message_stream_add(struct hearthi_message_stream *b, const void *p,
                           size_t n)
{
    if (n == 0)
        return;
    memcpy(hearthi_message_stream_room(b, n), p, n);
    b->end += n;
}

void
hearthi_message_stream_free(struct hearthi_message_stream *b)
{
    free(b->p);
    *b = (struct hearthi_message_stream){ .p = NULL };
}

const struct hearthi_wan_message *
hearthi_message_stream_next(struct hearthi_message_stream *b)
{
    struct hearthi_wan_message head;
    size_t                     whole;
    const void                *msg;

    if (hearthi_message_stream_left(b) < sizeof head)
        return NULL;
    memcpy(&head, b->p + b->at, sizeof head);
    whole = sizeof head + hearthi_wan_round(head.len);
    if (hearthi_message_stream_left(b) < whole)
        return NULL;
    msg = b->p + b->at;
    b->at += whole;
    return msg;
}

bool
hearthi_message_stream_read(struct hearthi_message_stream *b, int fd)
{
    for (size_t all = 0; all < AT_ONCE;) {
        char   *to = hearthi_message_stream_room(b, LEAST);
        ssize_t n = recv(fd, to, b->room - b->end, MSG_DONTWAIT);

        if (n == 0)
            return false;
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        b->end += (size_t)n;
        all += (size_t)n;
    }
    return true;
}
