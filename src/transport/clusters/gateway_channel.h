/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank's connections to its gateway, each of which one thread uses at a
 * time, and asks one thing or several at once on it.  What waits drives the
 * progress of others in this cluster.
 *
 * They are TCP: the gateway waits for its ranks, for other clusters and for
 * nothing else in one place, asleep, on any network and with any MPI.
 */
#ifndef HEARTHI_GATEWAY_CHANNEL_H
#define HEARTHI_GATEWAY_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "rank_listener.h"
#include "wan_message.h"

struct hearthi_gateway_channel;

/* progress is called now and then while a channel waits; may be NULL. */
void hearthi_gateway_channels_open(const struct hearthi_listener *listener);
void hearthi_gateway_channels_progress(void (*progress)(void));
void hearthi_gateway_channels_close(void);

/* One that no thread uses; made if there is none. */
struct hearthi_gateway_channel *hearthi_gateway_channel_take(void);
void hearthi_gateway_channel_give(struct hearthi_gateway_channel *c);

/* Send; rank, slot and len of the head are set here. */
void hearthi_gateway_channel_send(struct hearthi_gateway_channel *c,
                                  struct hearthi_wan_message      msg,
                                  const struct iovec *body, int n);

/* The head of the next answer, and as much of its body. */
struct hearthi_wan_message
     hearthi_gateway_channel_hear(struct hearthi_gateway_channel *c,
                                  const char                     *what);
void hearthi_gateway_channel_read(struct hearthi_gateway_channel *c, void *to,
                                  size_t len);

/* Ask, and hear the head of the answer. */
struct hearthi_wan_message
hearthi_gateway_channel_ask(struct hearthi_gateway_channel *c,
                            struct hearthi_wan_message msg, const void *body,
                            size_t len, const char *what);

/* The same where the answer has no body. */
struct hearthi_wan_message
hearthi_gateway_channel_call(struct hearthi_wan_message msg, const void *body,
                             size_t len, const char *what);

/* Let the gateway tell other clusters why this one ends, on any thread; waits
 * a second at most.  False: another rank of this cluster has said so before.
 * What the line has beyond those bytes is not told. */
enum { HEARTHI_ENDING_MAX = 512 };
bool hearthi_gateway_channel_ending(const char *line);

/* ---- gateway_connect.c ---- */

/* How a rank comes to a connection to its gateway: it connects, says which
 * rank it is (rank_listener.h), and waits for the answer. */

/* Where; once, before all else. */
void hearthi_gateway_connect_at(const struct hearthi_listener *listener);

/* A connection that the gateway has answered, which it never sends away after
 * that; or -1 and errno.  ECONNREFUSED is that of all addresses.  `wait`
 * returns when something may be there to read.  The hello becomes the answer
 * to it. */
int hearthi_gateway_connect(struct hearthi_wan_message *hello,
                            void (*wait)(int fd, short events));

/* Say what has little time: not after the answer to the hello, which comes
 * before the head of an answer that is waited for at most so long; if none
 * comes it stays what it was. */
void hearthi_gateway_connect_and_say(unsigned slot, struct iovec *part, int n,
                                     struct hearthi_wan_message *answer,
                                     int                         ms);

#endif
