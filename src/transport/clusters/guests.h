/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The connections of a cluster's ranks to its gateway, whose guests they are:
 * what they ask is taken (gate.h), and what is put to them leaves.  On the
 * gateway's thread, but for what begins and ends.
 */
#ifndef HEARTHI_CLUSTERS_GUESTS_H
#define HEARTHI_CLUSTERS_GUESTS_H

#include "door.h"

/* Begin to listen: where. */
struct hearthi_door hearthi_guests_listen(void);

/* Who waits for guests waits for this descriptor, too. */
void hearthi_guests_open(int other);
void hearthi_guests_close(void);

/* Take what they have sent, or send in so many milliseconds; or return when
 * there is something at the other descriptor. */
void hearthi_guests_take(int ms);
void hearthi_guests_send(void);

/* A rank may close its connections from now on. */
void hearthi_guests_bye(uint32_t place);

#endif
