/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The service thread, and answers.
 */
#ifndef HEARTHI_TRANSPORT_UDP_SERVER_H
#define HEARTHI_TRANSPORT_UDP_SERVER_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mutex.h"
#include "datagram_rx.h"
#include "transport/sync/managed_object.h"
#include "udp_job.h"
#include "wire.h"

/* A client as its server sees it. */
struct hearthi_udp_served {
    struct hearthi_managed_client client; /* of what it waits for; first */
    struct sockaddr_in            address;
    uint64_t                      seq;  /* of its last request */
    uint32_t                      turn; /* the last of that */
    bool                          answered;
    uint64_t                      when; /* it was, last */
    size_t                        len;  /* of the last answer */
    uint8_t                       answer[HEARTHI_UDP_HEAD + HEARTHI_UDP_SMALL];
};

extern pthread_mutex_t hearthi_udp_mutex; /* of all that servers keep */

/* The functions that do what clients ask for.  All but slot 0's is done with
 * the mutex. */
struct hearthi_udp_services {
    void (*bulk)(const struct hearthi_udp_message *m,
                 const struct sockaddr_in         *from);
    void (*barrier)(uint32_t peer, const struct hearthi_udp_message *m);
    void (*manager)(uint32_t peer, const struct hearthi_udp_message *m);
    void (*step)(uint32_t peer, const struct hearthi_udp_message *m);
    void (*recall)(const struct hearthi_udp_message *m);
    uint64_t (*again)(void); /* without it: send what is due; when to return */
};

void hearthi_udp_server_open(int                                fd,
                             const struct hearthi_udp_services *services);
void hearthi_udp_server_close(void);

char *hearthi_udp_segment(void); /* this rank's */

/* What answers m, to be filled. */
struct hearthi_udp_message
hearthi_udp_answer_to(const struct hearthi_udp_message *m, unsigned op);

/* Send it; `head` may be NULL, or gets the head as it was sent. */
void hearthi_udp_answer_send(struct hearthi_udp_message *m,
                             const struct sockaddr_in *to, uint8_t *head);

/* Ranks are told apart in numbers of peers: over ranks and slots. */
struct hearthi_udp_served *hearthi_udp_served(uint32_t number);
uint32_t hearthi_udp_served_of(const struct hearthi_udp_message *m);
static inline uint32_t
hearthi_udp_served_number(const struct hearthi_managed_client *c)
{
    const struct hearthi_udp_served *p = (const void *)c;

    return (uint32_t)(p - hearthi_udp_served(0));
}

/* Do what one of this rank's own threads asks, and wait for the answer, which
 * is valid until the slot's next request. */
void hearthi_udp_serve_own(const struct hearthi_udp_message *ask,
                           struct hearthi_udp_message       *answer);

/* Do what another rank of the node asks. */
void hearthi_udp_serve_local(const struct hearthi_udp_message *ask);

/* Tell a rank's server at this host, in full; and let the service thread look
 * what is due. */
void hearthi_udp_server_tell(int rank, struct in_addr host,
                             struct hearthi_udp_message *m);
void hearthi_udp_server_nudge(void);

/* Answer a peer's last request, now or later.  With the mutex. */
void hearthi_udp_answer(uint32_t peer, struct hearthi_udp_message *m);

#endif
