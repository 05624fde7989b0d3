/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "connection_replay.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/test_limits.h"

/* Bytes.  KEPT: room that is not given back. */
enum { KEPT = 1 << 22, EACH = HEARTHI_TEST_LIMIT(1 << 18, 1 << 10) };

void
hearthi_replay_free(struct hearthi_replay *r)
{
    hearthi_message_stream_free(&r->kept);
    r->sent = 0;
}

void
hearthi_replay_add(struct hearthi_replay *r, const void *p, size_t n)
{
    hearthi_message_stream_add(&r->kept, p, n);
}

bool
hearthi_replay_send(struct hearthi_replay *r, int fd)
{
    while (hearthi_replay_left(r) > 0) {
        ssize_t n = send(fd, r->kept.p + r->kept.at + r->sent,
                         hearthi_replay_left(r), MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        r->sent += (size_t)n;
    }
    return true;
}

bool
hearthi_replay_may(const struct hearthi_replay *r, uint64_t taken)
{
    return taken >= r->first &&
           taken - r->first <= hearthi_message_stream_left(&r->kept);
}

bool
hearthi_replay_taken(struct hearthi_replay *r, uint64_t taken)
{
    size_t n = (size_t)(taken - r->first);

    if (taken <= r->first)
        return true;
    if (!hearthi_replay_may(r, taken))
        return false;
    r->kept.at += n;
    r->first = taken;
    r->sent = r->sent > n ? r->sent - n : 0;
    hearthi_message_stream_shrink(&r->kept, KEPT);
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
