/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the gateway of a cluster listens to its ranks, and what it wants to
 * hear from who connects.
 */
#ifndef HEARTHI_RANK_LISTENER_H
#define HEARTHI_RANK_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/network.h"

enum { HEARTHI_TOKEN = 16 };

struct hearthi_listener {
    struct hearthi_addresses at;
    uint8_t                  token[HEARTHI_TOKEN];
};

/* Begin to listen; gives the socket, or ends the job. */
int hearthi_listener_listen(struct hearthi_listener *door);

/* A connection between a rank and its gateway, on either side: what is sent
 * leaves at once, and where the other's host is down or cut off it ends. */
void hearthi_listener_prepare(int fd);

/* This process has all files that it may have open: let it have twice as many.
 * False: the system does not. */
bool hearthi_listener_more_files(void);

#endif
