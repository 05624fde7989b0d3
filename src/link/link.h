/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The link between the gateways of clusters: messages of any length, each of
 * which arrives whole, once and in order, over connections that are encrypted
 * and authenticated by the key that the clusters share (tls.h), and that may
 * break and be made again.  It knows nothing of pages, ranks or MPI.
 *
 * One thread runs a link: no call may be made while another is on its way, but
 * for hearthi_link_send() from the callbacks.  No thread is started, and no
 * signal is raised.
 *
 * The cluster that stands later in the file connects to the one before, whose
 * gateway listens.  All listen, so that a port in use, and two jobs of one
 * name on one machine, are found at the start.
 */
#ifndef HEARTHI_LINK_LINK_H
#define HEARTHI_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "conf.h"

enum { HEARTHI_CONNECTIONS_MAX = 8 };
enum { HEARTHI_CONNECTION_LONGEST = 256 << 20 }; /* bytes of a message */

struct hearthi_link_calls {
    /* A message of another cluster; body is the link's until this returns,
     * and lies at a multiple of 8. */
    void (*message)(void *arg, int cluster, const void *body, size_t len);
    /* The first connection to a cluster stands; tell is what it told. */
    void (*up)(void *arg, int cluster, const char *tell);
    /* The link is over, and other clusters were told so: one line that says
     * why, for the end of the job.  Comes once. */
    void (*failed)(void *arg, int cluster, const char *line);
    /* A line, and the job goes on. */
    void (*warn)(void *arg, const char *line);
};

struct hearthi_link_options {
    double giveup;    /* seconds without a connection, at start and later */
    double silence;   /* without a sign of life: the connection is dead */
    double handshake; /* from a connection to its hello */
    double linger;    /* until last words have arrived */
    int    conns;     /* connections to each cluster that this one calls */
    int    guests;    /* connections that do not say who they are */
    /* Lines of KEY=VALUE, the last one without end: which must be the same on
     * all clusters, and which are told only. */
    const char *agree, *tell;
    const char *version; /* of Hearth: must be the same */
    uint64_t    rekey;   /* records with one key, for tests */
};

/* 60 s, 3 s, 5 s, 1 s; one connection. */
struct hearthi_link_options hearthi_link_defaults(void);

/* Counters of one end; bytes are those of messages, raw those of frames. */
struct hearthi_link_counts {
    uint64_t messages_out, messages_in, bytes_out, bytes_in;
    uint64_t raw_out, raw_in;
    uint64_t reconnects, again, twice; /* sent again, came twice */
    uint64_t strangers; /* connections that did not say who they are */
};

struct hearthi_link;

/* The link of cluster me.  conf, arg and the options' texts must stay.  The
 * names of gateways are looked up here, which may take a while.  NULL with
 * what is wrong. */
struct hearthi_link *
hearthi_link_open(const struct hearthi_conf *conf, int me,
                  const struct hearthi_link_options *options,
                  const struct hearthi_link_calls *calls, void *arg,
                  struct hearthi_link_error *wrong);

/* Queue a message for a cluster: a copy of the parts, or body itself, which is
 * released when that cluster has it.  It leaves in the next turn, with all
 * others.  False: no memory, or more than HEARTHI_CONNECTION_LONGEST bytes,
 * which the other side would take for nonsense; body is the caller's then. */
bool hearthi_link_send(struct hearthi_link *k, int cluster,
                       const struct iovec *part, int n);
bool hearthi_link_give(struct hearthi_link *k, int cluster, void *body,
                       size_t len, void (*release)(void *));

/* Bytes that were sent to a cluster and that it has not acknowledged. */
size_t hearthi_link_unsent(const struct hearthi_link *k, int cluster);

/* Send, receive, connect: all that can be done, and wait for more at most so
 * many milliseconds (0: not; -1: as long as nothing happens).  False: the link
 * is over. */
bool hearthi_link_turn(struct hearthi_link *k, int ms);

/* For a caller that waits for other things, too: a descriptor that is readable
 * when there is something to do, and the milliseconds until a turn is due. */
int hearthi_link_descriptor(const struct hearthi_link *k);
int hearthi_link_due(const struct hearthi_link *k);

/* All clusters call this when they have sent their last message: until each
 * has what was sent to it and has said the same, at most giveup seconds.
 * False: not all have, and failed() said so; or there is no memory. */
bool hearthi_link_finish(struct hearthi_link *k);

/* This job ends before its time: tell the other clusters why.  Then wait until
 * they have heard, or so many seconds: what was said is lost where this job
 * ends with something unread.  In between the job may say it itself, as it has
 * no time to lose where its launcher ends it, too. */
void hearthi_link_end(struct hearthi_link *k, const char *line);
void hearthi_link_linger(struct hearthi_link *k, double seconds);

struct hearthi_link_counts hearthi_link_counts(const struct hearthi_link *k);
void                       hearthi_link_close(struct hearthi_link *k);

/* In a child that fork(2) has made: its descriptors go, and nothing is said,
 * so that other clusters see this gateway's connections end with it.  No other
 * call is made there. */
void hearthi_link_forked(struct hearthi_link *k);

#endif
