/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Strangers: processes that connect to a gateway and have not said hello.
 * They are counted by host, so that one host, however often it connects, takes
 * neither the places of others nor the time.  One thread uses a crowd.
 */
#ifndef HEARTHI_CROWD_H
#define HEARTHI_CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Hosts whose numbers are equal share what they may; which these are is
 * different in each job. */
enum { HEARTHI_CROWD_HOSTS = 256 };

struct hearthi_crowd {
    uint64_t seed;
    struct hearthi_crowd_host {
        unsigned here;  /* have not said who they are */
        uint64_t spent; /* up to this time it has had its share */
    } host[HEARTHI_CROWD_HOSTS];
};

void hearthi_crowd_open(struct hearthi_crowd *c);

/* The number of a host; for IPv6, of its network of 64 bits. */
unsigned hearthi_crowd_host(const struct hearthi_crowd *c,
                            const struct sockaddr      *from);

/* May one more of this host be listened to?  Not where its strangers, which
 * left or were sent away without a word that fits, have been more than a
 * hundred in the last second, and a hundred in each before. */
bool hearthi_crowd_may(const struct hearthi_crowd *c, unsigned host,
                       uint64_t now);

/* It was a stranger. */
void hearthi_crowd_stranger(struct hearthi_crowd *c, unsigned host,
                            uint64_t now);

#endif
