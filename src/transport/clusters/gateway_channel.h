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

#include <stdint.h>
#include <sys/uio.h>

#include "rank_listener.h"
#include "wan_message.h"

struct hearthi_gateway_channel;

/* progress is called now and then while a channel waits; may be NULL. */
void hearthi_gateway_channels_open(const struct hearthi_listener *door);
void hearthi_gateway_channels_progress(void (*progress)(void));
void hearthi_gateway_channels_close(void);

/* One that nobody uses; made if there is none. */
struct hearthi_gateway_channel *hearthi_gateway_channel_take(void);
void hearthi_gateway_channel_give(struct hearthi_gateway_channel *c);

/* Send; rank, slot and len of the head are set here. */
void hearthi_gateway_channel_send(struct hearthi_gateway_channel *c,
                                  struct hearthi_wan_message      ask,
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
                            struct hearthi_wan_message ask, const void *body,
                            size_t len, const char *what);

/* The same where the answer has no body. */
struct hearthi_wan_message
hearthi_gateway_channel_call(struct hearthi_wan_message ask, const void *body,
                             size_t len, const char *what);

/* Let the gateway tell other clusters why this one ends, on any thread; waits
 * a second at most.  The line's length is a multiple of 8. */
void hearthi_gateway_channel_ending(const char *line, size_t len);

#endif
