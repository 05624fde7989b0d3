/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The homes of this cluster, for ranks of others.  On the gateway's thread.
 */
#ifndef HEARTHI_CLUSTERS_HOMES_H
#define HEARTHI_CLUSTERS_HOMES_H

#include "ask.h"

/* FETCH, KEEP, STORE, READ and ATOMIC. */
void hearthi_homes_serve(const struct hearthi_ask *ask);

#endif
