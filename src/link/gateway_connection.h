/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One connection between two gateways: TCP, TLS in it, a hello of each side,
 * then frames.  It does not know which messages there are: it asks its owner
 * for the next and hands on what comes.
 */
#ifndef HEARTHI_GATEWAY_CONNECTION_H
#define HEARTHI_GATEWAY_CONNECTION_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "gateway_hello.h"
#include "link.h"
#include "reliable_queue.h"
#include "tls.h"

enum hearthi_connection_state {
    HEARTHI_CONNECTION_NONE,
    HEARTHI_CONNECTION_CONNECTING, /* TCP */
    HEARTHI_CONNECTION_SHAKING,    /* TLS */
    HEARTHI_CONNECTION_HELLO,      /* waits for the other's */
    HEARTHI_CONNECTION_UP,
};

/* What a connection died of. */
enum hearthi_connection_end {
    HEARTHI_CONNECTION_LIVES,
    HEARTHI_CONNECTION_GONE,    /* the network, or the other side */
    HEARTHI_CONNECTION_MISSED,  /* nothing listens there */
    HEARTHI_CONNECTION_FOREIGN, /* it speaks, but not with our key */
    HEARTHI_CONNECTION_BROKEN,  /* it has the key, and makes no sense */
};

enum hearthi_frame_kind {
    HEARTHI_FRAME_MESSAGE = 1, /* has a number */
    HEARTHI_FRAME_BYE,         /* has a number: the last one */
    HEARTHI_FRAME_BEAT,    /* says that this side lives, and what has come */
    HEARTHI_FRAME_END,     /* this side's job ends; the body says why */
    HEARTHI_FRAME_LEFT,    /* it has all, and needs nothing (link_close.c) */
    HEARTHI_FRAME_REFUSED, /* its job goes on without the other; why */
};

struct hearthi_connection;

/* The owner's side.  None may close the connection: false, after
 * hearthi_connection_fail(), has it end. */
struct hearthi_connection_calls {
    bool (*shaken)(struct hearthi_connection *l); /* TLS stands */
    bool (*hello)(struct hearthi_connection    *l,
                  struct hearthi_gateway_hello *theirs);
    struct hearthi_queued_message *(*next)(struct hearthi_connection *l);
    uint64_t (*ack)(struct hearthi_connection *l);
    /* Whole; the body is the connection's and lies at a multiple of 8. */
    bool (*frame)(struct hearthi_connection  *l,
                  const struct hearthi_frame *head, const void *body);
};

/* What goes out: the message, how much of it, and the bytes that TLS is to be
 * given, again if it could not take them. */
enum { HEARTHI_CONNECTION_STAGE = 16 << 10 }; /* a record of TLS */

struct hearthi_connection_out {
    struct hearthi_queued_message *queued;
    size_t                         written;
    const unsigned char           *chunk;
    size_t                         chunk_len;
    bool          beat;           /* say something, if there is nothing else */
    bool          left;           /* and say that this side has left */
    bool          last;           /* begin no other message */
    uint64_t      records, rekey; /* with one key; at most */
    unsigned char stage[HEARTHI_CONNECTION_STAGE];
};

/* What comes in: first into data; a long body, into memory of its own. */
enum { HEARTHI_CONNECTION_IN = 128 << 10 };

struct hearthi_connection_in {
    size_t               from, to; /* in data, not taken yet */
    struct hearthi_frame head;     /* of the long body */
    unsigned char       *body;
    size_t               body_at, body_len, body_room;
    _Alignas(max_align_t) unsigned char data[HEARTHI_CONNECTION_IN];
};

struct hearthi_connection {
    struct hearthi_connection    *next; /* in a list of the owner's */
    enum hearthi_connection_state state;
    enum hearthi_connection_end   end;
    bool                          greeted; /* hello was said */
    bool                          more;    /* has not read all */
    bool                          left_said;
    int                           fd, epoll, index, cluster;
    int                           at;   /* which of the gateway's addresses */
    unsigned                      host; /* of a guest, in the crowd */
    uint32_t                      events; /* asked of epoll */
    SSL                          *ssl;
    uint64_t                      since, heard, said; /* ns */
    uint64_t                      came;               /* bytes of TLS */
    char                          why[160];           /* it ended */
    char                          from[80]; /* address of the other side */
    uint64_t                      bytes_in, bytes_out;

    const struct hearthi_connection_calls *calls;
    void                                  *owner;
    struct hearthi_connection_out          out;
    struct hearthi_connection_in           in;
};

/* A connection to an address, or one that was accepted.  NULL: see errno. */
struct hearthi_connection *
hearthi_connection_connect(struct hearthi_tls *tls, int epoll,
                           const struct sockaddr *to, socklen_t len);
struct hearthi_connection *hearthi_connection_accept(struct hearthi_tls *tls,
                                                     int epoll, int fd);

/* Everything that can be done without waiting.  False: the connection is at
 * its end, see end and why. */
bool hearthi_connection_work(struct hearthi_connection *l);

/* Of that, to send what the owner has; and to read. */
bool hearthi_connection_push(struct hearthi_connection *l);
bool hearthi_connection_read(struct hearthi_connection *l);

/* What hearthi_connection_push() and hearthi_connection_farewell() consist
 * of. */
bool hearthi_connection_write(struct hearthi_connection *l);
void hearthi_connection_end_write(struct hearthi_connection *l,
                                  enum hearthi_frame_kind    kind,
                                  const char                *text);

bool hearthi_connection_say_hello(struct hearthi_connection          *l,
                                  const struct hearthi_gateway_hello *mine);

/* The last words, END or REFUSED.  They are sent for at most so many
 * milliseconds, and this half of the connection is closed; the owner waits for
 * the other half's end, since the words are lost if the socket is closed with
 * something unread. */
void hearthi_connection_farewell(struct hearthi_connection *l,
                                 enum hearthi_frame_kind    kind,
                                 const char *text, int ms);

/* Has the other side closed its half, too?  What it still sends is thrown
 * away, some with each call. */
bool hearthi_connection_over(struct hearthi_connection *l);

void hearthi_connection_free(struct hearthi_connection *l);

/* It ends, and why; returns false. */
bool hearthi_connection_fail(struct hearthi_connection  *l,
                             enum hearthi_connection_end end, const char *fmt,
                             ...) __attribute__((format(printf, 3, 4), cold));

/* A call of OpenSSL has returned what is not success: true if it is to be
 * called again later, else the connection ends. */
bool hearthi_connection_later(struct hearthi_connection *l, int result);

/* Bytes of a body on its way. */
static inline size_t
hearthi_connection_padded(size_t len)
{
    return (len + 7) & ~(size_t)7;
}

#endif
