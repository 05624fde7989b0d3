/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The tests of requests that come again, between their files.
 */
#ifndef HEARTH_REPLAY_H
#define HEARTH_REPLAY_H

#include <stdint.h>

#include "fixture.h"
#include "transport/udp/client.h"
#include "transport/udp/wire.h"

enum { HOME = 0 };

/* Make a request that of the client's last number, sent once more. */
void replay_number(struct hearthi_udp_message      *m,
                   const struct hearthi_udp_client *c);

/* And send it; a moment later it has been served. */
void replay_send(struct hearthi_udp_client *c, struct hearthi_udp_message m);

/* A request for a page of the home's. */
struct hearthi_udp_message
replay_page_request(uint64_t frame, const struct hearthi_udp_set *set);

/* A request to add to the word at the beginning of one. */
struct hearthi_udp_message replay_addition(uint64_t       frame,
                                           const int64_t value[2]);

/* Let the other rank read the page, and nobody else; gives its frame. */
uint64_t replay_fetch(const int64_t *p);

void replay_overheard(TCase *tc);

#endif
