/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How the ring of lines is made.
 */
#ifndef HEARTHI_RING_SETUP_H
#define HEARTHI_RING_SETUP_H

#include <poll.h>
#include <stdbool.h>

#include "base/network.h"
#include "liveness_line.h"

/* Of one caller, at all addresses, and as many of strangers. */
enum { HEARTHI_RING_CALLS = 2 * HEARTHI_ADDRESSES };

/* Listen, before any rank knows where.  Collective. */
void hearthi_ring_setup_open(void);

/* Tell where this rank listens, and learn where the next one does; a rank that
 * listens must answer from now on.  Collective. */
void hearthi_cards_exchange(void);

/* Call the next rank; false if it cannot be reached: after a second, or five
 * if it takes the connection and does not answer. */
bool hearthi_ring_setup_call(void);

/* What to wait for, HEARTHI_RING_CALLS and one more; and to do so when it
 * comes.  Never waits. */
void hearthi_ring_setup_wait_for(struct pollfd *p);
void hearthi_ring_setup_answer(void);

/* When calls are taken that wait now. */
uint64_t hearthi_ring_setup_due(void);

/* Is the line to the rank before there?  Any thread. */
bool hearthi_ring_setup_taken(void);

/* Both lines are there, or will not be: calls that come now are of ranks that
 * have lost theirs (line_reconnect.h), or of strangers, and are taken by some
 * at a time. */
void hearthi_ring_setup_settle(void);
void hearthi_ring_setup_close(void);

/* Where the rank of a line listens. */
union hearthi_address
hearthi_ring_setup_address(const struct hearthi_liveness_line *line);

void hearthi_hello_send(int fd, int rank);
bool hearthi_is_hello(const struct hearthi_record *r, int rank);

#endif
