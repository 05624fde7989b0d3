/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Mail: a packet of changed bytes that lie scattered in a home's segment, in
 * one Put, which a thread at the home then stores where they belong.
 */
#ifndef HEARTHI_TRANSPORT_MPI_MAIL_H
#define HEARTHI_TRANSPORT_MPI_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "letter.h"
#include "space/segment.h"

static inline size_t
hearthi_letter_room(void)
{
    return hearthi_segments.letter - sizeof(struct hearthi_letter);
}

void hearthi_mail_open(void);
void hearthi_mail_close(void);

/* Send a letter, which stays untouched until the next settle; true if that is
 * due.  May block. */
bool hearthi_mail_send(int home, const struct hearthi_letter *l);

/* Let homes know of what was sent, when it has arrived. */
void hearthi_mail_settle(void);

/* Block until all that was sent and settled is where it belongs. */
void hearthi_mail_wait(void);

/* At the home, by the helper and nobody else, without MPI: somebody has rung;
 * do what is there of those who have, and true if there was any. */
void hearthi_mail_from(int rank);
bool hearthi_mail_serve(void);

/* Look no more at those until they ring again. */
void hearthi_mail_rest(void);

#endif
