/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A pipeline of requests, several of which are on their way: each
 * by a slot of its own, so each is done once as any other is.
 */
#ifndef HEARTHI_PIPELINE_H
#define HEARTHI_PIPELINE_H

#include <stdint.h>

#include "client.h"
#include "wire.h"

enum { HEARTHI_UDP_PIPELINE = 8 };

struct hearthi_udp_pipeline {
    int                     rank; /* of the next request */
    const char             *what; /* the call */
    unsigned                next; /* of them, which is the oldest, too */
    struct hearthi_udp_call call[HEARTHI_UDP_PIPELINE];

    /* What is done with an answer, or NULL. */
    void (*take)(const struct hearthi_udp_message *ask,
                 const struct hearthi_udp_message *answer);
};

/* Send one, whose body stays until the row has ended; at its turn. */
void hearthi_udp_pipeline_ask(struct hearthi_udp_pipeline      *row,
                              const struct hearthi_udp_message *ask);

/* Wait until all are answered. */
void hearthi_udp_pipeline_end(struct hearthi_udp_pipeline *row);

#endif
