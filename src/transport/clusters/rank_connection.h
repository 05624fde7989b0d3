/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One connection of a rank to its gateway, as one thread uses it: bytes go and
 * come, on a new connection where one was reset (connection_replay.h).  A
 * gateway that is killed listens no more, so who is refused there knows that
 * it is gone.
 */
#ifndef HEARTHI_RANK_CONNECTION_H
#define HEARTHI_RANK_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "connection_replay.h"

struct hearthi_rank_connection {
    int                   fd; /* -1: none */
    uint32_t              slot;
    uint64_t              calls; /* that were made for it */
    struct hearthi_replay replay;
};

/* Where their gateway is, among the cluster's ranks; and what is called now
 * and then while one waits, or NULL. */
void hearthi_rank_connections_of(int gateway);
void hearthi_rank_connections_progress(void (*progress)(void));

/* Begin, or end the job with a line. */
void hearthi_rank_connection_open(struct hearthi_rank_connection *c,
                                  unsigned                        slot);
void hearthi_rank_connection_close(struct hearthi_rank_connection *c);

/* All of the parts; so many bytes, in the name of a call.  If the gateway is
 * gone they end the job. */
void hearthi_rank_connection_send(struct hearthi_rank_connection *c,
                                  const struct iovec *part, int n);
void hearthi_rank_connection_read(struct hearthi_rank_connection *c, void *to,
                                  size_t len, const char *what);

/* Does that errno say that it was reset?  Then connect anew, with one call.
 * False, and errno: no answer, and may_pass tells whether one may come later.
 */
bool hearthi_rank_connection_is_reset(int code);
bool hearthi_rank_connection_again(struct hearthi_rank_connection *c);
bool hearthi_rank_connection_may_pass(int code);

/* Tell the gateway what was taken, if it is time to; and it has told. */
void hearthi_rank_connection_tell(struct hearthi_rank_connection *c);
void hearthi_rank_connection_taken(struct hearthi_rank_connection *c,
                                   uint64_t                        taken);

#endif
