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
#include <string.h>

#include "space/segment.h"

/* Its bytes follow, one run behind the other. */
struct hearthi_letter {
    uint64_t bytes;
    uint8_t  body[];
};

static inline size_t
hearthi_letter_room(void)
{
    return hearthi_segments.letter - sizeof(struct hearthi_letter);
}

/* A run begins with where it goes and how long it is. */
enum { HEARTHI_RUN_BITS = 16 };

static inline uint64_t
hearthi_run_head(size_t offset, size_t len)
{
    return (uint64_t)offset << HEARTHI_RUN_BITS | len;
}

/* Its bytes; a word is the usual length, and then one store. */
static inline void
hearthi_run_copy(void *to, const void *from, size_t len)
{
    if (len == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else
        memcpy(to, from, len);
}

void hearthi_mail_open(void);
void hearthi_mail_close(void);

/* Send a letter; it is the caller's again afterwards.  May block. */
void hearthi_mail_send(int home, const struct hearthi_letter *l);

/* Block until all that was sent is where it belongs. */
void hearthi_mail_wait(void);

/* At the home, by the helper and nobody else, without MPI: somebody has rung;
 * do what is there of those who have, and true if there was any. */
void hearthi_mail_from(int rank);
bool hearthi_mail_serve(void);

/* Look no more at those until they ring again. */
void hearthi_mail_rest(void);

#endif
