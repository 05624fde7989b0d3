/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A connection between a rank and its gateway may be reset though both live:
 * by a stranger who forges the segment of TCP that does so, or by a firewall
 * that has forgotten it.  Then the rank connects anew, and both go on where
 * they were.
 *
 * The argument.  The bytes of each direction are numbered from 0, over all
 * connections that follow each other.  Whoever sends some keeps them until the
 * other side has said that it has taken them (HEARTHI_WAN_HEARD, once there
 * are EACH of them).  On a new connection each side says first how many it has
 * taken, and then gets those behind: all of them are still kept, so nothing is
 * lost.  What was under way on the old connection is never read, and what is
 * counted as taken is not sent again: so nothing comes twice.
 *
 * What goes before a connection is known, its hello and the answer to it, has
 * no numbers.
 *
 * tests/transport/clusters/connection_replay.c resets connections at any
 * byte, and tests/clusters/worlds_reset.c at either end.
 */
#ifndef HEARTHI_CONNECTION_REPLAY_H
#define HEARTHI_CONNECTION_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message_stream.h"
#include "wan_message.h"

/* Of one side.  One thread uses it. */
struct hearthi_replay {
    struct hearthi_message_stream kept;
    uint64_t first;       /* number of the first byte that is kept */
    size_t   sent;        /* of what is kept, on this connection */
    uint64_t taken, told; /* bytes of the other side; it knows of that */
};

/* Keep so many bytes, to be sent behind all others.  A page fault may do so:
 * there is no call of malloc(3) in it. */
void hearthi_replay_add(struct hearthi_replay *r, const void *p, size_t n);
void hearthi_replay_free(struct hearthi_replay *r);

/* Send what goes.  False: it does not go any more, for errno. */
bool hearthi_replay_send(struct hearthi_replay *r, int fd);

static inline size_t
hearthi_replay_left(const struct hearthi_replay *r)
{
    return hearthi_message_stream_left(&r->kept) - r->sent;
}

/* May the other side want what is behind so many bytes? */
bool hearthi_replay_may(const struct hearthi_replay *r, uint64_t taken);

/* It has taken so many, or had when it said so: what was said before a reset
 * may come behind it.  False: that makes no sense.  And a connection is new:
 * what is kept goes over it. */
bool hearthi_replay_taken(struct hearthi_replay *r, uint64_t taken);
void hearthi_replay_again(struct hearthi_replay *r);

/* So many bytes more were taken from the other side. */
void hearthi_replay_take(struct hearthi_replay *r, size_t n);

/* It should be told so by now: this is put in front of what goes next. */
bool hearthi_replay_due(const struct hearthi_replay *r);
void hearthi_replay_tell(struct hearthi_replay     *r,
                         struct hearthi_wan_message head);

/* So ends a connection that was reset; at the gateway one that the process of
 * a rank has ended does not, but for one with bytes that it has not read. */
bool hearthi_replay_is_reset(int error);

#endif
