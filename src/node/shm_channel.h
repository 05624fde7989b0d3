/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests and answers between the ranks of a node, of bytes that this layer
 * does not look at.
 */
#ifndef HEARTHI_SHM_CHANNEL_H
#define HEARTHI_SHM_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With so many slots for requests of each rank, each of which, and its answer,
 * has so many bytes of room.  Collective over the node. */
void hearthi_shm_channel_open(unsigned slots, size_t room);

/* Behind the end of the thread that serves. */
void hearthi_shm_channel_close(void);

/* ---- the rank that asks, by node rank, in a slot of its own that is free
 * ----
 *
 * It writes the request into the slot's room, sends it, and waits for the
 * answer, which is valid until the slot's next request. */

uint8_t       *hearthi_shm_channel_request(unsigned slot);
void           hearthi_shm_channel_ask(int to, unsigned slot, size_t len);
const uint8_t *hearthi_shm_channel_wait(unsigned slot, size_t *len);

/* ---- the rank that is asked ---- */

/* For its thread: `take` each request, of a node rank, until the end. */
void hearthi_shm_channel_serve(void (*take)(int from, const uint8_t *request,
                                            size_t len));
void hearthi_shm_channel_serve_end(void);

/* Write the answer to a slot of a node rank into its room, and send it. */
uint8_t *hearthi_shm_channel_answer(int to, unsigned slot);
void     hearthi_shm_channel_grant(int to, unsigned slot, size_t len);

#endif
