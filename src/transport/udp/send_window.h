/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests for pages and with diffs on their way, several of one client, and
 * the waiting for their answers.
 */
#ifndef HEARTHI_SEND_WINDOW_H
#define HEARTHI_SEND_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"
#include "client.h"
#include "timer.h"
#include "wire.h"

enum {
    HEARTHI_UDP_PIECES = 16, /* requests for pages, at most */
    HEARTHI_UDP_SEND_WINDOW = HEARTHI_UDP_PIECES + HEARTHI_DIFF_DEPTH_MAX
};

struct hearthi_udp_in_flight {
    struct hearthi_udp_send_window *of;
    bool                       busy, alone;
    bool                       lost; /* its last try; it waits to go again */
    unsigned                   turn; /* of its last try, of all */
    size_t                     room; /* bytes that this try may bring */
    size_t                     way;  /* that it has on their way */
    struct hearthi_udp_message ask;
    struct hearthi_udp_timer   timer;
    const char                *what;               /* the call, for a line */
    /* It is sent now: choose what it asks for, within its room, and give the
     * bytes of that; or NULL: all that it has to send. */
    size_t (*prepare)(struct hearthi_udp_in_flight *f);

    /* Take an answer, or a part of it, of this operation. */
    unsigned answer;
    void (*take)(struct hearthi_udp_in_flight     *f,
                 const struct hearthi_udp_message *m);
};

/* Those of one client, which one thread uses at a time. */
struct hearthi_udp_send_window {
    struct hearthi_udp_client *client;
    struct hearthi_udp_in_flight
                              *all[HEARTHI_UDP_SEND_WINDOW]; /* on their way */
    unsigned                   n, turns;
};

/* Those of slot 0, which the lock of the page table guards, and those of a
 * way, whose thread comes for the first time or again. */
extern struct hearthi_udp_send_window hearthi_udp_locked;
void                                  hearthi_udp_send_window_open(void);
struct hearthi_udp_send_window       *hearthi_udp_send_window_of(int way);

/* May a request with so many bytes go to a home now, which brings so many? */
bool hearthi_udp_in_flight_may(const struct hearthi_udp_send_window *fs,
                               uint32_t home, size_t bytes, size_t brings);

/* Send one, whose ask is complete but for the number. */
void hearthi_udp_in_flight_launch(struct hearthi_udp_send_window *fs,
                                  struct hearthi_udp_in_flight   *f);

/* So many bytes of what it has on their way have come. */
void hearthi_udp_in_flight_came(struct hearthi_udp_in_flight *f, size_t bytes);

/* All of its answer is there; the home has told what it can take. */
void hearthi_udp_in_flight_land(struct hearthi_udp_in_flight *f, size_t told);

/* An answer, or a part of it, came to a request of this turn; `ended`: the
 * last that the home sends for it. */
void hearthi_udp_in_flight_heard(struct hearthi_udp_in_flight *f,
                                 uint32_t turn, bool ended);

/* No thread has looked for the answers for a while. */
void hearthi_udp_send_window_resume(struct hearthi_udp_send_window *fs);

/* Wait for one message and let its request take it, and send again what is
 * late. */
void hearthi_udp_send_window_turn(struct hearthi_udp_send_window *fs);

#endif
