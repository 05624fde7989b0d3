/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Congestion control: how many bytes one rank may have on their way to and
 * from another.  Pure functions: no clock, no socket.
 */
#ifndef HEARTHI_CONGESTION_H
#define HEARTHI_CONGESTION_H

#include <stdatomic.h>
#include <stdint.h>

struct hearthi_udp_congestion {
    _Atomic uint64_t size;     /* bytes */
    _Atomic uint64_t slow;     /* up to there it doubles with each turn */
    _Atomic uint64_t was;      /* before a time-out that is in doubt, or 0 */
    _Atomic uint64_t was_slow; /* likewise */
    _Atomic uint64_t cut;      /* when it was reduced */
    uint32_t         unit;     /* bytes of a datagram of full size */
};

void hearthi_udp_congestion_open(struct hearthi_udp_congestion *w,
                                 uint32_t                       unit);

/* So many bytes have come of `way` that were on their way. */
void hearthi_udp_congestion_grow(struct hearthi_udp_congestion *w,
                                 uint64_t came, uint64_t way);

/* Something was lost that was sent at this time, since what was sent behind
 * it was answered. */
void hearthi_udp_congestion_lose(struct hearthi_udp_congestion *w,
                                 uint64_t sent, uint64_t now);

/* A time-out: nothing was heard; and then: that which was not answered in
 * time, or what was sent once more in its place. */
void hearthi_udp_congestion_silent(struct hearthi_udp_congestion *w,
                                   uint64_t                       now);
void hearthi_udp_congestion_late(struct hearthi_udp_congestion *w);
void hearthi_udp_congestion_again(struct hearthi_udp_congestion *w);

#endif
