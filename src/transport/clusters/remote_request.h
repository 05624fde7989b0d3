/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ranks here ask of other clusters, and what comes back, past the cache.
 * On the gateway's thread.
 */
#ifndef HEARTHI_REMOTE_REQUEST_H
#define HEARTHI_REMOTE_REQUEST_H

#include "wan_message.h"

void hearthi_remote_request_close(void);

/* A rank here asks another cluster. */
void hearthi_remote_request_pass(int                               cluster,
                                 const struct hearthi_wan_message *msg);

/* Is an answer of another cluster as long as what was asked, if it has pages?
 */
bool hearthi_remote_request_expects(const struct hearthi_wan_message *head);

/* An answer for a rank here, from this gateway or another. */
void hearthi_remote_request_hand(const struct hearthi_wan_message *head,
                                 const void                       *body);

/* A rank here must not see what is kept of some pages. */
void hearthi_remote_request_forget(const struct hearthi_wan_message *msg);

/* Look again at fetches that wait for others of the same pages. */
void hearthi_remote_request_turn(void);

#endif
