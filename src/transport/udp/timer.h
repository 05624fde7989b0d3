/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Time-outs.  A rank's round trips give the time after which a message is sent
 * again (RFC 6298), which doubles with each try up to a bound.
 */
#ifndef HEARTHI_TRANSPORT_UDP_TIMER_H
#define HEARTHI_TRANSPORT_UDP_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct hearthi_udp_timer {
    uint64_t first, sent, wait; /* when, and how long until it goes again */
    uint64_t silent;            /* so long has nothing been heard */
    unsigned tries;
};

void hearthi_udp_trips_open(void);
void hearthi_udp_trips_close(void);

void hearthi_udp_timer_start(struct hearthi_udp_timer *t, int rank);
void hearthi_udp_timer_heard(struct hearthi_udp_timer *t, uint64_t now);

/* Answered: learn from the time that it took. */
void hearthi_udp_timer_done(struct hearthi_udp_timer *t, int rank,
                            bool waited);

/* True if the message is due to be sent again, which is noted as done. Ends
 * the job if the rank was silent for too long. */
bool hearthi_udp_timer_late(struct hearthi_udp_timer *t, int rank,
                            const char *what);

#endif
