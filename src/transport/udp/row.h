/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A row of requests to one rank, several of which are on their way: each by a
 * slot of its own, so each is done once as any other is.
 */
#ifndef HEARTHI_TRANSPORT_UDP_ROW_H
#define HEARTHI_TRANSPORT_UDP_ROW_H

#include <stdint.h>

#include "client.h"
#include "wire.h"

enum { HEARTHI_UDP_ROW = 8 };

struct hearthi_udp_row {
    int                     rank;
    const char             *what; /* the call */
    unsigned                next; /* of them, which is the oldest, too */
    struct hearthi_udp_call call[HEARTHI_UDP_ROW];

    /* What is done with an answer, or NULL. */
    void (*take)(const struct hearthi_udp_message *ask,
                 const struct hearthi_udp_message *answer);
};

/* Send one, whose body stays until the row has ended; at its turn. */
void hearthi_udp_row_ask(struct hearthi_udp_row           *row,
                         const struct hearthi_udp_message *ask);

/* Wait until all are answered. */
void hearthi_udp_row_end(struct hearthi_udp_row *row);

#endif
