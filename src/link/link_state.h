/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The inside of a link: what its files share.
 *
 *   link.c    opening, messages, turns
 *   link_close.c     the end
 *   remote_gateway.c    another cluster: its connections, and their times
 *   peer_io.c   what they carry
 *   gateway_handshake.c    hellos: which side may take which connection
 *   acceptor.c    connections from outside, strangers included
 */
#ifndef HEARTHI_LINK_STATE_H
#define HEARTHI_LINK_STATE_H

#include <netdb.h>

#include "base/crowd.h"
#include "gateway_connection.h"
#include "link.h"
#include "link_address.h"

/* Another cluster. */
struct hearthi_remote_gateway {
    struct hearthi_reliable_queue post;
    struct hearthi_gateway        at;
    struct hearthi_connection    *conn[HEARTHI_CONNECTIONS_MAX]; /* or NULL */
    bool                          was_up[HEARTHI_CONNECTIONS_MAX];
    uint64_t                      next_try[HEARTHI_CONNECTIONS_MAX],
        pause[HEARTHI_CONNECTIONS_MAX]; /* ns */
    uint64_t alone;   /* since when there is no connection; 0: there is */
    uint64_t job;     /* its number, as soon as it is known */
    uint64_t unacked; /* bytes that came since the last ack */
    bool     known;   /* it has said hello once */
    struct {          /* a message that goes down with each connection */
        uint64_t number, since;
        int      times;
    } stuck;
    bool bye_sent, bye_came;
    bool left;     /* it has all, and needs nothing of this side */
    int  missed;   /* so many tries in a row found nothing listening */
    char why[160]; /* the last connection ended */
};

struct hearthi_link {
    const struct hearthi_conf  *conf;
    int                         me;
    struct hearthi_link_options options;
    struct hearthi_link_calls   calls;
    void                       *arg;
    struct hearthi_tls          tls;
    char                       *agree; /* all that must be the same */
    uint64_t                    job;
    int                         epoll, listener;
    uint64_t                    deaf; /* until then none is accepted */
    bool                        over;
    struct hearthi_link_counts  counts;
    struct hearthi_connection  *guests; /* the newest first */
    int                         n_guests;
    struct hearthi_crowd        crowd;
    bool                        warned;
    bool                        refused;    /* somebody, and it was said */
    char stranger[HEARTHI_GATEWAY_TEXT];    /* the last one's address */
    struct hearthi_connection    *dead;     /* freed when the turn ends */
    struct hearthi_remote_gateway remote[]; /* of each cluster; me has none */
};

static inline uint64_t
hearthi_seconds(double s)
{
    return (uint64_t)(s * 1e9);
}

/* ---- link_close.c ---- */

/* One line, told to all clusters and the caller; returns false. */
bool hearthi_link_fail(struct hearthi_link *k, int cluster, const char *fmt,
                       ...) __attribute__((format(printf, 3, 4), cold));

/* ---- link.c ---- */

void hearthi_link_warn(struct hearthi_link *k, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Out of epoll, and freed when no event of this turn can name it. */
void hearthi_link_bury(struct hearthi_link *k, struct hearthi_connection *l);

/* ---- remote_gateway.c ---- */

/* The cluster that stands later in the file connects. */
static inline bool
hearthi_remote_gateway_connects(const struct hearthi_link *k, int cluster)
{
    return k->me > cluster;
}

/* Whose turn it is to connect, to beat, to be given up. */
void     hearthi_remote_gateway_tend(struct hearthi_link *k, int cluster,
                                     uint64_t now);
uint64_t hearthi_remote_gateway_due(const struct hearthi_link *k, int cluster);
void     hearthi_remote_gateway_lane_end(struct hearthi_link       *k,
                                         struct hearthi_connection *l);

/* Last messages were said and have come, as far as this side knows; and it
 * may leave. */
bool hearthi_remote_gateway_all_said(const struct hearthi_remote_gateway *m);
bool hearthi_remote_gateway_done(const struct hearthi_link *k, int cluster);

/* A connection to it stands. */
bool hearthi_remote_gateway_is_up(const struct hearthi_remote_gateway *m);

/* A connection that has said hello is the cluster's.  False: the link is
 * over. */
bool hearthi_remote_gateway_lane_up(struct hearthi_link       *k,
                                    struct hearthi_connection *l,
                                    uint64_t                   got);

/* ---- peer_io.c ---- */

extern const struct hearthi_connection_calls hearthi_remote_gateway_calls;

/* Send what waits for this cluster, as far as there is room. */
void hearthi_remote_gateway_push(struct hearthi_link *k, int cluster);

/* ---- gateway_handshake.c ---- */

/* Callbacks of connections. */
bool hearthi_handshake_shaken(struct hearthi_connection *l);
bool hearthi_handshake_hello(struct hearthi_connection    *l,
                             struct hearthi_gateway_hello *theirs);

/* ---- acceptor.c ---- */

bool     hearthi_acceptor_open(struct hearthi_link       *k,
                               struct hearthi_link_error *wrong);
void     hearthi_acceptor_answer(struct hearthi_link *k);
void     hearthi_acceptor_tend(struct hearthi_link *k, uint64_t now);
uint64_t hearthi_acceptor_due(const struct hearthi_link *k);

/* It is a cluster's connection now. */
void hearthi_acceptor_leave(struct hearthi_link       *k,
                            struct hearthi_connection *l);
void hearthi_acceptor_connection_end(struct hearthi_link       *k,
                                     struct hearthi_connection *l);

#endif
