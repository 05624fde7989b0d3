/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "message_stream.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/report.h"

/* Bytes.  AT_ONCE are read before others have their turn. */
enum { LEAST = 1 << 16, AT_ONCE = 8 << 20 };

static void
front_close(struct hearthi_message_stream *b)
{
    memmove(b->p, b->p + b->at, hearthi_message_stream_left(b));
    b->end -= b->at;
    b->at = 0;
}

/* UCX before 1.14 has a mremap(2) of its own (space/segment.c). */
static void
room_grow(struct hearthi_message_stream *b, size_t need)
{
    size_t room = b->room > LEAST ? b->room : LEAST;
    void  *p;

    while (room < need)
        room *= 2;
    p = b->p == NULL
            ? mmap(NULL, room, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            : (void *)syscall(SYS_mremap, b->p, b->room, room, MREMAP_MAYMOVE);
    if (p == MAP_FAILED)
        hearthi_fatal("gateway", "no memory for messages of %zu bytes", room);
    b->p = p;
    b->room = room;
}

char *
hearthi_message_stream_room(struct hearthi_message_stream *b, size_t n)
{
    if (b->at == b->end)
        b->at = b->end = 0;
    if (b->room - b->end < n && b->at > 0)
        front_close(b);
    if (b->room - b->end < n)
        room_grow(b, b->end + n);
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
    if (b->p != NULL)
        munmap(b->p, b->room);
    *b = (struct hearthi_message_stream){ .p = NULL };
}

void
hearthi_message_stream_shrink(struct hearthi_message_stream *b, size_t room)
{
    if (b->room <= room || hearthi_message_stream_left(b) > room / 2)
        return;
    front_close(b);
    munmap(b->p + room, b->room - room);
    b->room = room;
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
