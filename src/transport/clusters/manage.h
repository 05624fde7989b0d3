/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks, flags, condition variables and reader-writer locks of all clusters:
 * object i is managed by the gateway of cluster i modulo their number.  On the
 * gateway's thread.
 */
#ifndef HEARTHI_CLUSTERS_MANAGE_H
#define HEARTHI_CLUSTERS_MANAGE_H

#include "ask.h"

void hearthi_manage_open(void);
void hearthi_manage_close(void);
void hearthi_manage(const struct hearthi_ask *ask);

#endif
