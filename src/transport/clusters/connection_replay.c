/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "connection_replay.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/report.h"
#include "base/test_limits.h"

/* Bytes.  KEPT: room that is not given back. */
enum { LEAST = 1 << 16, KEPT = 1 << 22 };
enum { EACH = HEARTHI_TEST_LIMIT(1 << 18, 1 << 10) };

static size_t
kept(const struct hearthi_replay *r)
{
    return r->end - r->at;
}

void
hearthi_replay_free(struct hearthi_replay *r)
{
    if (r->p != NULL)
        munmap(r->p, r->room);
    r->p = NULL;
    r->at = r->end = r->room = r->sent = 0;
}

/* UCX before 1.14 has a mremap(2) of its own (space/segment.c). */
static void
room_grow(struct hearthi_replay *r, size_t need)
{
    size_t room = r->room > LEAST ? r->room : LEAST;
    void  *p;

    while (room < need)
        room *= 2;
    p = r->p == NULL
            ? mmap(NULL, room, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            : (void *)syscall(SYS_mremap, r->p, r->room, room, MREMAP_MAYMOVE);
    if (p == MAP_FAILED)
        hearthi_fatal("gateway", "no memory for messages of %zu bytes", room);
    r->p = p;
    r->room = room;
}

void
hearthi_replay_add(struct hearthi_replay *r, const void *p, size_t n)
{
    if (n == 0)
        return;
    if (r->room - r->end < n && r->at > 0) {
        memmove(r->p, r->p + r->at, kept(r));
        r->end -= r->at;
        r->at = 0;
    }
    if (r->room - r->end < n)
        room_grow(r, r->end + n);
    memcpy(r->p + r->end, p, n);
    r->end += n;
}

bool
hearthi_replay_send(struct hearthi_replay *r, int fd)
{
    while (hearthi_replay_left(r) > 0) {
        ssize_t n = send(fd, r->p + r->at + r->sent, hearthi_replay_left(r),
                         MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        r->sent += (size_t)n;
    }
    return true;
}

bool
hearthi_replay_may(const struct hearthi_replay *r, uint64_t taken)
{
    return taken >= r->first && taken - r->first <= kept(r);
}

/* What is kept in the midst of much room, to its front. */
static void
room_shrink(struct hearthi_replay *r)
{
    memmove(r->p, r->p + r->at, kept(r));
    r->end = kept(r);
    r->at = 0;
    munmap(r->p + KEPT, r->room - KEPT);
    r->room = KEPT;
}

bool
hearthi_replay_taken(struct hearthi_replay *r, uint64_t taken)
{
    size_t n = (size_t)(taken - r->first);

    if (taken <= r->first)
        return true;
    if (!hearthi_replay_may(r, taken))
        return false;
    r->at += n;
    r->first = taken;
    r->sent = r->sent > n ? r->sent - n : 0;
    if (r->at == r->end)
        r->at = r->end = 0;
    if (r->room > KEPT && kept(r) <= KEPT / 2)
        room_shrink(r);
    return true;
}

void
hearthi_replay_again(struct hearthi_replay *r)
{
    r->sent = 0;
}

void
hearthi_replay_take(struct hearthi_replay *r, size_t n)
{
    r->taken += n;
}

bool
hearthi_replay_due(const struct hearthi_replay *r)
{
    return r->taken - r->told >= EACH;
}

void
hearthi_replay_tell(struct hearthi_replay *r, struct hearthi_wan_message head)
{
    head.op = HEARTHI_WAN_HEARD;
    head.len = 0;
    head.at = r->told = r->taken;
    hearthi_replay_add(r, &head, sizeof head);
}

/* ENOTCONN: whoever asked before has been told of the reset. */
bool
hearthi_replay_is_reset(int error)
{
    return error == ECONNRESET || error == ENOTCONN;
}
