/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ranks here ask of other clusters, and what comes back, past the cache.
 * On the gateway's thread.
 */
#ifndef HEARTHI_CLUSTERS_FAR_H
#define HEARTHI_CLUSTERS_FAR_H

#include "ask.h"

void hearthi_far_close(void);

/* A rank here asks another cluster. */
void hearthi_far_pass(int cluster, const struct hearthi_ask *ask);

/* An answer for a rank here, from this gateway or another. */
void hearthi_far_hand(const struct hearthi_ask *head, const void *body);

/* A rank here must not see what is kept of some pages. */
void hearthi_far_forget(const struct hearthi_ask *ask);

/* Look again at fetches that wait for others of the same pages. */
void hearthi_far_turn(void);

#endif
