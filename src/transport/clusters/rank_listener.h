/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the gateway of a cluster listens to its ranks, and what it wants to
 * hear from a process that connects.
 */
#ifndef HEARTHI_RANK_LISTENER_H
#define HEARTHI_RANK_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/network.h"
#include "wan_message.h"

enum { HEARTHI_TOKEN = 16 };

struct hearthi_listener {
    struct hearthi_addresses at;
    uint8_t                  token[HEARTHI_TOKEN];
    int                      gateway; /* its place among the cluster's ranks */
};

/* The first words of a rank over a connection. */
struct hearthi_listener_words {
    struct hearthi_wan_message
            head; /* HEARTHI_WAN_HELLO: of whom, and which */
    uint8_t token[HEARTHI_TOKEN];
};

enum hearthi_rank_hello {
    HEARTHI_LISTENER_STRANGER,
    HEARTHI_LISTENER_IN_PART,
    HEARTHI_LISTENER_GOOD
};

/* What the first n bytes over a connection are. */
enum hearthi_rank_hello
hearthi_listener_hear(const struct hearthi_listener       *listener,
                      const struct hearthi_listener_words *words, size_t n);

/* Begin to listen; gives the socket, or ends the job. */
int hearthi_listener_listen(struct hearthi_listener *listener);

/* A connection between a rank and its gateway, on either side: what is sent
 * leaves at once, and where the other's host is down or cut off it ends. */
void hearthi_listener_prepare(int fd);

/* So it ended: the other process may be well, and so may its host. */
bool hearthi_listener_silent(int error);

/* This process has all files that it may have open: let it have twice as many.
 * False: the system does not. */
bool hearthi_listener_more_files(void);

#endif
