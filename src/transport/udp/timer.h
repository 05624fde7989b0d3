/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Time-outs.  A rank's round trips give the time after which a message is sent
 * again, which doubles with each try up to a bound.
 */
#ifndef HEARTHI_TRANSPORT_UDP_TIMER_H
#define HEARTHI_TRANSPORT_UDP_TIMER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { HEARTHI_UDP_ASKED = 8 };

struct hearthi_udp_timer {
    uint64_t asked[HEARTHI_UDP_ASKED]; /* when its last tries were sent */
    uint64_t sent, wait;               /* the wait began, and how long it is */
    uint64_t silent;                   /* so long has nothing been heard */
    unsigned tries;                    /* after the first */
    bool     waits;                    /* it is there, and must wait */
};

void hearthi_udp_trips_open(void);
void hearthi_udp_trips_close(void);

/* A round trip to a rank took so long; it takes about so long (0: not known);
 * and when what was sent there is late. */
void     hearthi_udp_took(int rank, uint64_t ns);
uint64_t hearthi_udp_takes(int rank);
uint64_t hearthi_udp_time_out(int rank);

void hearthi_udp_timer_start(struct hearthi_udp_timer *t, int rank);
void hearthi_udp_timer_heard(struct hearthi_udp_timer *t, int rank,
                             uint64_t now);

/* The answers were not looked for until now: the tries so far measure nothing
 * of the time before. */
void hearthi_udp_timer_forget(struct hearthi_udp_timer *t, uint64_t now);

/* It goes once more, not for a time-out; and when it did so last. */
void     hearthi_udp_timer_again(struct hearthi_udp_timer *t);
uint64_t hearthi_udp_timer_asked(const struct hearthi_udp_timer *t);

/* The answer to one of the tries: learn from the time that it took.  `waited`:
 * it may have waited for other ranks. */
void hearthi_udp_timer_done(const struct hearthi_udp_timer *t, int rank,
                            unsigned try, bool waited);

/* True if the message is due to be sent again, which is noted as done. Ends
 * the job if the rank was silent for too long. */
bool hearthi_udp_timer_late(struct hearthi_udp_timer *t, int rank,
                            const char *what);

/* ---- round trips ---- */

/* Round trips to a rank, and how long to wait for an answer (RFC 6298).  Pure
 * functions: no clock, no socket.  Times are nanoseconds. */

/* Smoothed round trip and its variation; threads may overwrite each other,
 * which loses one measurement.  All zero: not measured yet. */
struct hearthi_udp_trip {
    _Atomic uint64_t mean, spread;
    atomic_uint      late; /* answers in a row */
};

/* One took so long. */
void hearthi_udp_trip_learn(struct hearthi_udp_trip *t, uint64_t took);

/* After this time without an answer the request is sent again; the wait
 * doubles with each try up to a bound.  `waits`: the server has said that the
 * request is there and must wait. */
uint64_t hearthi_udp_trip_wait(const struct hearthi_udp_trip *t);
uint64_t hearthi_udp_trip_most(const struct hearthi_udp_trip *t, bool waits);

#endif
