/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Mail: a packet of changed bytes that lie scattered in a home's segment, in
 * one Put, which a thread at the home then stores where they belong.
 */
#ifndef HEARTHI_AM_MAILBOX_H
#define HEARTHI_AM_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space/segment.h"
#include "transport/patch.h"

static inline size_t
hearthi_am_buffer_room(void)
{
    return hearthi_segments.am_buffer - sizeof(struct hearthi_am_buffer);
}

void hearthi_am_mailbox_open(void);
void hearthi_am_mailbox_close(void);

/* Send an active message, which stays untouched until the next settle; true if
 * that is due.  May block. */
bool hearthi_am_mailbox_send(int home, const struct hearthi_am_buffer *l);

/* Let homes know of what was sent, when it has arrived. */
void hearthi_am_mailbox_settle(void);

/* Block until all that was sent and settled is where it belongs. */
void hearthi_am_mailbox_wait(void);

/* At the home, by the helper and no other thread, without MPI: some rank has
 * rung; do what is there of those that have, and true if there was any. */
void hearthi_am_mailbox_from(int rank);
bool hearthi_am_mailbox_serve(void);

/* Look no more at those until they ring again. */
void hearthi_am_mailbox_rest(void);

#endif
